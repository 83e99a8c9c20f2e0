"""Customers who restart the servers of their cluster, and may change their mind."""

from __future__ import annotations

from tests.sim.suspending import Request, Suspender

_TIMES = (1, 2, 3)


class Restarter(Suspender):
    """One customer with a cluster in use."""

    async def restart(self) -> None:
        """Reboot or power-cycle the cluster's servers once or twice, and wait for that or cancel it."""
        for _ in range(self.draw.choice(_TIMES)):
            hard = self.draw.random() < 0.5
            operation = await self.ask(self._request(hard=hard), "restarts")
            if operation is None:
                return
            if self.draw.random() < 0.5:
                await self.actor.sleep(self.draw.expovariate(1 / 10.0), "has second thoughts")
                await self.cancel(operation)
            await self.actor.sleep(self.draw.expovariate(1 / 60.0), "works")

    def _request(self, *, hard: bool) -> Request:
        return lambda who: who.restart(self.cluster, hard=hard)
