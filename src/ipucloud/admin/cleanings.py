"""The evidence of cleaning between clusters, as operators see it."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import rfc3339

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
