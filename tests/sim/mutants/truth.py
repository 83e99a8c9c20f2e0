"""Bugs in what is said of hardware that fails, and in what is credited for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from datetime import datetime, timedelta
from typing import Any
from unittest import mock
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering import credits as crediting
from ipucloud.billing.metering.credits import credit
from ipucloud.clusters import faults
from ipucloud.clusters.not_working import faults_of_cluster
from ipucloud.clusters.operations import kind
from ipucloud.inventory.health import judge, record
from ipucloud.observation import findings, observe
from tests.sim import swarm
from tests.sim.mutants.planting import mutant, replace


def _observed(stack: ExitStack) -> None:
    """In every history, so that few are needed."""
    replace(stack, swarm, "OBSERVED", 1.0)


async def _nothing(*_: object, **__: object) -> bool:
    return False


@mutant("observation reads a failed machine as good")
def failed_machine_is_good(stack: ExitStack) -> None:
    _observed(stack)
    replace(stack, findings, "_machine", lambda *_: ())
    replace(stack, findings, "_agents", lambda *_: None)


@mutant("observation reads a failed host as good")
def failed_host_is_good(stack: ExitStack) -> None:
    _observed(stack)
    replace(stack, findings, "_host", lambda *_: None)


@mutant("a cluster with failed hardware stays active, and is billed in full")
def never_degraded(stack: ExitStack) -> None:
    _observed(stack)
    replace(stack, observe, "settle_cluster", _nothing)
    replace(stack, kind, "settle_cluster", _nothing)


@mutant("a report is suspected for ever")
def never_confirmed(stack: ExitStack) -> None:
    _observed(stack)
    honest = judge._judge_live

    def suspicious(*args: Any, **others: Any) -> Iterator[judge.Change]:
        return (each for each in honest(*args, **others) if each.action is not judge.Action.CONFIRMED)

    replace(stack, judge, "_judge_live", suspicious)


@mutant("a fault is confirmed minutes after the second reading that showed it")
def confirmed_late(stack: ExitStack) -> None:
    _observed(stack)
    honest = judge._judge_live

    def slow(report: judge.LiveReport, fact: judge.Fact | None, now: datetime, **others: Any) -> Iterator[judge.Change]:
        late = now - report.first_seen_at >= timedelta(minutes=2)
        changes = honest(report, fact, now, **others)
        return (each for each in changes if late or each.action is not judge.Action.CONFIRMED)

    replace(stack, judge, "_judge_live", slow)


@mutant("observation reads a link that is down as good")
def link_is_good(stack: ExitStack) -> None:
    _observed(stack)
    replace(stack, findings, "_links", lambda *_: None)


@mutant("observation does not notice that a controller has lost an allocation")
def lost_allocation_is_good(stack: ExitStack) -> None:
    _observed(stack)
    stack.enter_context(mock.patch.dict(swarm.TASKS, sweep_leftovers=1.0))
    replace(stack, swarm, "FORGETS", (0.01,))
    replace(stack, findings, "_allocations", lambda *_: None)


@mutant("a report never ends, although its hardware works")
def never_cleared(stack: ExitStack) -> None:
    _observed(stack)
    replace(stack, judge, "GOOD_READINGS", 10**9)


@mutant("reports are written, and the hardware stays on offer")
def reported_and_offered(stack: ExitStack) -> None:
    _observed(stack)
    replace(stack, record, "merge", _nothing)


@mutant("a failed server is not credited, only failed machines are")
def servers_not_credited(stack: ExitStack) -> None:
    _observed(stack)

    async def machines_only(connection: AsyncConnection, **of: Any) -> list[Any]:
        return [fault for fault in await faults_of_cluster(connection, **of) if fault.host_id is None]

    replace(stack, faults, "faults_of_cluster", machines_only)


@mutant("credit begins when a fault is confirmed, not when it was first seen")
def credited_late(stack: ExitStack) -> None:
    _observed(stack)
    noticed: dict[UUID, datetime] = {}

    async def late(connection: AsyncConnection, *, faults: Sequence[Any], now: datetime, **others: Any) -> None:
        begun = [fault._replace(since=noticed.setdefault(fault.id, now)) for fault in faults]
        await credit(connection, faults=begun, now=now, **others)

    replace(stack, faults, "credit", late)


@mutant(
    "faults that are over are credited as if they had not been",
    directed="tests/feature/billing/test_credits.py -k overlap",
)
def ended_faults_forgotten(stack: ExitStack) -> None:
    honest = crediting.steps

    def forgetful(credited: Sequence[Any], *args: Any, **others: Any) -> list[crediting.Step]:
        return honest([fault for fault in credited if fault.ended_at is None], *args, **others)

    replace(stack, crediting, "steps", forgetful)
