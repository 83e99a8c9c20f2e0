"""The SSH keys that a cluster's servers are to accept: chosen among the project's keys, and kept with the cluster."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.identity.ssh_authorities import CURRENT_AUTHORITY
from ipucloud.kernel.errors import FieldError

Keys = Mapping[str, str]
"""`authorized_keys` lines by the names of the keys, in order."""


class PresentKeys(NamedTuple):
    """The keys of a cluster, and the authority whose certificates its servers are to accept.

    `observed`: whether all of its servers were last seen to accept exactly these. `current_authority`: the project's.
    """

    keys: list[dict[str, str]]
    authority: str | None
    current_authority: str | None
    observed: bool

    @property
    def by_name(self) -> Keys:
        return {key["name"]: key["public_key"] for key in self.keys}


_PRESENT = Query(
    f"""
    SELECT c.ssh_keys AS keys, c.ssh_authority AS authority, {CURRENT_AUTHORITY} AS current_authority,
           coalesce(bool_and(s.ssh_keys IS NOT DISTINCT FROM c.ssh_keys
                             AND s.ssh_authority IS NOT DISTINCT FROM c.ssh_authority), true) AS observed
      FROM clusters c LEFT JOIN poplar_servers s ON s.project_id = c.project_id AND s.cluster_id = c.id
     WHERE c.project_id = :project_id AND c.id = :cluster_id
     GROUP BY c.project_id, c.id
    """,  # noqa: S608  # our own text
    PresentKeys,
)


_TRUST = sa.text(
    f"""
    UPDATE clusters SET keys_revision = keys_revision + 1, ssh_authority = {CURRENT_AUTHORITY}
     WHERE project_id = :project_id AND id = :cluster_id AND ssh_authority IS DISTINCT FROM {CURRENT_AUTHORITY}
    """  # noqa: S608  # our own text
)


class _Row(NamedTuple):
    name: str | None
    public_key: str | None


_FIND = Query(
    """
    SELECT DISTINCT ON (requested.place) k.name, k.public_key
      FROM unnest(CAST(:refs AS text[])) WITH ORDINALITY AS requested (ref, place)
      LEFT JOIN ssh_keys k ON k.project_id = :project_id AND requested.ref IN (k.name, k.id::text)
     ORDER BY requested.place, k.name = requested.ref DESC
    """,
    _Row,
)
_REPLACE = sa.text(
    f"""
    UPDATE clusters
       SET ssh_keys = CAST(:keys AS jsonb), ssh_authority = {CURRENT_AUTHORITY}, keys_revision = keys_revision + 1
     WHERE project_id = :project_id AND id = :cluster_id
    """  # noqa: S608  # our own text
)


async def present_keys(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> PresentKeys:
    return await _PRESENT.one(connection, {"project_id": project_id, "cluster_id": cluster_id})


async def choose_keys(
    connection: AsyncConnection, refs: Sequence[str], *, project_id: UUID, present: Keys
) -> tuple[Keys, Sequence[FieldError]]:
    """The project's keys of these names or ids, and what is wrong with the choice.

    A key in `present`, those of the cluster, can be kept by its name after the project has deleted it.
    """
    rows = await _FIND.all(connection, {"project_id": project_id, "refs": [*refs]})
    chosen: dict[str, str] = {}
    faults: list[FieldError] = []
    for place, (ref, key) in enumerate(zip(refs, rows, strict=True)):
        if key.name is not None and key.public_key is not None:
            chosen[key.name] = key.public_key
        elif ref in present:
            chosen[ref] = present[ref]
        else:
            sentence = "The project has no SSH key with this name or id; `GET …/ssh-keys` lists them."
            faults.append(FieldError(f"/ssh_keys/{place}", "unknown_ssh_key", sentence))
    if not refs and present:
        sentence = "Nobody could log in. Name at least one key; to replace the last one, name its successor."
        faults.append(FieldError("/ssh_keys", "last_ssh_key", sentence))
    return chosen, faults


async def trust_current_authority(connection: AsyncConnection, *, project_id: UUID, cluster_id: UUID) -> None:
    """Have a locked cluster's servers accept the certificates of the project's authority, under the next revision."""
    await connection.execute(_TRUST, {"project_id": project_id, "cluster_id": cluster_id})


async def replace_keys(connection: AsyncConnection, keys: Keys, *, project_id: UUID, cluster_id: UUID) -> None:
    """Record the keys that a locked cluster's servers are to accept beside the project's authority, under the next
    revision.
    """
    stored = orjson.dumps(as_stored(keys)).decode()
    await connection.execute(_REPLACE, {"project_id": project_id, "cluster_id": cluster_id, "keys": stored})


def as_stored(keys: Keys) -> list[dict[str, str]]:
    return [{"name": name, "public_key": key} for name, key in keys.items()]
