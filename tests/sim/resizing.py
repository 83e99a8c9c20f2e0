"""Customers who resize their cluster, and may change their mind; and that each interval is billed for its size."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from typing import Any

import psycopg

from ipucloud.kernel.errors import VALIDATION_FAILED
from tests.sim.suspending import NO_ROOM, Request, Suspender

SIZES: Mapping[str, int] = {"m2000-pod4": 1, "m2000-pod8": 2, "m2000-pod16": 4}
REGRETS = 0.6
"""How probable it is that a customer cancels a resize."""
REGRETTED_AFTER = (30.0, 300.0)
"""Seconds after which he does, on average."""
_SECOND = timedelta(seconds=1)
_BILLED = """
SELECT c.external_name, u.quantity, u.started_at,
       (SELECT data ->> 'flavor' FROM events e WHERE e.subject_id = c.id AND e.type = 'cluster.created'),
       (SELECT array_agg(data ->> 'to_flavor' ORDER BY e.created_at, e.id) FROM events e
         WHERE e.subject_id = c.id AND e.type = 'cluster.resized' AND e.created_at <= u.started_at + %s)
  FROM usage_intervals u JOIN clusters c ON c.id = u.resource_id
 ORDER BY c.id, u.started_at
"""


class Resizer(Suspender):
    """One customer with a cluster in use."""

    async def resize(self) -> bool:
        """Resize it once or twice, and wait for that or cancel it. Whether it may be in use again."""
        for _ in range(self.draw.choice((1, 1, 2))):
            flavor = self.draw.choice(sorted(SIZES))
            operation = await self.ask(self._request(flavor), "resizes", VALIDATION_FAILED, *NO_ROOM)
            if operation is None:
                return True
            if self.draw.random() < REGRETS:
                await self.actor.sleep(
                    self.draw.expovariate(1 / self.draw.choice(REGRETTED_AFTER)), "has second thoughts"
                )
                await self.cancel(operation)
            if not await self.becomes({"active", "degraded", "suspended"}):
                return False
        return True

    def _request(self, flavor: str) -> Request:
        may_wait = self.may_wait()
        return lambda who: who.resize(self.cluster, flavor, may_wait=may_wait)


def wrong_sizes(control: psycopg.Connection[Any], tolerance: timedelta) -> Iterator[str]:
    """X12: what is billed in an interval is the size that the cluster had then. Instants count by their second."""
    for name, quantity, started_at, created, resized in control.execute(_BILLED, (tolerance + _SECOND,)).fetchall():
        flavor = (resized or [created])[-1]
        if SIZES[flavor] != quantity:
            yield f"X12: {name} is billed for {quantity} machines from {started_at} on, and was a {flavor}"
