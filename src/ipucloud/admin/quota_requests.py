"""Requests of every project for higher quotas, as operators read them."""

from __future__ import annotations

from ipucloud.admin.pages import keyed_page
from ipucloud.clusters.addresses.record import ADDRESS_QUOTA
from ipucloud.clusters.volumes.record import VOLUME_QUOTA
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.quotas.queries import MEMBERS

_REQUESTS = f"""
SELECT to_char(request.created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || request.id AS key, request.*,
       projects.slug AS project,
       CASE request.machine_type
         WHEN 'volume-gib' THEN coalesce(stored.gib_limit, CAST(:volume_gib AS integer))
         WHEN 'address' THEN coalesce(reserved.address_limit, CAST(:addresses AS integer))
         ELSE coalesce(quotas.machine_limit, 0) END AS present_limit,
       CASE request.machine_type
         WHEN 'volume-gib' THEN {VOLUME_QUOTA.used("request.project_id", "request.region")}
         WHEN 'address' THEN {ADDRESS_QUOTA.used("request.project_id", "request.region")}
         ELSE coalesce(quotas.used, 0) END AS used
  FROM quota_requests AS request
  JOIN projects ON projects.id = request.project_id
  LEFT JOIN quotas ON quotas.project_id = request.project_id AND quotas.region = request.region
                  AND quotas.machine_type = request.machine_type
  LEFT JOIN volume_quotas AS stored ON stored.project_id = request.project_id AND stored.region = request.region
  LEFT JOIN address_quotas AS reserved
    ON reserved.project_id = request.project_id AND reserved.region = request.region
"""  # noqa: S608  # our own text
_MEMBERS = f"""{MEMBERS},
  'project', page.project, 'present_limit', page.present_limit, 'used', page.used, 'decided_by', page.decided_by
"""
LIST_QUOTA_REQUESTS = keyed_page(
    clauses(
        "SELECT * FROM (",
        _REQUESTS,
        """
        ) AS quota_requests
        WHERE (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
          AND (CAST(:region AS text) IS NULL OR region = CAST(:region AS text))
          AND (CAST(:project AS text) IS NULL OR project = CAST(:project AS text))
        """,
    ),
    _MEMBERS,
)
"""The oldest first. Parameters: the filters, NULL for all; those of
`quotas.counted.DefaultLimits`."""
GET_QUOTA_REQUEST = Query(
    clauses(
        "SELECT json_build_object(",
        _MEMBERS,
        ")::text AS document FROM (",
        _REQUESTS,
        ") AS page WHERE id = :quota_request_id",
    ),
    str,
)
