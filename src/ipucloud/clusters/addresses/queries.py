"""Addresses as the API shows them."""

from __future__ import annotations

from ipucloud.clusters.resources.queries import SERVER, STATE, documents
from ipucloud.db.documents import rfc3339


def _command(address: str, server: str) -> str:
    """SQL of the command that logs in through an address; NULL while no server has it."""
    return (
        f"CASE WHEN {address}.state = 'attached' AND {server}.ssh_user IS NOT NULL"
        f" THEN format('ssh -p %s %s@%s', {address}.port, {server}.ssh_user, {address}.ip) END"
    )


DOCUMENTS = documents(
    "addresses",
    f"""
    'allowed_sources', page.allowed_sources, 'ip', page.ip, 'port', page.port,
    'observed_at', {rfc3339("page.observed_at")}, {STATE}, {SERVER},
    'command', {_command("page", "server")}
    """,
)

OF_CLUSTER = f"""
LEFT JOIN LATERAL (
  SELECT json_agg(json_build_object(
           'id', address.id, 'name', address.name, 'state', address.state, 'ip', address.ip, 'port', address.port,
           'poplar_server', has_it.name, 'command', {_command("address", "has_it")}
         ) ORDER BY address.name, address.id) AS list
    FROM addresses AS address
    JOIN poplar_servers AS has_it ON (has_it.project_id, has_it.id) = (address.project_id, address.server_id)
   WHERE address.project_id = page.project_id AND address.cluster_id = page.id
) AS reached ON true
"""  # noqa: S608  # our own text
"""SQL that joins the addresses of `clusters AS page`, as `reached.list`."""
