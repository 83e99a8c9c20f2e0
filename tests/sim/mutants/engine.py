"""Bugs in the engine: leases, fences, wakes, the reaper."""

from __future__ import annotations

import dataclasses
from typing import Any

from ipucloud.reconcile import statements, wake
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.outcomes import Outcome
from ipucloud.reconcile.reconciler import WorkItem
from tests.sim.mutants.planting import Mutant

_TESTS = "tests/worker/test_engine.py::test_"
_LOST_LEASE = f"{_TESTS}a_result_made_under_a_lost_lease_is_dropped"
_LOCKED_WORK_ITEM = f"{_TESTS}a_locked_work_item_keeps_no_other_lease_from_being_renewed"
_FENCED = (" AND fence = :fence AND lease_owner = :owner", "")


no_fence = (
    Mutant("a result is written without asking whose lease it is", _LOST_LEASE)
    .rewrite(statements, "FINISH", _FENCED)
    .rewrite(statements, "EXTEND", _FENCED)
)

no_budget = Mutant(
    "a call is made however little is left of the lease", f"{_TESTS}no_call_may_start_when_the_lease_has_no_time_left"
).replace(WorkItem, "remaining", lambda *_: 10.0)

wake_during_pass_lost = Mutant(
    "the end of a pass forgets who was woken meanwhile", f"{_TESTS}a_wake_during_a_pass_leads_to_another_pass"
).rewrite(
    statements,
    "FINISH",
    ("CASE WHEN wake_seq <> claimed_seq THEN app_now()\n                         ELSE", "("),
    ("AS double precision)) END", "AS double precision)))"),
)

wake_keeps_time = Mutant(
    "a wake changes nothing for what waits already", f"{_TESTS}a_wait_is_cut_short_by_a_wake"
).rewrite(wake, "_WAKE", ("run_at = least(work.run_at, app_now())", "run_at = work.run_at"))

never_reaps = Mutant("nobody frees the leases of dead workers").rewrite(
    statements, "REAP", ("WHERE lease_owner IS NOT NULL\n", "WHERE false AND lease_owner IS NOT NULL\n")
)

reaps_the_living = Mutant(
    "the reaper takes leases that are in force", f"{_TESTS}a_woken_object_is_reconciled_once_and_then_idle"
).rewrite(statements, "REAP", ("lease_until < app_now() OR", "true OR"))

reaps_only_the_dead = Mutant(
    "a lease that ended is not freed while its worker holds its session",
    f"{_TESTS}a_frozen_worker_is_replaced_when_its_lease_ends",
).rewrite(statements, "REAP", ("lease_until < app_now() OR", "false OR"))

attempts_not_counted = Mutant(
    "a pass that kills its process is repeated for ever",
    f"{_TESTS}an_object_that_kills_its_workers_is_parked_without_another_pass",
).rewrite(statements, "CLAIM", ("attempt = w.attempt + 1", "attempt = w.attempt"))

claims_what_is_leased = Mutant("a claim takes what another worker holds").rewrite(
    statements, "CLAIM", (" AND lease_owner IS NULL", ""), (" AND w.lease_owner IS NULL", "")
)


@Mutant("a worker extends its deadlines without asking the database", _LOCKED_WORK_ITEM).wraps(Engine, "_heartbeat")
async def believes_its_lease(_honest: object, self: Engine) -> None:
    while True:
        await self._clock.sleep(self._settings.lease / 3)
        for item in self._running.values():
            item.deadline = self._clock.monotonic() + self._settings.lease


@Mutant("leases are not renewed while a pass goes on", _LOCKED_WORK_ITEM).wraps(Engine, "_heartbeat")
async def no_heartbeat(_honest: object, self: Engine) -> None:
    while True:
        await self._clock.sleep(self._settings.lease / 3)


renews_without_a_pass = Mutant(
    "every lease of a living worker is renewed, whether its pass runs or not",
    f"{_TESTS}a_lease_that_was_not_given_back_ends_although_its_worker_goes_on",
).rewrite(statements, "HEARTBEAT", (" USING (kind, key, fence)", " ON CAST(running.key AS text) <> ''"))


@Mutant("a pass's result and its end are two transactions", _LOST_LEASE).wraps(Engine, "_run_pass")
async def finish_apart(_honest: object, self: Engine, reconciler: Any, item: WorkItem) -> Outcome:
    async with self._database.read() as connection:
        loaded = await reconciler.load(connection, item)
        if isinstance(loaded, Outcome):
            await self._finish(connection, item, loaded)
            return loaded
    result = await reconciler.act(item, loaded)
    async with self._database.begin() as connection:
        outcome: Outcome = await reconciler.apply(connection, item, loaded, result)
    async with self._database.read() as other:
        await self._finish(other, item, outcome)
    return outcome


@Mutant(
    "what fails again and again is never given to a person",
    f"{_TESTS}a_reconciler_that_raises_is_retried_then_parked_with_the_error_until_woken",
).wraps(Engine, "__init__")
def never_parks(honest: Any, self: Engine, *args: Any, settings: EngineSettings, **named: Any) -> None:
    honest(self, *args, settings=dataclasses.replace(settings, attempts=10**9), **named)
