"""Bugs in what is said of hardware that fails, and in what is credited for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering import credits as crediting
from ipucloud.clusters import faults
from ipucloud.clusters.operations import kind
from ipucloud.inventory.health import judge, record
from ipucloud.observation import findings, observe
from tests.sim import swarm
from tests.sim.mutants.planting import Mutant, answers

_observing = partial(Mutant, weather={"OBSERVED": 1.0})
_nothing = answers(False)

failed_machine_is_good = (
    _observing("observation reads a failed machine as good")
    .replace(findings, "_machine", lambda *_: ())
    .replace(findings, "_agents", lambda *_: None)
)

failed_host_is_good = _observing("observation reads a failed host as good").replace(findings, "_host", lambda *_: None)

never_degraded = (
    _observing("a cluster with failed hardware stays active, and is billed in full")
    .replace(observe, "apply_reports", _nothing)
    .replace(kind, "apply_reports", _nothing)
)


@_observing("a report is suspected for ever").wraps(judge, "_judge_live")
def never_confirmed(honest: Any, *args: Any, **others: Any) -> Iterator[judge.Change]:
    return (each for each in honest(*args, **others) if each.action is not judge.Action.CONFIRMED)


@_observing("a fault is confirmed minutes after the second reading that showed it").wraps(judge, "_judge_live")
def confirmed_late(
    honest: Any, report: judge.LiveReport, fact: judge.Fact | None, now: datetime, **others: Any
) -> Iterator[judge.Change]:
    late = now - report.first_seen_at >= timedelta(minutes=2)
    changes = honest(report, fact, now, **others)
    return (each for each in changes if late or each.action is not judge.Action.CONFIRMED)


link_is_good = _observing("observation reads a link that is down as good").replace(findings, "_links", lambda *_: None)

lost_allocation_is_good = Mutant(
    "observation does not notice that a controller has lost an allocation",
    weather={"OBSERVED": 1.0, "TASKS": swarm.TASKS | {"sweep_leftovers": 1.0}, "FORGETS": (0.01,)},
).replace(findings, "_allocations", lambda *_: None)

never_cleared = _observing("a report never ends, although its hardware works").replace(judge, "GOOD_READINGS", 10**9)

reported_and_offered = _observing("reports are written, and the hardware stays on offer").replace(
    record, "merge", _nothing
)


@_observing("a failed server is not credited, only failed machines are").wraps(faults, "faults_of_cluster")
async def servers_not_credited(honest: Any, connection: AsyncConnection, **of: Any) -> list[Any]:
    return [fault for fault in await honest(connection, **of) if fault.host_id is None]


_noticed: dict[UUID, datetime] = {}


@_observing("credit begins when a fault is confirmed, not when it was first seen").wraps(faults, "credit")
async def credited_late(
    honest: Any, connection: AsyncConnection, *, faults: Sequence[Any], now: datetime, **others: Any
) -> None:
    begun = [fault._replace(since=_noticed.setdefault(fault.id, now)) for fault in faults]
    await honest(connection, faults=begun, now=now, **others)


@Mutant(
    "faults that are over are credited as if they had not been", "tests/feature/billing/test_credits.py -k overlap"
).wraps(crediting, "steps")
def ended_faults_forgotten(honest: Any, credited: Sequence[Any], *args: Any, **others: Any) -> Any:
    return honest([each for each in credited if each.ended_at is None], *args, **others)
