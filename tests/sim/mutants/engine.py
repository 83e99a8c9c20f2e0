"""Bugs in the engine: leases, fences, wakes, the reaper."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from typing import Any

from ipucloud.db.statements import Statements
from ipucloud.reconcile import statements, wake
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.outcomes import Outcome
from ipucloud.reconcile.reconciler import WorkItem
from tests.sim.mutants.planting import mutant, replace, rewrite

_ENGINE = "tests/worker/test_engine.py"
_FENCED = " AND fence = :fence AND lease_owner = :owner"


@mutant(
    "a result is written without asking whose lease it is",
    directed=f"{_ENGINE}::test_a_result_made_under_a_lost_lease_is_dropped",
)
def no_fence(stack: ExitStack) -> None:
    rewrite(stack, statements, "FINISH", (_FENCED, ""))
    rewrite(stack, statements, "EXTEND", (_FENCED, ""))


@mutant(
    "a call is made however little is left of the lease",
    directed=f"{_ENGINE}::test_no_call_may_start_when_the_lease_has_no_time_left",
)
def no_budget(stack: ExitStack) -> None:
    replace(stack, WorkItem, "remaining", lambda *_: 10.0)


@mutant(
    "the end of a pass forgets who was woken meanwhile",
    directed=f"{_ENGINE}::test_a_wake_during_a_pass_leads_to_another_pass",
)
def wake_during_pass_lost(stack: ExitStack) -> None:
    rewrite(
        stack,
        statements,
        "FINISH",
        ("CASE WHEN wake_seq <> claimed_seq THEN app_now()\n                         ELSE", "("),
        ("AS double precision)) END", "AS double precision)))"),
    )


@mutant(
    "a wake changes nothing for what waits already",
    directed=f"{_ENGINE}::test_a_wait_is_cut_short_by_a_wake",
)
def wake_keeps_time(stack: ExitStack) -> None:
    rewrite(stack, wake, "_WAKE", ("run_at = least(work.run_at, app_now())", "run_at = work.run_at"))


@mutant("nobody frees the leases of dead workers")
def never_reaps(stack: ExitStack) -> None:
    rewrite(stack, statements, "REAP", ("WHERE lease_owner IS NOT NULL\n", "WHERE false AND lease_owner IS NOT NULL\n"))


@mutant(
    "the reaper takes leases that are in force",
    directed=f"{_ENGINE}::test_a_woken_object_is_reconciled_once_and_then_idle",
)
def reaps_the_living(stack: ExitStack) -> None:
    rewrite(stack, statements, "REAP", ("lease_until < app_now() OR", "true OR"))


@mutant(
    "a lease that ended is not freed while its worker holds its session",
    directed=f"{_ENGINE}::test_a_frozen_worker_is_replaced_when_its_lease_ends",
)
def reaps_only_the_dead(stack: ExitStack) -> None:
    rewrite(stack, statements, "REAP", ("lease_until < app_now() OR", "false OR"))


@mutant(
    "a pass that kills its process is repeated for ever",
    directed=f"{_ENGINE}::test_an_object_that_kills_its_workers_is_parked_without_another_pass",
)
def attempts_not_counted(stack: ExitStack) -> None:
    rewrite(stack, statements, "CLAIM", ("attempt = w.attempt + 1", "attempt = w.attempt"))


@mutant("a claim takes what another worker holds")
def claims_what_is_leased(stack: ExitStack) -> None:
    rewrite(stack, statements, "CLAIM", (" AND lease_owner IS NULL", ""), (" AND w.lease_owner IS NULL", ""))


@mutant(
    "a worker extends its deadlines without asking the database",
    directed=f"{_ENGINE}::test_a_locked_work_item_keeps_no_other_lease_from_being_renewed",
)
def believes_its_lease(stack: ExitStack) -> None:
    async def heartbeat(self: Engine) -> None:
        while True:
            await self._clock.sleep(self._settings.lease / 3)
            for item in self._running.values():
                item.deadline = self._clock.monotonic() + self._settings.lease

    replace(stack, Engine, "_heartbeat", heartbeat)


@mutant(
    "leases are not renewed while a pass goes on",
    directed=f"{_ENGINE}::test_a_locked_work_item_keeps_no_other_lease_from_being_renewed",
)
def no_heartbeat(stack: ExitStack) -> None:
    async def heartbeat(self: Engine) -> None:
        while True:
            await self._clock.sleep(self._settings.lease / 3)

    replace(stack, Engine, "_heartbeat", heartbeat)


@mutant(
    "every lease of a living worker is renewed, whether its pass runs or not",
    directed=f"{_ENGINE}::test_a_lease_that_was_not_given_back_ends_although_its_worker_goes_on",
)
def renews_without_a_pass(stack: ExitStack) -> None:
    rewrite(stack, statements, "HEARTBEAT", (" USING (kind, key, fence)", " ON CAST(running.key AS text) <> ''"))


@mutant(
    "a pass's result and its end are two transactions",
    directed=f"{_ENGINE}::test_a_result_made_under_a_lost_lease_is_dropped",
)
def finish_apart(stack: ExitStack) -> None:
    """The result in one transaction, the end of the pass in another."""
    finish = Engine._finish

    async def apart(self: Engine, connection: Statements, item: WorkItem, outcome: Outcome) -> None:
        async with self._database.read() as other:
            await finish(self, other, item, outcome)

    async def once(self: Engine, reconciler: Any, item: WorkItem) -> Outcome:
        async with self._database.read() as connection:
            loaded = await reconciler.load(connection, item)
            if isinstance(loaded, Outcome):
                await finish(self, connection, item, loaded)
                return loaded
        result = await reconciler.act(item, loaded)
        async with self._database.begin() as connection:
            outcome: Outcome = await reconciler.apply(connection, item, loaded, result)
        await apart(self, connection, item, outcome)
        return outcome

    replace(stack, Engine, "_run_pass", once)


@mutant(
    "what fails again and again is never given to a person",
    directed=f"{_ENGINE}::test_a_reconciler_that_raises_is_retried_then_parked_with_the_error_until_woken",
)
def never_parks(stack: ExitStack) -> None:
    honest = Engine.__init__

    def patient(self: Engine, *args: Any, settings: EngineSettings, **kwargs: Any) -> None:
        honest(self, *args, settings=dataclasses.replace(settings, attempts=10**9), **kwargs)

    replace(stack, Engine, "__init__", patient)
