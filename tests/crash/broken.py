"""The kinds of trial about hardware: operations that take other machines, a delete that isolates a host, a host that
fails in use, a controller that forgets, and machines that are validated.
"""

from __future__ import annotations

import json
from datetime import datetime
from types import MappingProxyType
from uuid import UUID

from ipucloud.clusters.steps.cleaning import SIGHTINGS as TROUBLES
from ipucloud.inventory.health.reports import clear
from ipucloud.operations.store import Accepted
from ipucloud.policies.leftovers import clean_leftovers
from ipucloud.worker.sweep import SIGHTINGS
from tests.crash.checks import REGION
from tests.crash.kinds import Beside, Delete, Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.waiting import until

_HELD = "SELECT min({kind}s.name) FROM {kind}s JOIN allocations ON {kind}_id = {kind}s.id WHERE cluster_id = :id"
_LIVE = "SELECT id FROM health_reports WHERE cleared_at IS NULL AND code = :code"
_WAITED = """
UPDATE operation_steps SET started_at = app_now() - interval '1 hour', notes = CAST(:notes AS jsonb)
 WHERE operation_id = :id AND ordinal = 1
"""


class Replace(Kind):
    """A machine fails before the create begins. The machines of earlier trials are repaired."""

    name = "replace"

    async def begin(self, lab: Lab) -> Accepted:
        await _all_works(lab)
        creation = await lab.create_fresh()
        machine = await lab.value(_HELD.format(kind="machine"), id=creation.target_id)
        lab.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        return creation


class ReplaceInResize(Kind):
    """A machine that has joined fails before the resize begins."""

    name = "replace-in-resize"

    async def begin(self, lab: Lab) -> Accepted:
        await _all_works(lab)
        async with lab.survivor():
            cluster = await lab.build(lab.fresh(), "m2000-pod4")
        resized = await lab.resize(cluster, "m2000-pod8")
        machine = await lab.value(f"{_HELD.format(kind='machine')} AND resize = 'joins'", id=cluster)
        lab.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        return resized


async def _all_works(lab: Lab) -> None:
    """Repair the machines of earlier trials."""
    for machine in await lab.column("SELECT name FROM machines"):
        lab.http.post(f"/v1/machines/{machine}:repair").raise_for_status()
    for report in await lab.column(_LIVE, code="build_failed"):
        async with lab.database.begin() as connection:
            await clear(connection, report_id=report)


class Isolate(Kind):
    """A host is dead, and was waited for long enough. The hosts of earlier trials are repaired and cleaned."""

    name, ends = "isolate", ("succeeded", "deleted")

    async def begin(self, lab: Lab) -> Accepted:
        for host in await lab.column("SELECT name FROM hosts"):
            lab.http.post(f"/v1/hosts/{host}:repair").raise_for_status()

        async def cleaned() -> bool:
            await clean_leftovers(lab.database, lab.sites, lab.settings)
            return not await lab.column(_LIVE, code="not_clean")

        await until(cleaned, "what earlier trials left is clean")
        cluster = await lab.an_active_cluster()
        host = await lab.value(_HELD.format(kind="host"), id=cluster)
        lab.http.post(f"/v1/hosts/{host}:fail").raise_for_status()
        deleted = await lab.delete(cluster)
        notes = {f"host {host}": {"since": 0.0, "troubled_since": 0.0, "sightings": TROUBLES - 1}}
        await lab.execute(_WAITED, id=deleted.operation_id, notes=json.dumps(notes))
        return deleted


_SHOWN = """
SELECT c.state = :state AND u.credited = :credited
  FROM clusters c JOIN usage_intervals u ON u.resource_id = c.id AND u.ended_at IS NULL WHERE c.id = :id
"""
_OBSERVATION_DUE = "UPDATE work SET run_at = app_now() WHERE kind = 'observation' AND lease_owner IS NULL"
_LONG_AGO = "UPDATE health_reports SET confirmed_at = confirmed_at - interval '1 day' WHERE cleared_at IS NOT NULL"
"""What fails in trial after trial would be kept back for an hour."""
OBSERVING = MappingProxyType({"observation_interval": 0.05, "repair_limit": 0})


