"""The kinds of trial in which hardware is dead: operations that take other machines, a delete that isolates a host."""

from __future__ import annotations

import json

from ipucloud.clusters.steps.cleaning import SIGHTINGS
from ipucloud.inventory.health.reports import clear
from ipucloud.policies.leftovers import clean_leftovers
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
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

    async def ask(self, lab: Lab) -> Expectation:
        await _all_works(lab)
        creation = await lab.create_fresh()
        machine = await lab.value(_HELD.format(kind="machine"), id=creation.target_id)
        lab.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        return Expectation(creation.target_id, creation, "succeeded", "active")


class ReplaceInResize(Kind):
    """A machine that has joined fails before the resize begins."""

    name = "replace-in-resize"

    async def ask(self, lab: Lab) -> Expectation:
        await _all_works(lab)
        async with lab.survivor():
            cluster = await lab.build(lab.fresh(), "m2000-pod4")
        resized = await lab.resize(cluster, "m2000-pod8")
        machine = await lab.value(f"{_HELD.format(kind='machine')} AND resize = 'joins'", id=cluster)
        lab.http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        return Expectation(cluster, resized, "succeeded", "active")


async def _all_works(lab: Lab) -> None:
    """Repair the machines of earlier trials."""
    for machine in await lab.column("SELECT name FROM machines"):
        lab.http.post(f"/v1/machines/{machine}:repair").raise_for_status()
    for report in await lab.column(_LIVE, code="build_failed"):
        async with lab.database.begin() as connection:
            await clear(connection, report_id=report)


class Isolate(Kind):
    """A host is dead, and was waited for long enough. The hosts of earlier trials are repaired and cleaned."""

    name = "isolate"

    async def ask(self, lab: Lab) -> Expectation:
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
        notes = {f"host {host}": {"since": 0.0, "troubled_since": 0.0, "sightings": SIGHTINGS - 1}}
        await lab.execute(_WAITED, id=deleted.operation_id, notes=json.dumps(notes))
        return Expectation(cluster, deleted, "succeeded", "deleted")


BROKEN_KINDS: tuple[Kind, ...] = (Replace(), ReplaceInResize(), Isolate())
