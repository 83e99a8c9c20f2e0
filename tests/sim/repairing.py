"""Customers whose hardware fails or is to be maintained: what they ask for, and how they wait for it."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.kernel.errors import Problem
from tests.sim.suspending import NO_ROOM, Suspender

_HARDWARE = sa.text(
    """
    SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id
     WHERE a.cluster_id = :cluster_id AND a.released_at IS NULL
     UNION ALL SELECT name FROM poplar_servers WHERE cluster_id = :cluster_id
     ORDER BY 1
    """
)


class Repairer(Suspender):
    """One customer with a cluster in use."""

    async def repair(self) -> bool:
        """Have other hardware taken for what has failed, or for some of it. Whether it may be in use again."""
        names = await self._some_of_it() if self.draw.random() < 0.6 else []
        accepted = await self.ask(lambda who: who.replace_hardware(self.cluster, *names), "repairs", *NO_ROOM)
        if accepted is None:
            return True
        if self.draw.random() < 0.2:
            await self.ask(lambda who: who.replace_hardware(self.cluster), "repairs once more", *NO_ROOM)
        return await self.becomes({"active", "degraded", "suspended"})

    async def _some_of_it(self) -> list[str]:
        try:
            async with self.project.database.read() as connection:
                held = (await connection.execute(_HARDWARE, {"cluster_id": self.cluster})).scalars().all()
        except Problem as problem:
            self.expect(problem, ())
            return []
        return self.draw.sample(held, min(len(held), self.draw.choice((1, 1, 2))))
