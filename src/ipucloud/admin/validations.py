"""The validations of machines, as operators see them."""

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
    ) AS found
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
