"""Machines that do not work as sold are not billed: from the first sight of a fault to the first sight of its end.

The number of them is a step function of the times of all faults. Each step ends the usage interval of the cluster or
reservation and begins the next one, as a change of its size would. So a minute is credited by the interval that it
starts in, and whatever counts minutes or money needs no other rule.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple, Protocol, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id


def cited(interval: str, until: str) -> str:
    """SQL of the JSON array of `contract.charges.CitedReportOut` of the interval with the id `interval`.

    A report is cited when it is confirmed. If a fault that began earlier is confirmed later and ends the interval
    before the report began, the report is no reason of it: only those that began before `until` are. Both arguments are
    columns with the name of their table, which would else be taken for columns of the tables that are read here.
    """
    return f"""coalesce((
      SELECT json_agg(json_build_object(
               'report_id', f.id, 'kind', f.kind, 'machine', f.machine, 'code', f.code, 'message', f.message,
               'first_seen_at', {rfc3339("f.first_seen_at")}, 'ended_at', {rfc3339("f.ended_at")}
             ) ORDER BY f.first_seen_at, f.id)
        FROM usage_credits e JOIN cited_faults f ON f.id = e.report_id
       WHERE e.interval_id = {interval} AND coalesce(f.first_seen_at < {until}, true)), '[]')"""  # noqa: S608  # our own text


class Fault(Protocol):
    """A confirmed health report; `ended_at` None: it is live."""

    @property
    def id(self) -> UUID: ...
    @property
    def since(self) -> datetime: ...
    @property
    def ended_at(self) -> datetime | None: ...


F = TypeVar("F", bound=Fault)


@dataclass(frozen=True, slots=True)
class Step:
    """From `at` until the next step so many machines do not work, for these reports."""

    at: datetime
    machines: int
    reports: frozenset[UUID]


class _Open(NamedTuple):
    started_at: datetime
    credited: int
    cited: list[UUID]


_OPEN = Query(
    """
    SELECT u.started_at, u.credited,
           ARRAY(SELECT c.report_id FROM usage_credits c WHERE c.interval_id = u.id) AS cited
      FROM usage_intervals u
     WHERE u.project_id = :project_id AND u.resource_id = :resource_id AND u.ended_at IS NULL
    """,
    _Open,
)
# The end marks closed hours as dirty, and they are corrected: what happened may be recorded late.
_DIVIDE = sa.text(
    """
    WITH ended AS (
      UPDATE usage_intervals u SET ended_at = CAST(:ended_at AS timestamptz)
       WHERE u.project_id = :project_id AND u.resource_id = :resource_id AND u.ended_at IS NULL
      RETURNING u.*
    )
    INSERT INTO usage_intervals
           (id, project_id, resource_id, flavor, sku, region, currency, quantity, credited, anchor_at, started_at,
            ended_at)
    SELECT step.id, project_id, resource_id, flavor, sku, region, currency, quantity, step.credited, anchor_at,
           step.started_at, step.ended_at
      FROM ended, unnest(CAST(:ids AS uuid[]), CAST(:credited AS integer[]), CAST(:starts AS timestamptz[]),
                         CAST(:ends AS timestamptz[])) AS step(id, credited, started_at, ended_at)
    """
)
_CITE = sa.text(
    """
    INSERT INTO usage_credits (project_id, interval_id, report_id)
    SELECT u.project_id, u.id, report_id
      FROM usage_intervals u, unnest(CAST(:report_ids AS uuid[])) AS report_id
     WHERE u.project_id = :project_id AND u.resource_id = :resource_id AND u.started_at = :started_at AND u.credited > 0
       AND u.ended_at IS DISTINCT FROM u.started_at
    ON CONFLICT DO NOTHING
    """
)


async def credit(
    connection: AsyncConnection,
    *,
    project_id: UUID,
    resource_id: UUID,
    faults: Sequence[F],
    not_working: Callable[[Sequence[F]], int],
    now: datetime,
) -> None:
    """Credit the machines of a cluster or reservation that do not work, since its open usage interval began.

    `faults` are all that lasted in that time, in any order; `not_working` says how many machines do not work while
    these of them last. The caller holds the lock of the cluster or reservation. Intervals that have ended never change:
    of what is found later, the part since the open one began counts. Without an open interval, or a difference, nothing
    happens.

    Raises sqlalchemy.exc.IntegrityError for more machines than there are.
    """
    ids = {"project_id": project_id, "resource_id": resource_id}
    interval = await _OPEN.one_or_none(connection, ids)
    if interval is None:
        return
    timeline = steps(faults, not_working, since=interval.started_at, now=now)
    following = timeline[1:] if timeline[0].machines == interval.credited else timeline
    if following:
        await connection.execute(_DIVIDE, ids | _rows(following))
        failpoint("credits.changed")
    for step in timeline:
        if step.machines and (step in following or not step.reports.issubset(interval.cited)):
            cited = {"started_at": step.at, "report_ids": sorted(step.reports)}
            await connection.execute(_CITE, ids | cited)


def steps(
    faults: Sequence[F], not_working: Callable[[Sequence[F]], int], *, since: datetime, now: datetime
) -> list[Step]:
    """How many machines do not work from `since` on: the first step begins then, the last one lasts.

    All times are cut to the second. Each step has the reports of all faults that last at any time of it.
    """
    spans = [(_second(each.since), each.ended_at and _second(each.ended_at), each) for each in faults]
    changes = {time for begins, ends, _ in spans for time in (begins, ends) if time and since < time <= now}
    timeline: list[Step] = []
    for at in (since, *sorted(changes)):
        lasting = [fault for begins, ends, fault in spans if begins <= at and (ends is None or at < ends)]
        step = Step(at, not_working(lasting), frozenset(fault.id for fault in lasting))
        if timeline and timeline[-1].machines == step.machines:
            step = Step(timeline[-1].at, step.machines, timeline.pop().reports | step.reports)
        timeline.append(step)
    return timeline


def _second(time: datetime) -> datetime:
    return time.replace(microsecond=0)


def _rows(steps: Sequence[Step]) -> dict[str, object]:
    return {
        "ended_at": steps[0].at,
        "ids": [new_id() for _ in steps],
        "credited": [step.machines for step in steps],
        "starts": [step.at for step in steps],
        "ends": [following.at for _, following in pairwise(steps)] + [None],
    }
