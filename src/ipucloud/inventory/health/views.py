"""A view through which `billing` reads the reports that its credits cite, as the migrations create it."""

from __future__ import annotations

CITED_FAULTS = """
CREATE VIEW cited_faults WITH (security_invoker = true) AS
SELECT r.id, CASE WHEN r.machine_id IS NULL THEN 'poplar_server' ELSE 'machine' END AS kind, m.name AS machine, r.code,
       r.message, r.first_seen_at,
       CASE WHEN r.cleared_at IS NOT NULL THEN coalesce(r.good_since, r.cleared_at) END AS ended_at
  FROM health_reports r LEFT JOIN machines m ON m.id = r.machine_id
"""
"""What customers may know of a report: what failed, when it was first seen, and when its end was first seen."""
