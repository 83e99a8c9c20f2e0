"""Replacing the customer's access key to the cluster's V-IPU controller."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import lock_cluster
from ipucloud.clusters.operations.begin import begin, repeated
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, fails_with
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.steps.vipu_user import keep_vipu_user
from ipucloud.clusters.vipu_access import SECRET_PREFIX, digest_of, endpoint, no_endpoint
from ipucloud.config import Settings
from ipucloud.contract.catalogue import AllocatedThrough
from ipucloud.db.rows import Query
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NO_VIPU, STATE_CONFLICT, Problem
from ipucloud.operations.kind import Billing, Repeated
from ipucloud.operations.step import Stage
from ipucloud.site.vipu_ports import UserEndpoint

SECRET_BYTES = 32

ROTATE_KEY = ClusterKind(
    name="cluster.rotate-key",
    work_kind=WORK_KIND,
    steps=(ClusterStep(name="replace_access_key", stage=Stage("ACCESS_KEYS", 5), act=keep_vipu_user),),
    states=CLUSTER_STATES,
    begins_in=BILLABLE,
    during=None,
    success=None,
    undo=None,
    cancellable=False,
    repeated=Repeated.REFUSED,
    billing=Billing.UNCHANGED,
    deadline=None,
    preceding=(),
    replacing=(),
    beside_partitions=True,
    failure=fails_with("It is unknown which keys the controller accepts now.", "Replace the key again"),
)


class _Facts(NamedTuple):
    external_name: str
    endpoint: UserEndpoint | None
    last_number: int


_FACTS = Query(
    f"""
    SELECT c.external_name, {endpoint("c")},
           (SELECT coalesce(max(number), 0) FROM vipu_access_keys k
             WHERE k.project_id = c.project_id AND k.cluster_id = c.id) AS last_number
      FROM clusters c
     WHERE c.project_id = :project_id AND c.id = :cluster_id
    """,  # noqa: S608  # our own text
    _Facts,
)
_REPLACE = sa.text(
    """
    UPDATE vipu_access_keys SET replaced_at = app_now()
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND replaced_at IS NULL
    """
)
_INSERT = sa.text(
    """
    INSERT INTO vipu_access_keys (name, project_id, cluster_id, number, sha256, ends_server_key)
    VALUES (:name, :project_id, :cluster_id, :number, :sha256, :ends_server_key)
    """
)


@dataclass(frozen=True, slots=True)
class NewKey:
    """A new key: valid once its operation has succeeded. Its `secret` is shown once."""

    operation_id: UUID
    user: str
    id: str
    secret: str = field(repr=False)
    host: str
    port: int

    @property
    def environment(self) -> dict[str, str]:
        """The environment for clients of the controller, without the key."""
        return {
            "VIPU_CLI_API_HOST": self.host,
            "VIPU_CLI_API_PORT": str(self.port),
            "VIPU_CLI_API_USER_ID": self.user,
        }


async def rotate(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, ends_server_key: bool, settings: Settings
) -> NewKey:
    """Record a new customer key that replaces the earlier one, with its operation, work item and event.

    Raises `Problem`: not_found, no_vipu, state_conflict, operation_in_progress.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    if cluster.allocated_through is not AllocatedThrough.V_IPU or not cluster.secure:
        raise Problem(NO_VIPU, "The cluster has no V-IPU controller with users, so it has no key to replace.")
    if cluster.state not in ROTATE_KEY.begins_in:
        raise Problem(
            STATE_CONFLICT, "The key can be replaced only while the cluster is in use. Wait until it is active."
        )
    await repeated(connection, actor, cluster, ROTATE_KEY, if_match=None)
    facts = await _FACTS.one(connection, ids)
    if facts.endpoint is None:
        raise no_endpoint()
    number = facts.last_number + 1
    secret = SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    name = f"{facts.external_name}-k{number}"
    values = {"name": name, "number": number, "sha256": digest_of(secret), "ends_server_key": ends_server_key}
    await connection.execute(_REPLACE, ids)
    await connection.execute(_INSERT, ids | values)
    accepted = await begin(connection, actor, cluster, ROTATE_KEY, deadline_seconds=settings.create_deadline)
    return NewKey(accepted.operation_id, facts.external_name, name, secret, *facts.endpoint)
