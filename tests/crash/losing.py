"""The kind of trial in which the V-IPU controller forgets everything, and a worker dies while it has that repaired."""

from __future__ import annotations

from datetime import datetime
from types import MappingProxyType

from ipucloud.worker.sweep import SIGHTINGS
from tests.crash.checks import REGION
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import until

_BUILT = "SELECT id FROM operations WHERE cluster_id = :id ORDER BY created_at DESC LIMIT 1"
_DUE = "UPDATE work SET run_at = app_now() WHERE kind = 'periodic' AND key = 'sweep_leftovers' AND lease_owner IS NULL"
_OBSERVED = "UPDATE work SET run_at = app_now() WHERE kind IN ('observation', 'partitions') AND lease_owner IS NULL"
_REPAIRED = """
SELECT count(*) = 1 FROM operations
 WHERE cluster_id = :id AND kind = 'cluster.repair' AND state = 'succeeded' AND created_at >= :since
"""
_RESTORED = """
SELECT c.state = 'active' AND NOT EXISTS (
         SELECT FROM partitions p WHERE p.cluster_id = c.id AND p.removed_at IS NULL AND p.state <> 'active')
  FROM clusters c WHERE c.id = :id
"""


class Lose(Kind):
    """The allocation of a cluster in use is lost, with its user and partitions. One sweep has seen that before."""

    name = "lose"
    settings = MappingProxyType({"observation_interval": 0.05, "repair_limit": 0})
    _since: datetime

    async def ask(self, lab: Lab) -> Expectation:
        await lab.remove([*lab.active])  # what was repaired within the hour is left to a person
        cluster = await lab.an_active_cluster()
        self._since = await lab.value("SELECT app_now()")
        lab.http.post(f"/v1/controllers/{REGION}:forget").raise_for_status()
        await lab.sweep(SIGHTINGS - 1)
        return Expectation(cluster, await lab.value(_BUILT, id=cluster), "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._repaired(lab, expectation)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor(**self.settings):
            await self._repaired(lab, expectation)

            async def restored() -> bool:
                await lab.execute(_OBSERVED)
                return bool(await lab.value(_RESTORED, id=expectation.cluster))

            await until(restored, "the cluster works as before")

    async def _repaired(self, lab: Lab, expectation: Expectation) -> None:
        """Sweep until then: one that had begun before the allocation was lost is followed by none for a minute."""

        async def repaired() -> bool:
            await lab.execute(_DUE)
            return bool(await lab.value(_REPAIRED, id=expectation.cluster, since=self._since))

        await until(repaired, "a worker has made the allocation again")
