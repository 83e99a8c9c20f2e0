"""The kind of trial in which a worker dies while it observes that a host failed: another one finishes it."""

from __future__ import annotations

from types import MappingProxyType
from uuid import UUID

from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import until

_HOST = "SELECT min(h.name) FROM hosts h JOIN allocations a ON a.host_id = h.id WHERE a.cluster_id = :id"
_BUILT = """
SELECT id FROM operations WHERE cluster_id = :id AND state = 'succeeded' ORDER BY created_at DESC LIMIT 1
"""
_SHOWN = """
SELECT c.state, u.credited FROM clusters c JOIN usage_intervals u ON u.resource_id = c.id AND u.ended_at IS NULL
 WHERE c.id = :id
"""
_DUE = "UPDATE work SET run_at = app_now() WHERE kind = 'observation' AND lease_owner IS NULL"
_LONG_AGO = "UPDATE health_reports SET confirmed_at = confirmed_at - interval '1 day' WHERE cleared_at IS NOT NULL"
"""What fails in trial after trial would be kept back for an hour."""


class Observe(Kind):
    """A host fails that a cluster uses; once that is said, it is repaired."""

    name = "observe"
    settings = MappingProxyType({"observation_interval": 0.05, "repair_limit": 0})

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        self._fail(lab, await lab.value(_HOST, id=cluster), "fail")
        await lab.execute(_LONG_AGO)
        await lab.execute(_DUE)
        return Expectation(cluster, await lab.value(_BUILT, id=cluster), "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._shown(lab, expectation.cluster, "degraded", 2)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        cluster = expectation.cluster
        async with lab.survivor(**self.settings):
            await lab.execute(_DUE)
            await self._shown(lab, cluster, "degraded", 2)
            self._fail(lab, await lab.value(_HOST, id=cluster), "repair")
            await self._shown(lab, cluster, "active", 0)

    def _fail(self, lab: Lab, host: str, action: str) -> None:
        lab.http.post(f"/v1/hosts/{host}:{action}").raise_for_status()

    async def _shown(self, lab: Lab, cluster: UUID, state: str, credited: int) -> None:
        async def is_so() -> bool:
            return tuple(await lab.one(_SHOWN, id=cluster)) == (state, credited)

        await until(is_so, f"the cluster is {state}, with {credited} machines credited")
