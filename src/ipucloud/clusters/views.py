"""What other packages may read of clusters: views of the database, as migrations make them."""

from __future__ import annotations

BILLED_CLUSTERS = """
CREATE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at
  FROM clusters
"""
"""What `billing` goes by: what a cluster is, what it is called, and what its life says about its bill."""
