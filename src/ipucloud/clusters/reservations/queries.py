"""Reservations as the API shows them."""

from __future__ import annotations

from ipucloud.db.documents import rfc3339
from ipucloud.identity.documents import documents

_MEMBERS = f"""
  'id', page.id, 'name', page.name, 'state', page.state,
  'state_entered_at', {rfc3339("page.state_entered_at")}, 'region', page.region, 'flavor', page.flavor,
  'machine_type', page.machine_type, 'count', page.blocks, 'machines', page.blocks * page.machines,
  'starts_at', {rfc3339("page.starts_at")}, 'ends_at', {rfc3339("page.ends_at")},
  'cancel_until', {rfc3339("page.cancel_until")}, 'sku', page.sku, 'currency', page.currency,
  'left', CASE page.state WHEN 'active' THEN held.unused ELSE 0 END, 'clusters', held.clusters,
  'created_by', page.created_by, 'created_at', {rfc3339("page.created_at")}
"""
_HELD = """
CROSS JOIN LATERAL (
  SELECT count(*) FILTER (WHERE cluster_id IS NULL AND usable) AS unused,
         coalesce(json_agg(cluster_id ORDER BY block) FILTER (WHERE cluster_id IS NOT NULL), '[]') AS clusters
    FROM (SELECT a.block, (array_agg(a.cluster_id) FILTER (WHERE a.cluster_id IS NOT NULL))[1] AS cluster_id,
                 bool_and(coalesce(m.allocatable, h.allocatable)) AS usable
            FROM allocations AS a LEFT JOIN machines AS m ON m.id = a.machine_id
            LEFT JOIN hosts AS h ON h.id = a.host_id
           WHERE a.project_id = page.project_id AND a.reservation_id = page.id AND a.freed_at IS NULL
           GROUP BY a.block) AS blocks) AS held
"""
RESERVATIONS = documents("reservations", _MEMBERS, joined=_HELD)
