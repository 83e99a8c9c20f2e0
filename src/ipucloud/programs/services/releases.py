"""Releases of a service: another program under its name, in one step, and the way back to the one before.

Each release is a service of its own; it follows once the program of the one that it replaces has ended.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.servers import lock_cluster_in_use
from ipucloud.contract.programs import RegistryLogin
from ipucloud.contract.services import ServiceCreate, ServiceDeploy, ServiceHealthCheck
from ipucloud.db.rows import Query
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.kernel.sealing import Keys, SealingError, stored_plain
from ipucloud.programs.environment import password_place, plain_environment
from ipucloud.programs.services.queries import MEANT
from ipucloud.programs.services.store import Service, lock_one, prepared, record_new, replace

_TABLE = "services"


class _Release(NamedTuple):
    """What a release was requested with. The password of its registry is not kept once it has `ended`."""

    id: UUID
    project_id: UUID
    name: str
    command: list[str]
    directory: str | None
    environment: dict[str, str]
    image: str | None
    registry_username: str | None
    registry_password: str | None
    server_id: UUID
    port: int
    max_restarts: int
    health_check: dict[str, Any] | None
    ended: bool


_COLUMNS = """
id, project_id, name, command, directory, environment, image, registry_username, registry_password, server_id, port,
max_restarts, health_check, ended_at IS NOT NULL AS ended
"""
_OF = "FROM services WHERE project_id = :project_id AND cluster_id = :cluster_id"
_PRESENT = Query(f"SELECT {_COLUMNS} {_OF} AND {MEANT}", _Release)
_BEFORE = Query(f"SELECT {_COLUMNS} {_OF} AND name = :name AND id < :id ORDER BY id DESC LIMIT 1", _Release)


class _Present(NamedTuple):
    """The newest release of a service: its cluster and itself locked, and what it was requested with."""

    cluster: LockedCluster
    service: Service
    release: _Release


async def deploy(
    connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str, *, body: ServiceDeploy, keys: Keys | None
) -> UUID:
    """Have another release follow a service; what `body` omits is as it was. The service that the answer shows.

    Raises `Problem`: not_found, and as `store.create`.
    """
    present = await _present(connection, actor, cluster_id, ref)
    return await _follow(connection, actor, present, _merged(present.release, body, keys), keys)


async def rollback(connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str, *, keys: Keys | None) -> UUID:
    """As `deploy`, of what the release before was requested with. Raises `Problem` state_conflict if there is none."""
    present = await _present(connection, actor, cluster_id, ref)
    before: _Release | None = present.release
    if not present.service.succeeded:
        ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
        before = await _BEFORE.one_or_none(connection, ids | {"name": present.release.name, "id": present.release.id})
    if before is None:
        raise Problem(STATE_CONFLICT, f"The service {present.release.name} has no release before this one.")
    return await _follow(connection, actor, present, _merged(before, ServiceDeploy(), keys), keys)


async def _present(connection: AsyncConnection, actor: Actor, cluster_id: UUID, ref: str) -> _Present:
    """Raises `Problem`: not_found, state_conflict."""
    cluster = await lock_cluster_in_use(connection, actor, cluster_id, "Services are made")
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id, "ref": ref}
    while True:
        release = await _PRESENT.one_or_none(connection, ids)
        if release is None:
            raise not_found()
        service = await lock_one(connection, actor, cluster_id, release.id)
        if service.ended == release.ended:  # otherwise it has ended meanwhile, and another may have followed
            return _Present(cluster, service, release)


async def _follow(
    connection: AsyncConnection, actor: Actor, present: _Present, body: ServiceCreate, keys: Keys | None
) -> UUID:
    service = present.service
    values = await prepared(connection, actor, present.cluster, body, keys, instead_of=service.id)
    if service.ended:
        return await record_new(connection, actor, values)
    await replace(connection, actor, service, values)
    return service.id


def _merged(base: _Release, body: ServiceDeploy, keys: Keys | None) -> ServiceCreate:
    """What is requested: the fields of `body`, and for those that it omits what `base` was requested with."""
    given = {name: getattr(body, name) for name in body.model_fields_set}
    known: dict[str, Any] = {
        "name": base.name,
        "command": base.command,
        "directory": base.directory,
        "poplar_server": str(base.server_id),
        "port": base.port,
        "max_restarts": base.max_restarts,
        "image": base.image,
        "health_check": None if base.health_check is None else ServiceHealthCheck.model_validate(base.health_check),
    }
    if "image" not in given and "registry" not in given:
        known["registry"] = _login(base, keys)
    if "environment" not in given:
        known["environment"] = _environment(base, keys)
    if given.get("registry") is not None and (known | given)["image"] is None:
        fault = FieldError("/registry", "no_image", "A login at a registry needs the `image` that it is for.")
        raise Problem(VALIDATION_FAILED, "The release was not recorded; `errors` says why.", [fault])
    return ServiceCreate(**known | given)


def _environment(base: _Release, keys: Keys | None) -> dict[str, str]:
    try:
        return plain_environment(keys, base.environment, _TABLE, base.id, base.project_id)
    except SealingError:
        raise Problem(
            STATE_CONFLICT, "The variables of that release cannot be decrypted any more. Deploy with `environment`."
        ) from None


def _login(base: _Release, keys: Keys | None) -> RegistryLogin | None:
    """The login at the registry of the image. Raises `Problem` state_conflict when its password is not kept."""
    if base.registry_username is None:
        return None
    stored = base.registry_password
    try:
        if stored is not None:
            password = stored_plain(keys, stored, password_place(_TABLE, base.id, base.project_id))
            return RegistryLogin(username=base.registry_username, password=password)
    except SealingError:
        pass
    raise Problem(
        STATE_CONFLICT,
        f"The password of {base.registry_username} at the registry is not kept once a program has ended. Deploy with"
        " `image` and `registry`.",
    )
