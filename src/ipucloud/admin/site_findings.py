"""What the last sweep found at the sites against a rule, and why it left what it left."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.db.documents import rfc3339

LIST_SITE_FINDINGS = keyed_page(
    """
    SELECT concat_ws(' ', f.region, f.rule, f.object_id, f.host) AS key, f.*, projects.slug AS project,
           (SELECT state FROM repairs AS r
             WHERE r.requested_by = 'sweep' AND (r.rule, r.region, r.object_id) = (f.rule, f.region, f.object_id)
             ORDER BY r.started_at DESC LIMIT 1) AS repair
      FROM site_findings AS f LEFT JOIN projects ON projects.id = f.project_id
     WHERE (CAST(:region AS text) IS NULL OR f.region = CAST(:region AS text))
       AND (CAST(:rule AS text) IS NULL OR f.rule = CAST(:rule AS text))
    """,
    f"""
    'rule', page.rule, 'region', page.region, 'object', page.object_id, 'host', nullif(page.host, ''),
    'project', page.project, 'detail', page.detail, 'first_seen_at', {rfc3339("page.first_seen_at")},
    'last_seen_at', {rfc3339("page.last_seen_at")}, 'sightings', page.sightings, 'repair', page.repair,
    'left_because', page.left_because
    """,
)
"""By region and rule. Parameters: the filters, NULL for all."""
