"""Consoles as the API shows them."""

from __future__ import annotations

from ipucloud.db.documents import ONE_DOCUMENT, OneDocument, clauses, rfc3339
from ipucloud.identity.access import authenticated

_SERVER = """
, server AS (
  SELECT project_id, id, name FROM poplar_servers
   WHERE project_id = (SELECT project_id FROM project) AND cluster_id = :cluster_id
     AND (id::text = lower(:ref) OR name = :ref)
), boots AS (
  SELECT boot.*, row_number() OVER (ORDER BY boot.number DESC) AS back
    FROM server JOIN console_boots AS boot ON boot.project_id = server.project_id AND boot.server_id = server.id
)
"""
_FACTS = f"""
  'number', boots.number, 'boot_id', boots.boot_id, 'started_at', {rfc3339("boots.started_at")},
  'ended_at', {rfc3339("boots.ended_at")}, 'bytes', octet_length(boots.text), 'dropped_bytes', boots.dropped,
  'observed_at', {rfc3339("boots.observed_at")}
"""
_DOCUMENT = f"""
, documents AS (
  SELECT 0 AS version, json_build_object(
           'poplar_server', server.name,
           'boots', (SELECT coalesce(json_agg(json_build_object({_FACTS}) ORDER BY boots.number), '[]') FROM boots),
           'boot', (SELECT boots.number FROM boots WHERE boots.number = :boot OR boots.back = -:boot),
           'text', (SELECT boots.text FROM boots WHERE boots.number = :boot OR boots.back = -:boot)) AS document
    FROM server
)
"""  # noqa: S608  # our own text
GET_CONSOLE = authenticated(clauses(_SERVER, _DOCUMENT, ONE_DOCUMENT), OneDocument)
"""Parameters: those of the authentication, `:cluster_id`, `:ref` and `:boot`, a number, or how far back below 0."""
