"""What takes longer than it should, or will not continue by itself: operations, states of clusters, work items."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.operations.frozen import FROZEN

OVERDUE_SECONDS = 60
"""A work item that has been due for so long is stuck: no worker claims it."""

# The order of these conditions is that of a person who looks for the cause.
_REMEDY = f"""
CASE
  WHEN work.parked_at IS NOT NULL
    THEN format('It failed repeatedly and is parked. Remove the cause in blocked_by, then: '
                'ipucloud admin work requeue %s %s', work.kind, work.key)
  WHEN work.key IS NULL
    THEN 'No work item carries it out. Run: ipucloud admin audit --repair'
  WHEN starts_with(step.detail, '{FROZEN}')
    THEN 'It waits for the end of a freeze: ipucloud admin freezes list --state live'
  WHEN work.lease_until > app_now() AND step.attempts > 0
    THEN 'Its step fails and is repeated: read the worker''s log of its request_id, and check the site.'
  WHEN work.lease_until > app_now()
    THEN 'A worker reconciles it now: wait.'
  WHEN work.run_at IS NULL
    THEN format('No worker will reconcile it; please report this. Run: ipucloud admin work requeue %s %s',
                work.kind, work.key)
  WHEN work.run_at < app_now() - make_interval(secs => :overdue)
    THEN 'No worker claims it: check /readyz of the workers, and start more if all slots are taken.'
  WHEN step.attempts > 0
    THEN 'Its step fails and is repeated: read the worker''s log of its request_id, and check the site.'
  ELSE 'It waits for the site: check what blocked_by names.'
END
"""
_OPERATIONS = f"""
SELECT 'operation' AS object, o.id::text AS object_id, o.kind, o.project_id, o.cluster_id, o.created_at AS since,
       extract(epoch FROM o.expected_at - o.created_at)::int AS sla_seconds,
       extract(epoch FROM app_now() - coalesce(o.expected_at, o.deadline_at))::int AS over_seconds,
       step.name AS step,
       CASE WHEN work.parked_at IS NOT NULL THEN work.last_error ELSE step.detail END AS blocked_by, {_REMEDY} AS remedy
  FROM operations AS o
  LEFT JOIN work ON work.key = coalesce(o.export_id, o.cluster_id)::text
        AND work.kind = CASE WHEN o.export_id IS NOT NULL THEN 'export'
                             WHEN o.partition_id IS NOT NULL THEN 'partitions' ELSE 'cluster' END
  LEFT JOIN LATERAL (
    SELECT name, attempts, detail FROM operation_steps
     WHERE project_id IS NOT DISTINCT FROM o.project_id AND operation_id = o.id AND state IN ('pending', 'running')
     ORDER BY ordinal LIMIT 1) AS step ON true
 WHERE o.finished_at IS NULL
   AND (app_now() > coalesce(o.expected_at, o.deadline_at) OR work.parked_at IS NOT NULL)
"""  # noqa: S608  # our own text
_CLUSTERS = """
SELECT 'cluster', c.id::text, c.state, c.project_id, c.id, c.state_entered_at, c.state_sla_seconds,
       extract(epoch FROM app_now() - c.state_entered_at)::int - c.state_sla_seconds, NULL,
       coalesce(c.blocked_by, c.state_reason),
       'No operation is open that would end this state. Run: ipucloud admin audit --repair'
  FROM clusters AS c
 WHERE c.deleted_at IS NULL AND c.state_sla_seconds IS NOT NULL
   AND app_now() > c.state_entered_at + make_interval(secs => c.state_sla_seconds)
   AND NOT EXISTS (
     SELECT FROM operations WHERE cluster_id = c.id AND state NOT IN ('cancelled', 'failed', 'succeeded'))
"""
_WORK = """
SELECT 'work_item', work.kind || '/' || work.key, work.kind,
       nullif(work.project_id, '00000000-0000-0000-0000-000000000000'), clusters.id,
       coalesce(work.parked_at, work.run_at), NULL,
       extract(epoch FROM app_now() - coalesce(work.parked_at, work.run_at))::int, NULL, work.last_error,
       CASE WHEN work.parked_at IS NOT NULL
            THEN format('It failed repeatedly, or was parked by an operator. Remove the cause in blocked_by, then: '
                        'ipucloud admin work requeue %s %s', work.kind, work.key)
            ELSE 'No worker claims it: check /readyz of the workers, and start more if all slots are taken.' END
  FROM work LEFT JOIN clusters ON clusters.id::text = work.key
 WHERE (work.parked_at IS NOT NULL
        OR (work.lease_owner IS NULL AND work.run_at < app_now() - make_interval(secs => :overdue)))
   AND NOT EXISTS (
     SELECT FROM operations AS o
      WHERE coalesce(o.export_id, o.cluster_id)::text = work.key AND o.finished_at IS NULL
        AND (work.parked_at IS NOT NULL OR app_now() > coalesce(o.expected_at, o.deadline_at)))
"""

LIST_STUCK = keyed_page(
    clauses(
        "SELECT concat(to_char(since AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), ' ', object_id) AS key, stuck.*,",
        "projects.slug, clusters.name, clusters.region FROM (",
        _OPERATIONS,
        "UNION ALL",
        _CLUSTERS,
        "UNION ALL",
        _WORK,
        ") AS stuck LEFT JOIN projects ON projects.id = stuck.project_id",
        "LEFT JOIN clusters ON clusters.project_id = stuck.project_id AND clusters.id = stuck.cluster_id",
        "WHERE CAST(:region AS text) IS NULL OR clusters.region = CAST(:region AS text)",
    ),
    f"""
    'object', page.object, 'id', page.object_id, 'kind', page.kind, 'project', page.slug, 'cluster', page.cluster_id,
    'name', page.name, 'region', page.region, 'since', {rfc3339("page.since")}, 'sla_seconds', page.sla_seconds,
    'over_seconds', page.over_seconds, 'step', page.step, 'blocked_by', page.blocked_by, 'remedy', page.remedy,
    'as_of', {rfc3339("app_now()")}
    """,
)
"""The oldest first. Parameters `:region`, or NULL for all, and `:overdue`, `OVERDUE_SECONDS`."""
