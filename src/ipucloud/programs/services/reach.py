"""A service as a request that is to reach its program finds it."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.services import ServiceState
from ipucloud.db.documents import clauses
from ipucloud.identity.access import authenticated
from ipucloud.programs.queries import one_of_the_cluster
from ipucloud.programs.services.queries import MEANT


class Reached(NamedTuple):
    """`host_key` is that which was observed. Without `service_id` the cluster has no such service."""

    rights: str | None
    project_id: UUID | None
    service_id: UUID | None
    name: str | None
    state: ServiceState | None
    state_reason: str | None
    port: int | None
    server_id: UUID | None
    server: str | None
    host: str | None
    ssh_port: int | None
    host_key: str | None
    server_state: str | None
    cluster_state: ClusterState | None


FIND_REACHED = authenticated(
    clauses(
        one_of_the_cluster("services", MEANT),
        """
        SELECT (SELECT rights FROM principal) AS rights, (SELECT project_id FROM project) AS project_id,
               page.id AS service_id, page.name, page.state, page.state_reason, page.port,
               server.id AS server_id, server.name AS server, server.ssh_host AS host, server.ssh_port, server.host_key,
               server.state AS server_state, cluster.state AS cluster_state
          FROM (SELECT 1) AS always
          LEFT JOIN page ON true
          LEFT JOIN clusters AS cluster ON (cluster.project_id, cluster.id) = (page.project_id, page.cluster_id)
          LEFT JOIN poplar_servers AS server ON (server.project_id, server.id) = (page.project_id, page.server_id)
        """,
    ),
    Reached,
)
"""Parameters: those of the authentication, `:cluster_id`, and `:ref`, a name or an id. There is always one row."""
