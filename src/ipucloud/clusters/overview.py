"""What a project has at a glance: one statement, all of one moment."""

from __future__ import annotations

from uuid import UUID

from ipucloud.contract.projects import OverviewFactsOut
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.feed import DOCUMENT
from ipucloud.operations.queries import SUMMARY

SHOWN = 20
EVENTS = 10

_OVERVIEW = Query(
    clauses(
        """
        WITH living AS (
          SELECT id, name, state, state_reason, state_entered_at, ipus, machines FROM clusters
           WHERE project_id = :project_id AND deleted_at IS NULL
        ), troubled AS (
          SELECT * FROM living WHERE state IN ('degraded', 'error')
        ), running AS (
          SELECT * FROM operations
           WHERE project_id = :project_id AND cluster_id IS NOT NULL
             AND NOT (state IN ('cancelled', 'failed', 'succeeded'))
        ), latest AS (
          SELECT * FROM events
           WHERE project_id = :project_id
             AND transaction < CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint)
           ORDER BY transaction DESC, id DESC LIMIT :events
        )
        SELECT CAST(json_build_object(
          'at',""",
        *(rfc3339("app_now()"), ","),
        """
          'clusters', (
            SELECT coalesce(json_agg(each ORDER BY each.state), '[]')
              FROM (SELECT state, count(*) AS clusters, sum(ipus) AS ipus FROM living GROUP BY state) AS each),
          'ipus_in_use', (
            SELECT coalesce(sum(living.ipus / living.machines), 0)
              FROM allocations AS held JOIN living ON living.id = held.cluster_id
             WHERE held.project_id = :project_id AND held.machine_id IS NOT NULL AND held.released_at IS NULL),
          'quotas', (
            SELECT coalesce(json_agg(json_build_object(
                     'region', region, 'machine_type', machine_type, 'unit', 'machine',
                     'limit', machine_limit, 'used', used)
                     ORDER BY region, machine_type), '[]')
              FROM quotas WHERE project_id = :project_id),
          'attention', (
            SELECT coalesce(json_agg(json_build_object(
                     'id', id, 'name', name, 'state', state, 'state_reason', state_reason, 'state_entered_at',""",
        rfc3339("state_entered_at"),
        """) ORDER BY state_entered_at DESC, id), '[]')
              FROM (SELECT * FROM troubled ORDER BY state_entered_at DESC, id LIMIT :shown) AS newest),
          'attention_count', (SELECT count(*) FROM troubled),
          'open_fault_reports', (
            SELECT count(*) FROM fault_reports WHERE project_id = :project_id AND state = 'open'),
          'operations', (
            SELECT coalesce(json_agg(json_build_object(""",
        SUMMARY,
        """) ORDER BY created_at DESC, id DESC), '[]')
              FROM (SELECT * FROM running ORDER BY created_at DESC, id DESC LIMIT :shown) AS newest),
          'operation_count', (SELECT count(*) FROM running),
          'events', (SELECT coalesce(json_agg(""",
        DOCUMENT,
        """ORDER BY transaction DESC, id DESC), '[]') FROM latest)
        ) AS text)
        """,
    ),
    str,
)


async def overview(connection: Statements, project_id: UUID) -> OverviewFactsOut:
    """What the project has now."""
    row = await _OVERVIEW.one(connection, {"project_id": project_id, "shown": SHOWN, "events": EVENTS})
    return OverviewFactsOut.model_validate_json(row)
