"""Access keys of clusters at secure V-IPU controllers. Law: no secret is stored; what is stored is its digest.

A cluster's user has the cluster's external name. Its keys are of two kinds: the one in the environment of the Poplar
servers, whose secret is derived from the installation's own key whenever it is needed; and the customer's, whose secret
is made in a request, shown in its answer and forgotten. The controller is told digests only, so a call whose answer got
lost is simply made again: there is never a key that nobody knows of.

A customer's key stays when the cluster is suspended, and resumed under another name. The servers get a new one then,
also when the one before was ended.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.models import AllocatedThrough
from ipucloud.clusters.locked import in_the_way, lock_cluster
from ipucloud.clusters.plans import ROTATE_KEY, ROTATE_KEY_PLAN, WORK_KIND
from ipucloud.clusters.states import BILLABLE
from ipucloud.config import Settings
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NO_VIPU, STATE_CONFLICT, Problem
from ipucloud.kernel.ids import EXTERNAL_NAME_LIMIT
from ipucloud.kernel.sealing import Keys, derive
from ipucloud.operations.store import open_operation
from ipucloud.reconcile.wake import wake

SECRET_PREFIX = "vipu_"
"""What every access key begins with, so that a leaked one is recognised."""

SECRET_BYTES = 32
EXPECTED_SECONDS = 5.0
"""What a rotation usually takes; only told to customers."""


@dataclass(frozen=True, slots=True)
class ServerKey:
    """The key that a cluster's Poplar servers get."""

    id: str
    secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Access:
    """What a cluster's user at a secure controller is to have.

    `server` None: this installation has no key to derive one from. `keys`: digests of the customer's, by id.
    """

    user: str
    server: ServerKey | None
    keeps_server_key: bool
    keys: Mapping[str, str]

    @property
    def wanted(self) -> Mapping[str, str]:
        """Digests of all keys that the user is to have, by id."""
        if self.server is None or not self.keeps_server_key:
            return self.keys
        return {**self.keys, self.server.id: digest_of(self.server.secret)}

    def keeps(self, key_id: str) -> bool:
        """Whether a key that the controller has is to stay. A server may have one by an older key of ours."""
        return key_id in self.keys or (self.keeps_server_key and key_id.startswith(f"{self.user}-s"))


def access_of(user: str, keys: Keys | None, stored: Mapping[str, Any]) -> Access:
    """`stored`: the customer's `keys`, and whether one of them `ended_server_key`."""
    server = None
    if keys is not None:
        # The id names our key: another one makes another secret, and the controller keeps both. A cluster that was
        # resumed a hundred times leaves less room for that.
        key_id = f"{user}-s{keys.current[:5]}"[:EXTERNAL_NAME_LIMIT]
        server = ServerKey(key_id, SECRET_PREFIX + derive(keys, f"V-IPU access key {key_id}"))
    return Access(user, server, not stored["ended_server_key"], stored["keys"] or {})


def digest_of(secret: str) -> str:
    """SHA-256 in small hexadecimal digits: 256 random bits need no slow hash."""
    return sha256(secret.encode()).hexdigest()


_FACTS = sa.text(
    """
    SELECT c.external_name, r.vipu_secure, o.id AS operation_id,
           r.vipu_host, r.vipu_user_port, (SELECT max(number) FROM vipu_access_keys k
             WHERE k.project_id = c.project_id AND k.cluster_id = c.id) AS last_number
      FROM clusters c
      LEFT JOIN site_regions r ON r.region = c.region
      LEFT JOIN operations o ON o.project_id = c.project_id AND o.cluster_id = c.id AND o.finished_at IS NULL
     WHERE c.project_id = :project_id AND c.id = :cluster_id
    """
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
    """A key just promised: valid once its operation has succeeded. Its `secret` is shown once."""

    operation_id: UUID
    user: str
    id: str
    secret: str = field(repr=False)
    host: str
    port: int

    @property
    def environment(self) -> dict[str, str]:
        """What makes clients of the controller prove themselves, without the key."""
        return {
            "VIPU_CLI_API_HOST": self.host,
            "VIPU_CLI_API_PORT": str(self.port),
            "VIPU_CLI_API_USER_ID": self.user,
        }


async def rotate(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, *, ends_server_key: bool, settings: Settings
) -> NewKey:
    """Record a new key of the customer's in place of the one before, with its operation, ticket and event.

    Raises `Problem`: not_found, no_vipu, state_conflict, operation_in_progress.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    mine = {"project_id": actor.project_id, "cluster_id": cluster_id}
    facts = (await connection.execute(_FACTS, mine)).one()
    if cluster.allocated_through is not AllocatedThrough.V_IPU or not facts.vipu_secure:
        raise Problem(NO_VIPU, "The cluster has no V-IPU controller that takes users, so there is no key to replace.")
    if cluster.state not in BILLABLE:
        raise Problem(STATE_CONFLICT, "The key can be replaced while the cluster is in use. Wait until it is active.")
    if facts.operation_id is not None:
        raise in_the_way(facts.operation_id)
    number = (facts.last_number or 0) + 1
    secret = SECRET_PREFIX + secrets.token_urlsafe(SECRET_BYTES)
    name = f"{facts.external_name}-k{number}"
    made = {"name": name, "number": number, "sha256": digest_of(secret), "ends_server_key": ends_server_key}
    await connection.execute(_REPLACE, mine)
    await connection.execute(_INSERT, mine | made)
    operation_id = await open_operation(
        connection,
        project_id=actor.project_id,
        cluster_id=cluster_id,
        kind=ROTATE_KEY,
        plan=ROTATE_KEY_PLAN,
        deadline_seconds=settings.create_deadline,
        expected_seconds=EXPECTED_SECONDS,
        request_id=actor.request_id,
        token_id=actor.token_id,
    )
    await wake(connection, kind=WORK_KIND, key=str(cluster_id), project_id=actor.project_id)
    return NewKey(operation_id, facts.external_name, name, secret, facts.vipu_host, facts.vipu_user_port)
