"""Views through which packages below `clusters` read its tables, as the migrations create them."""

from __future__ import annotations

BILLED_CLUSTERS = """
CREATE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at,
       EXISTS (SELECT FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
                WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
                  AND a.machine_id IS NOT NULL AND r.state = 'active') AS reserved,
       (SELECT max(r.ends_at)
          FROM allocations a JOIN reservations r ON (r.project_id, r.id) = (a.project_id, a.reservation_id)
         WHERE a.project_id = clusters.project_id AND a.cluster_id = clusters.id AND a.freed_at IS NULL
           AND a.machine_id IS NOT NULL AND r.state = 'active' AND r.ends_at <= app_now()) AS unreserved_at,
       'cluster' AS kind, ready_at
  FROM clusters
UNION ALL
SELECT id, project_id, name, '{}', region, flavor, machine_type, blocks * machines, blocks * ipus, sku, currency,
       CASE WHEN state IN ('ended', 'cancelled') THEN 'deleted' ELSE 'reserved' END, state_entered_at, false, ends_at,
       created_at, NULL, true, NULL, 'reservation', NULL
  FROM reservations
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'volume', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'volume', NULL
  FROM volumes
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'snapshot', size_gib, size_gib, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'snapshot', NULL
  FROM snapshots WHERE size_gib IS NOT NULL
UNION ALL
SELECT id, project_id, name, tags, region, sku, 'address', 1, 1, sku, currency,
       CASE WHEN state = 'deleted' THEN 'deleted' ELSE 'stored' END, state_entered_at, false, NULL,
       created_at, delete_requested_at, true, NULL, 'address', NULL
  FROM addresses
"""
"""What is billed: clusters, reservations, volumes, snapshots and addresses, with size, SKU, currency, name, tags
and state.

`reserved`: it is not billed as a cluster is; the reservation is, and not the cluster that holds its machines;
`unreserved_at`: only until then, which is over, but no worker has ended it yet. A reservation that has not ended, and a
volume, snapshot or address that exists, is in no state of a cluster, so that what is done to clusters in use is not
done to it.
`ready_at`: when a cluster was first active. What it was billed before can still change, and is nothing if it never is.
The machines of a volume or snapshot are its GiB, those of an address are 1; its flavor is its SKU.
"""
