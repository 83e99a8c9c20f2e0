"""Samples as series, and the newest of a project's clusters."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from ipucloud.contract.metrics import MOST_POINTS, MetricsQuery
from ipucloud.db.documents import rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem, not_found

_STEPS = (60, 300, 900, 3600, 21_600, 86_400)
_USUAL_POINTS = 500
_DEFAULT = timedelta(hours=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
FRESH_SECONDS = 300
"""Age of a sample that no longer says what is."""

_NOW = Query("SELECT app_now() AS now", datetime)
_SERIES = Query(
    f"""
    WITH cluster AS (SELECT project_id, id FROM clusters WHERE project_id = :project_id AND id = :cluster_id),
    buckets AS (
      SELECT date_bin(make_interval(secs => :step), sample.minute, TIMESTAMPTZ 'epoch') AS at,
             max(sample.observed_at) AS observed_at, max(sample.machines) AS machines,
             min(sample.machines_answered) AS machines_answered, max(sample.attached_ipus) AS attached_ipus,
             round(avg(sample.utilisation)::numeric, 2) AS utilisation, round(avg(sample.power)::numeric, 1) AS power,
             round(max(sample.temperature)::numeric, 1) AS temperature,
             (array_agg(sample.link_errors ORDER BY sample.minute DESC))[1] AS link_errors,
             round(100.0 * sum(sample.partitions_active) / nullif(sum(sample.partitions), 0), 2) AS uptime,
             round(avg(sample.cpu)::numeric, 2) AS cpu, max(sample.memory_used) AS memory_used,
             max(sample.memory) AS memory
        FROM cluster JOIN cluster_samples AS sample
          ON sample.project_id = cluster.project_id AND sample.cluster_id = cluster.id
       WHERE sample.minute >= :since AND sample.minute < :until
       GROUP BY 1
    ), points AS (
      SELECT json_agg(json_build_object(
               'at', {rfc3339("steps.at")}, 'observed_at', {rfc3339("buckets.observed_at")},
               'machines', buckets.machines, 'machines_answered', buckets.machines_answered,
               'attached_ipus', buckets.attached_ipus, 'utilisation_percent', buckets.utilisation,
               'power_watts', buckets.power, 'temperature_celsius', buckets.temperature,
               'link_errors', buckets.link_errors, 'partition_uptime_percent', buckets.uptime,
               'cpu_percent', buckets.cpu,
               'memory_used_bytes', buckets.memory_used, 'memory_bytes', buckets.memory) ORDER BY steps.at) AS list
        FROM generate_series(CAST(:since AS timestamptz), :until - interval '1 microsecond',
                             make_interval(secs => :step)) AS steps (at)
        LEFT JOIN buckets ON buckets.at = steps.at
    )
    SELECT json_build_object('cluster', cluster.id, 'since', {rfc3339("CAST(:since AS timestamptz)")},
                             'until', {rfc3339("CAST(:until AS timestamptz)")}, 'step', CAST(:step AS integer),
                             'points', points.list)::text AS document
      FROM cluster, points
    """,  # noqa: S608  # our own text
    str,
)


class Newest(NamedTuple):
    """The newest sample of a cluster; units: those of the table."""

    cluster: str
    cluster_id: UUID
    region: str
    flavor: str
    observed_at: datetime
    machines: int
    machines_answered: int
    attached_ipus: int | None
    utilisation: float | None
    power: float | None
    temperature: float | None
    link_errors: int | None
    partitions: int
    partitions_active: int
    cpu: float | None
    memory_used: int | None
    memory: int | None


_NEWEST = Query(
    f"""
    SELECT c.name AS cluster, c.id AS cluster_id, c.region, c.flavor, sample.observed_at, sample.machines,
           sample.machines_answered, sample.attached_ipus, sample.utilisation, sample.power, sample.temperature,
           sample.link_errors, sample.partitions, sample.partitions_active, sample.cpu, sample.memory_used,
           sample.memory
      FROM clusters AS c
      JOIN LATERAL (
        SELECT * FROM cluster_samples AS kept WHERE kept.project_id = c.project_id AND kept.cluster_id = c.id
         ORDER BY kept.minute DESC LIMIT 1) AS sample
        ON sample.observed_at > app_now() - interval '{FRESH_SECONDS} seconds'
     WHERE c.project_id = :project_id AND c.state IN ('active', 'degraded')
     ORDER BY c.name, c.id
    """,  # noqa: S608  # our own text
    Newest,
)


class Period(NamedTuple):
    """From `since`, the start of a step of so many seconds, until `until`, exclusive."""

    since: datetime
    until: datetime
    step: int


async def series(connection: Statements, *, project_id: UUID, cluster_id: UUID, query: MetricsQuery) -> str:
    """The JSON of a `MetricsOut`. Raises `Problem`: not_found, validation_failed."""
    period = await period_of(connection, query)
    row = await _SERIES.one_or_none(
        connection, {"project_id": project_id, "cluster_id": cluster_id, **period._asdict()}
    )
    if row is None:
        raise not_found()
    return row


async def newest(connection: Statements, project_id: UUID) -> list[Newest]:
    """The newest samples of the project's clusters in use, unless they are too old to say what is."""
    return await _NEWEST.all(connection, {"project_id": project_id})


async def period_of(connection: Statements, query: MetricsQuery) -> Period:
    """The period that a query means now. Raises `Problem` validation_failed."""
    return _period(query, await _NOW.one(connection))


def _period(query: MetricsQuery, now: datetime) -> Period:
    """The period that a query means, from the start of a step on. Raises `Problem` validation_failed."""
    until = min(query.until or now, now)
    try:
        since = query.since or until - _DEFAULT
    except OverflowError:
        since = query.until or now
    if since >= until:
        raise _refused("?since", "not_a_period", "The period must begin before it ends, and in the past.")
    length = (until - since).total_seconds()
    step = query.step or next((each for each in _STEPS if length <= each * _USUAL_POINTS), _STEPS[-1])
    if length > step * MOST_POINTS:
        raise _refused(
            "?since",
            "too_many_points",
            f"The period has more than {MOST_POINTS:,} steps: shorten it or lengthen `step`.",
        )
    return Period(since - (since - _EPOCH) % timedelta(seconds=step), until, step)


def _refused(pointer: str, code: str, sentence: str) -> Problem:
    return Problem(
        VALIDATION_FAILED,
        "Correct the parameters named in `errors` and send the request again.",
        [FieldError(pointer, code, sentence)],
    )
