"""What projects hold, as the API shows it."""

from __future__ import annotations

from ipucloud.db.documents import rfc3339
from ipucloud.identity import documents as shared
from ipucloud.identity.documents import Documents

STATE = f"""
'state', page.state, 'state_reason', page.state_reason, 'state_entered_at', {rfc3339("page.state_entered_at")}
"""
SERVER = "'cluster', page.cluster_id, 'cluster_name', cluster.name, 'poplar_server', server.name"
_OF_PROJECT = """
WHERE project_id = (SELECT project_id FROM project)
  AND CASE WHEN CAST(:state AS text[]) IS NULL THEN state <> 'deleted' ELSE state = ANY(CAST(:state AS text[])) END
"""


def documents(table: str, members: str, joins: str = "") -> Documents:
    """`members`: SQL of what a document has besides the common members, of a row `page`, its `cluster` and `server`.

    `joins`: what else that needs.
    """
    every = f"""
'id', page.id, 'name', page.name, 'tags', page.tags, 'region', page.region, {members},
'sku', page.sku, 'currency', page.currency, 'created_by', page.created_by,
'created_at', {rfc3339("page.created_at")}, 'deleted_at', {rfc3339("page.deleted_at")}
"""
    joined = f"""
LEFT JOIN clusters AS cluster ON (cluster.project_id, cluster.id) = (page.project_id, page.cluster_id)
LEFT JOIN poplar_servers AS server ON (server.project_id, server.id) = (page.project_id, page.server_id)
{joins}
"""
    return shared.documents(table, every, _OF_PROJECT, joined=joined)
