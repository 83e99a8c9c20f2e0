"""Customers who have the servers of their cluster rebuilt, or change its keys, and may change their mind."""

from __future__ import annotations

from typing import Any

from ipucloud.kernel.errors import Problem
from tests.sim.suspending import Request, Suspender
from tests.support.catalogues import OTHER_IMAGE
from tests.support.world import IMAGE

_TIMES = (1, 2, 3)
_KEYS = (["laptop"], ["laptop", "ci"], ["ci"])


class Rebuilder(Suspender):
    """One customer with a cluster in use."""

    async def rebuild(self) -> None:
        """Change the keys or write the servers again, once or a few times, and wait for that or cancel it."""
        for _ in range(self.draw.choice(_TIMES)):
            if self.draw.random() < 0.4:
                await self._change_keys()
                continue
            request = self._request(
                disk=self.draw.choice(("keep", "wipe")),
                image=self.draw.choice((IMAGE, OTHER_IMAGE)),
                ssh_keys=self.draw.choice(_KEYS),
            )
            operation = await self.ask(request, "rebuilds")
            if operation is None:
                return
            if self.draw.random() < 0.5:
                await self.actor.sleep(self.draw.expovariate(1 / 10.0), "has second thoughts")
                await self.cancel(operation)
            await self.actor.sleep(self.draw.expovariate(1 / 60.0), "works")

    async def _change_keys(self) -> None:
        try:
            await self.project.customer("changes keys").update(self.cluster, ssh_keys=self.draw.choice(_KEYS))
        except Problem as problem:
            self.expect(problem, ())
        else:
            self.poke()
        await self.actor.sleep(self.draw.expovariate(1 / 30.0), "works")

    def _request(self, **changes: Any) -> Request:
        return lambda who: who.rebuild(self.cluster, **changes)
