"""The validations of machines, and the evidence of cleaning between clusters, as operators see them."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import rfc3339

LIST_VALIDATIONS = keyed_page(
    """
    SELECT * FROM (
      SELECT concat(to_char(v.requested_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), ' ', v.id) AS key,
             v.*, m.name AS machine, p.name AS pod, p.region,
             CASE WHEN v.ended_at IS NOT NULL THEN 'ended' WHEN v.result IS NOT NULL THEN 'clearing'
                  WHEN v.name IS NOT NULL THEN 'testing' ELSE 'waiting' END AS state
        FROM hardware_validations AS v JOIN machines AS m ON m.id = v.machine_id JOIN pods AS p ON p.id = m.pod_id
    ) AS listed
     WHERE (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))
       AND (CAST(:machine AS text) IS NULL OR machine = CAST(:machine AS text))
       AND (CAST(:result AS text) IS NULL OR result = CAST(:result AS text))
       AND CASE WHEN CAST(:state AS text) IS NULL THEN ended_at IS NULL OR CAST(:result AS text) IS NOT NULL
                ELSE state = CAST(:state AS text) END
    """,
    f"""
    'id', page.id, 'machine', page.machine, 'pod', page.pod, 'region', page.region, 'reason', page.reason,
    'state', page.state, 'name', page.name, 'requested_at', {rfc3339("page.requested_at")},
    'started_at', {rfc3339("page.started_at")}, 'tested_at', {rfc3339("page.tested_at")},
    'ended_at', {rfc3339("page.ended_at")}, 'result', page.result, 'findings', page.findings,
    'requested_by', page.requested_by
    """,
)
"""Parameters: the filters, NULL for all."""


LIST_CLEANINGS = keyed_page(
    """
    SELECT concat(to_char(c.observed_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS'), ' ', a.id) AS key,
           CASE WHEN a.machine_id IS NULL THEN 'host' ELSE 'machine' END AS kind, coalesce(m.name, h.name) AS name,
           coalesce(p.region, h.region) AS region, projects.slug AS project, a.cluster_id, c.external_name,
           a.created_at, a.released_at, c.observed_at, a.freed_at, c.observed
      FROM hardware_cleanings AS c
      JOIN allocations AS a ON a.id = c.allocation_id
      JOIN projects ON projects.id = a.project_id
      LEFT JOIN machines AS m ON m.id = a.machine_id
      LEFT JOIN pods AS p ON p.id = m.pod_id
      LEFT JOIN hosts AS h ON h.id = a.host_id
     WHERE (CAST(:region AS text) IS NULL OR coalesce(p.region, h.region) = CAST(:region AS text))
       AND (CAST(:machine AS text) IS NULL OR m.name = CAST(:machine AS text))
       AND (CAST(:host AS text) IS NULL OR h.name = CAST(:host AS text))
       AND (CAST(:cluster AS uuid) IS NULL OR a.cluster_id = CAST(:cluster AS uuid))
    """,
    f"""
    'kind', page.kind, 'name', page.name, 'region', page.region, 'project', page.project, 'cluster', page.cluster_id,
    'external_name', page.external_name, 'held_since', {rfc3339("page.created_at")},
    'released_at', {rfc3339("page.released_at")}, 'observed_at', {rfc3339("page.observed_at")},
    'freed_at', {rfc3339("page.freed_at")}, 'observed', page.observed
    """,
)
"""Parameters: the filters, NULL for all."""
