"""Views through which packages below `clusters` read its tables, as the migrations create them."""

from __future__ import annotations

BILLED_CLUSTERS = """
CREATE VIEW billed_clusters WITH (security_invoker = true) AS
SELECT id, project_id, name, tags, region, flavor, machine_type, machines, ipus, sku, currency, state, state_entered_at,
       delete_protection, expires_at, created_at, delete_requested_at
  FROM clusters
"""
"""The columns that `billing` needs: size, SKU and currency, names and tags for reports, and state."""