class Observe(Beside):
    """A host fails that a cluster uses; once that is said, it is repaired."""

    name, settings = "observe", OBSERVING

    async def start(self, lab: Lab, cluster: UUID) -> None:
        await self._let(lab, cluster, "fail")
        await lab.execute(_LONG_AGO)
        await lab.execute(_OBSERVATION_DUE)

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        await self._shown(lab, cluster, "degraded", 2)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        cluster = expectation.cluster
        async with lab.survivor(**self.settings):
            await lab.execute(_OBSERVATION_DUE)
            await self.complete(lab, cluster)
            await self._let(lab, cluster, "repair")
            await self._shown(lab, cluster, "active", 0)

    async def _let(self, lab: Lab, cluster: UUID, action: str) -> None:
        host = await lab.value(_HELD.format(kind="host"), id=cluster)
        lab.http.post(f"/v1/hosts/{host}:{action}").raise_for_status()

    async def _shown(self, lab: Lab, cluster: UUID, state: str, credited: int) -> None:
        what = f"the cluster is {state}, with {credited} machines credited"
        await until(lambda: lab.value(_SHOWN, id=cluster, state=state, credited=credited), what)


_SWEEP_DUE = (
    "UPDATE work SET run_at = app_now() WHERE kind = 'periodic' AND key = 'sweep_leftovers' AND lease_owner IS NULL"
)
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


class Lose(Beside):
    """The V-IPU controller forgets the allocation of a cluster in use, its user and partitions. One sweep saw that."""

    name, settings = "lose", OBSERVING
    _since: datetime

    async def ask(self, lab: Lab) -> Expectation:
        await lab.remove([*lab.active])  # what was repaired within the hour is left to a person
        return await super().ask(lab)

    async def start(self, lab: Lab, cluster: UUID) -> None:
        self._since = await lab.value("SELECT app_now()")
        lab.http.post(f"/v1/controllers/{REGION}:forget").raise_for_status()
        await lab.sweep(SIGHTINGS - 1)

    async def complete(self, lab: Lab, cluster: UUID) -> None:
        """Sweep until then: one that had begun before the allocation was lost is followed by none for a minute."""

        async def repaired() -> bool:
            await lab.execute(_SWEEP_DUE)
            return bool(await lab.value(_REPAIRED, id=cluster, since=self._since))

        await until(repaired, "a worker has made the allocation again")

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor(**self.settings):
            await self.complete(lab, expectation.cluster)

            async def restored() -> bool:
                await lab.execute(_OBSERVED)
                return bool(await lab.value(_RESTORED, id=expectation.cluster))

            await until(restored, "the cluster works as before")


_ENDED = "SELECT count(*) = 0 FROM hardware_validations WHERE ended_at IS NULL"
_UNTESTED = """
SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id
 WHERE a.cluster_id = :id
   AND NOT (m.allocatable AND EXISTS (SELECT FROM hardware_validations v
             WHERE v.machine_id = m.id AND v.result = 'passed' AND v.ended_at >= a.freed_at))
 ORDER BY m.name
"""


class Validate(Delete):
    """Once the cluster is deleted, its machines are validated, and free."""

    name = "validate"
    settings = MappingProxyType({"validation": frozenset({"release"})})

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await super().drive(lab, expectation, victim)
        await until(lambda: lab.value(_ENDED), "every validation ends")

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor(**self.settings):
            await lab.finished(expectation.operation)
            await until(lambda: lab.value(_ENDED), "every validation ends")
        assert await lab.column(_UNTESTED, id=expectation.cluster) == []


BROKEN: tuple[Kind, ...] = (Replace(), ReplaceInResize(), Isolate(), Observe(), Lose(), Validate())
