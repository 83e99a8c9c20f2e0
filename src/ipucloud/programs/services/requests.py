"""What requests to services came to: how many, how many failed, how long their answers took."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.metrics import MetricsQuery
from ipucloud.contract.services import ServiceMetricsOut, ServiceMetricsPoint
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import not_found
from ipucloud.programs.samples.series import period_of

BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Seconds: the upper bounds of the buckets, those that Prometheus' clients use. A last bucket has what took longer."""
_BUCKETS = range(1, len(BOUNDS) + 2)


@dataclass
class Counts:
    """Requests of a service. `seconds`: until their answers began, together. `buckets`: answers within each bound."""

    requests: int = 0
    errors: int = 0
    seconds: float = 0.0
    buckets: list[int] = field(default_factory=lambda: [0] * (len(BOUNDS) + 1))

    def add(self, seconds: float, *, failed: bool) -> None:
        """Count a request that was answered, or given up, after so many seconds."""
        self.requests += 1
        self.errors += failed
        self.seconds += seconds
        self.buckets[bisect_left(BOUNDS, seconds)] += 1


class ServiceTotals(NamedTuple):
    """The requests of a service in all time."""

    cluster: str
    cluster_id: UUID
    service: str
    requests: int
    errors: int
    seconds: float
    buckets: list[int]


class _Point(NamedTuple):
    at: datetime
    requests: int
    errors: int
    seconds: float
    buckets: list[int]


_SUM = """
DO UPDATE SET requests = kept.requests + excluded.requests, errors = kept.errors + excluded.errors,
              seconds = kept.seconds + excluded.seconds,
              buckets = (SELECT array_agg(one + other ORDER BY nth)
                           FROM unnest(kept.buckets, excluded.buckets) WITH ORDINALITY AS pairs (one, other, nth))
"""
_GIVEN = """
FROM services WHERE services.project_id = :project_id AND services.id = :service_id
"""
_VALUES = (
    "services.project_id, services.id, CAST(:requests AS bigint), CAST(:errors AS bigint),"
    " CAST(:seconds AS double precision), CAST(:buckets AS bigint[])"
)
_ADD = sa.text(
    f"""
    WITH total AS (
      INSERT INTO service_request_totals AS kept (project_id, service_id, requests, errors, seconds, buckets)
      SELECT {_VALUES} {_GIVEN} ON CONFLICT (project_id, service_id) {_SUM}
    )
    INSERT INTO service_requests AS kept (project_id, service_id, requests, errors, seconds, buckets, minute)
    SELECT {_VALUES}, date_trunc('minute', app_now(), 'UTC') {_GIVEN}
        ON CONFLICT (project_id, service_id, minute) {_SUM}
    """
)
_SERVICE = Query(
    """
    SELECT id FROM services WHERE project_id = :project_id AND cluster_id = :cluster_id
       AND (name = :ref OR id::text = lower(:ref))
     ORDER BY ended_at IS NULL DESC, id DESC LIMIT 1
    """,
    UUID,
)
_SERIES = Query(
    f"""
    SELECT date_bin(make_interval(secs => :step), minute, TIMESTAMPTZ 'epoch') AS at,
           sum(requests)::bigint AS requests, sum(errors)::bigint AS errors, sum(seconds) AS seconds,
           ARRAY[{", ".join(f"sum(buckets[{nth}])::bigint" for nth in _BUCKETS)}] AS buckets
      FROM service_requests
     WHERE project_id = :project_id AND service_id = :service_id AND minute >= :since AND minute < :until
     GROUP BY 1
    """,  # noqa: S608  # our own text
    _Point,
)
_TOTALS = Query(
    """
    SELECT c.name AS cluster, c.id AS cluster_id, s.name AS service, total.requests, total.errors, total.seconds,
           total.buckets
      FROM services AS s
      JOIN clusters AS c ON (c.project_id, c.id) = (s.project_id, s.cluster_id)
      JOIN service_request_totals AS total ON (total.project_id, total.service_id) = (s.project_id, s.id)
     WHERE s.project_id = :project_id AND s.ended_at IS NULL
     ORDER BY c.name, c.id, s.name
    """,
    ServiceTotals,
)
_FORGET = sa.text("DELETE FROM service_requests WHERE minute < app_now() - make_interval(secs => :kept)")


async def add_counts(connection: AsyncConnection, counts: Mapping[tuple[UUID, UUID], Counts]) -> None:
    """Add requests, by project and service, to those of this minute and of all time."""
    for (project_id, service_id), each in sorted(counts.items()):
        await connection.execute(_ADD, {"project_id": project_id, "service_id": service_id, **vars(each)})


async def request_series(
    connection: Statements, *, project_id: UUID, cluster_id: UUID, ref: str, query: MetricsQuery
) -> ServiceMetricsOut:
    """The requests of a service, given by name or id, in steps. Raises `Problem`: not_found, validation_failed."""
    ids = {"project_id": project_id, "cluster_id": cluster_id, "ref": ref}
    service = await _SERVICE.one_or_none(connection, ids)
    if service is None:
        raise not_found()
    since, until, step = await period_of(connection, query)
    values = {"project_id": project_id, "service_id": service, "since": since, "until": until, "step": step}
    by_time = {each.at: each for each in await _SERIES.all(connection, values)}
    points, at = [], since
    while at < until:
        points.append(_shown(at, step, by_time.get(at)))
        at += timedelta(seconds=step)
    return ServiceMetricsOut(service=service, since=since, until=until, step=step, points=points)


async def request_totals(connection: Statements, project_id: UUID) -> list[ServiceTotals]:
    """The requests of the project's services that have not ended."""
    return await _TOTALS.all(connection, {"project_id": project_id})


async def forget_requests(database: Database, *, kept: float) -> None:
    """Remove the minutes that are older than so many seconds; the totals stay."""
    async with database.begin() as connection:
        await connection.execute(_FORGET, {"kept": kept})


def quantile(buckets: Sequence[int], part: float) -> float | None:
    """The seconds within which that part of the answers began, interpolated within a bucket; None without answers.

    Answers beyond the last bound count as that bound, as in Prometheus' `histogram_quantile`.
    """
    rank, passed, lower = sum(buckets) * part, 0, 0.0
    if not rank:
        return None
    for count, upper in zip(buckets, BOUNDS, strict=False):
        if count and passed + count >= rank:
            return round(lower + (upper - lower) * (rank - passed) / count, 4)
        passed, lower = passed + count, upper
    return BOUNDS[-1]


def _shown(at: datetime, step: int, row: _Point | None) -> ServiceMetricsPoint:
    point = row or _Point(at, 0, 0, 0.0, [])
    return ServiceMetricsPoint(
        at=at,
        requests=point.requests,
        errors=point.errors,
        requests_per_second=round(point.requests / step, 4),
        mean_seconds=round(point.seconds / point.requests, 4) if point.requests else None,
        p50_seconds=quantile(point.buckets, 0.5),
        p95_seconds=quantile(point.buckets, 0.95),
        p99_seconds=quantile(point.buckets, 0.99),
    )
