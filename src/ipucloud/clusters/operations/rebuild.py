"""Writing Poplar servers again: with another image, other user data or keys, their disks kept or wiped.

Machines, V-IPU allocation and partitions stay. A cluster all of whose servers are written cannot be used meanwhile: it
is `rebuilding` and not billed, as during a repair. When only some are, it stays in use, as during a restart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters import step_objects
from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.locks import LockedCluster, in_the_way, lock_cluster
from ipucloud.clusters.operations.begin import begin, end_billing, repeated
from ipucloud.clusters.operations.effects import record_servers
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind, ClusterStep, fails_with
from ipucloud.clusters.servers import StoredUserData, user_data_place, user_data_to_store
from ipucloud.clusters.ssh_keys import as_stored, choose_keys
from ipucloud.clusters.states import BILLABLE, CLUSTER_STATES
from ipucloud.clusters.steps.poplar_servers import ServersAnswer
from ipucloud.clusters.steps.rebuild import Settled, check_servers, count_ipus, rebuild_servers, settle_rebuild
from ipucloud.clusters.volumes.snapshots.images import find_own_image, hold_image, image_faults, image_name
from ipucloud.config import Settings
from ipucloud.contract.clusters import ClusterRebuild, ClusterState, DiskChoice
from ipucloud.contract.event_payloads.clusters import ServersRebuilt
from ipucloud.contract.event_types.clusters import CLUSTER_SERVERS_REBUILT
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NOT_CONFIGURED, STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.sealing import SealingError
from ipucloud.operations.kind import Billing, Repeated, Undo
from ipucloud.operations.results import Achieved
from ipucloud.operations.step import Stage
from ipucloud.operations.store import Accepted

_BEGIN = sa.text(
    """
    WITH begun AS (
      UPDATE cluster_rebuilds SET begun_at = app_now()
       WHERE project_id = :project_id AND operation_id = :operation_id
    )
    UPDATE poplar_servers SET generation = generation + 1
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND state = 'rebuilding'
    """
)
_APPLY = sa.text(
    """
    UPDATE clusters c
       SET image = rebuild.image, user_data = rebuild.user_data, ssh_keys = rebuild.ssh_keys, version = version + 1
      FROM cluster_rebuilds rebuild
     WHERE rebuild.project_id = :project_id AND rebuild.operation_id = :operation_id
       AND c.project_id = :project_id AND c.id = :cluster_id
    """
)
_SETTLE = sa.text(
    """
    UPDATE poplar_servers SET state = 'running'
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND state = 'rebuilding'
    """
)


async def _record_begun(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
    """From now on requests may be under way: their generation is used up, whatever becomes of them."""
    await connection.execute(_BEGIN, _ids(cluster) | {"operation_id": cluster.operation.id})
    failpoint("cluster.rebuild_begun")


async def _record_rebuilt(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    if not isinstance(achieved, ServersAnswer):
        raise TypeError("servers are recorded from their answers")
    await _apply(connection, cluster, [server.ordinal for server in achieved.servers])
    await record_servers(connection, cluster, achieved)
    failpoint("cluster.servers_rebuilt")


async def _record_settled(connection: AsyncConnection, cluster: ClusterInputs, achieved: Achieved) -> None:
    if not isinstance(achieved, Settled):
        raise TypeError("the end of a rebuild is recorded from what was found")
    if achieved.written:
        await _apply(connection, cluster, achieved.written)
    if achieved.reachable:
        await record_servers(connection, cluster, ServersAnswer(achieved.reachable))
    await connection.execute(_SETTLE, _ids(cluster))
    failpoint("cluster.rebuild_settled")


async def _apply(connection: AsyncConnection, cluster: ClusterInputs, ordinals: Iterable[int]) -> None:
    """The cluster has what its servers were written with, unless an earlier step recorded that."""
    rebuilding = {host.ordinal: host.server_name for host in cluster.hosts if host.rebuilding}
    servers = [rebuilding[ordinal] for ordinal in ordinals if ordinal in rebuilding]
    if cluster.rebuild is None or not servers:
        return
    await connection.execute(_APPLY, _ids(cluster) | {"operation_id": cluster.operation.id})
    image = await image_name(connection, cluster.image, project_id=cluster.project_id)
    await record(
        connection,
        CLUSTER_SERVERS_REBUILT,
        project_id=cluster.project_id,
        subject_id=cluster.id,
        operation_id=cluster.operation.id,
        data=ServersRebuilt(servers=servers, image=image, disk=cluster.rebuild.disk),
    )


def _ids(cluster: ClusterInputs) -> dict[str, object]:
    return {"project_id": cluster.project_id, "cluster_id": cluster.id}


_step = partial(ClusterStep, stage=Stage("CLUSTER_REBUILD", 490), asks=step_objects.hosts)
_STEPS = (
    _step(name="check_servers", act=check_servers, on_success=_record_begun),
    _step(name="rebuild_servers", act=rebuild_servers, on_success=_record_rebuilt),
    _step(name="count_ipus", act=count_ipus),
)
_SETTLING = (_step(name="settle_rebuild", act=settle_rebuild, endures=True, on_success=_record_settled),)
_kind = partial(
    ClusterKind,
    work_kind=WORK_KIND,
    steps=_STEPS,
    states=CLUSTER_STATES,
    begins_in=BILLABLE,
    cancellable=True,
    repeated=Repeated.JOINS,
    deadline=None,
    preceding=(),
    replacing=(),
    failure=fails_with(
        "The cluster is in use again. The last step says which servers were written all the same; one that is not back"
        " is shown as a fault.",
        "Rebuild again",
    ),
)

REBUILD = _kind(
    name="cluster.rebuild",
    during=ClusterState.REBUILDING,
    success=ClusterState.ACTIVE,
    undo=Undo(steps=_SETTLING, what="the rebuild", cancelled=ClusterState.ACTIVE, failed=ClusterState.ACTIVE),
    billing=Billing.PAUSES,
)
REBUILD_SERVERS = _kind(
    name="cluster.rebuild-servers",
    during=None,
    success=None,
    undo=Undo(steps=_SETTLING, what="the rebuild", cancelled=None, failed=None),
    billing=Billing.UNCHANGED,
    beside_partitions=True,
)
"""Of some servers of several: the others go on, and so does billing."""


class _Request(NamedTuple):
    """What servers are written with."""

    disk: DiskChoice
    image: str
    user_data: str | None
    ssh_keys: list[dict[str, str]]


class _Present(NamedTuple):
    """What the cluster has, and the servers that an open operation writes. `request`: what with; None: nothing does."""

    image: str
    user_data: str | None
    ssh_keys: list[dict[str, str]]
    keys_revision: int
    servers: list[str]
    rebuilding: list[str]
    request: dict[str, object] | None


_PRESENT = Query(
    """
    SELECT c.image, c.user_data, c.ssh_keys, c.keys_revision,
           ARRAY(SELECT name FROM poplar_servers s WHERE s.project_id = c.project_id AND s.cluster_id = c.id
                  ORDER BY ordinal) AS servers,
           ARRAY(SELECT name FROM poplar_servers s WHERE s.project_id = c.project_id AND s.cluster_id = c.id
                    AND s.state = 'rebuilding' ORDER BY ordinal) AS rebuilding,
           (SELECT json_build_object('disk', r.disk, 'image', r.image, 'user_data', r.user_data, 'ssh_keys', r.ssh_keys)
              FROM cluster_rebuilds r JOIN operations o ON o.project_id = r.project_id AND o.id = r.operation_id
             WHERE r.project_id = c.project_id AND r.cluster_id = c.id AND o.finished_at IS NULL) AS request
      FROM clusters c WHERE c.project_id = :project_id AND c.id = :cluster_id
    """,
    _Present,
)
_ASK = sa.text(
    """
    INSERT INTO cluster_rebuilds
           (operation_id, project_id, cluster_id, disk, image, user_data, ssh_keys, keys_revision)
    VALUES (:operation_id, :project_id, :cluster_id, :disk, :image, :user_data, CAST(:ssh_keys AS jsonb),
            :keys_revision)
    """
).bindparams(sa.bindparam("user_data", type_=sa.Text))
_CHOOSE = sa.text(
    """
    WITH counted AS (
      UPDATE clusters SET keys_revision = :keys_revision WHERE project_id = :project_id AND id = :cluster_id
    )
    UPDATE poplar_servers SET state = 'rebuilding'
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND name = ANY (CAST(:names AS text[]))
    """
)


async def rebuild(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    *,
    body: ClusterRebuild,
    catalogue: Catalogue,
    if_match: int | None,
    settings: Settings,
) -> Accepted:
    """Record that servers are to be rebuilt; image, user data and keys change when they are.

    Raises `Problem`: not_found, precondition_failed, validation_failed for an image, key or server that does not exist,
    operation_in_progress, state_conflict for a cluster that is not in use.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    failpoint("rebuild.cluster_locked")
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    present = _readable(await _PRESENT.one(connection, ids), cluster, settings)
    names = list(dict.fromkeys(body.poplar_servers or present.servers))
    kind = REBUILD if {*names} >= {*present.servers} else REBUILD_SERVERS
    running = await repeated(connection, actor, cluster, kind, if_match=if_match)
    if running is None and cluster.state not in kind.begins_in:
        raise _not_in_use(cluster)
    request, faults = await _request(connection, cluster, body, present, catalogue)
    faults += _unknown_servers(body.poplar_servers or (), present.servers)
    if kind is REBUILD_SERVERS:
        faults += _changes_of_some(request, present)
    if running is not None:
        if faults or request._asdict() != present.request or {*names} != {*present.rebuilding}:
            raise in_the_way(running.operation_id)
        return running
    if faults:
        raise Problem(VALIDATION_FAILED, "Nothing is rebuilt; `errors` says why.", faults)
    accepted = await begin(connection, actor, cluster, kind, deadline_seconds=settings.create_deadline)
    revision = present.keys_revision + (request.ssh_keys != present.ssh_keys)
    where = user_data_place(cluster.id, cluster.project_id)
    stored = request._replace(user_data=user_data_to_store(settings.sealing_keys(), request.user_data, where))
    await _record_request(connection, cluster, accepted, stored, revision=revision, names=names)
    if kind is REBUILD:
        await end_billing(connection, cluster)
    return accepted


def _readable(present: _Present, cluster: LockedCluster, settings: Settings) -> _Present:
    """With its user data decrypted. Raises `Problem` not_configured when the key that encrypted them is missing."""
    keys, where = settings.sealing_keys(), user_data_place(cluster.id, cluster.project_id)

    def plain(text: str | None) -> str | None:
        return StoredUserData(text, keys, where).plain

    request = present.request
    try:
        if request is not None:
            request = request | {
                "user_data": plain(None if request["user_data"] is None else str(request["user_data"]))
            }
        return present._replace(user_data=plain(present.user_data), request=request)
    except SealingError:
        detail = (
            "The cluster's user data cannot be decrypted. The operator of this installation must set"
            " IPUCLOUD_SECRETS_KEY to the key that they were encrypted with; until then the same request is refused."
        )
        raise Problem(NOT_CONFIGURED, detail) from None


async def _record_request(
    connection: AsyncConnection,
    cluster: LockedCluster,
    accepted: Accepted,
    request: _Request,
    *,
    revision: int,
    names: Sequence[str],
) -> None:
    """What the servers are to be written with, the keys under this revision."""
    ids = {"project_id": cluster.project_id, "cluster_id": cluster.id, "keys_revision": revision}
    values = request._asdict() | {"ssh_keys": orjson.dumps(request.ssh_keys).decode()}
    await connection.execute(_ASK, ids | values | {"operation_id": accepted.operation_id})
    await connection.execute(_CHOOSE, ids | {"names": [*names]})
    failpoint("rebuild.servers_chosen")


def _not_in_use(cluster: LockedCluster) -> Problem:
    how = {
        ClusterState.SUSPENDED: "resume it first",
        ClusterState.ERROR: "delete it and create another",
        ClusterState.DELETED: "create another",
    }.get(cluster.state, "wait until it is active")
    return Problem(
        STATE_CONFLICT, f"Only servers of a cluster in use can be rebuilt; this cluster is {cluster.state}: {how}."
    )


async def _request(
    connection: AsyncConnection,
    cluster: LockedCluster,
    body: ClusterRebuild,
    present: _Present,
    catalogue: Catalogue,
) -> tuple[_Request, list[FieldError]]:
    """What the servers are to be written with, and what is wrong with that."""
    keys, faults = present.ssh_keys, list[FieldError]()
    if body.ssh_keys is not None:
        kept = {key["name"]: key["public_key"] for key in present.ssh_keys}
        chosen, refused = await choose_keys(connection, body.ssh_keys, project_id=cluster.project_id, present=kept)
        keys = as_stored(chosen)
        faults += refused
    own = await find_own_image(connection, catalogue, body.image or present.image, project_id=cluster.project_id)
    image = body.image or present.image if own is None else own.external_name
    if own is not None:
        await hold_image(connection, image, project_id=cluster.project_id)
    if body.image is not None:
        faults += image_faults(body.image, cluster.region, catalogue, own)
    elif own is None:
        faults += _no_longer_offered(image, cluster.region, catalogue)
    user_data = body.user_data if "user_data" in body.model_fields_set else present.user_data
    return _Request(body.disk, image, user_data, keys), faults


def _no_longer_offered(image: str, region: str, catalogue: Catalogue) -> Iterator[FieldError]:
    for fault in image_faults(image, region, catalogue, None):
        sentence = f"The cluster's image {image} is no longer offered in its region; choose another. {fault.detail}"
        yield FieldError("/image", "not_in_region", sentence)


def _unknown_servers(names: Sequence[str], known: Sequence[str]) -> Iterator[FieldError]:
    has = f"The cluster has no such Poplar server; it has {', '.join(known)}."
    for place, name in enumerate(names):
        if name not in known:
            yield FieldError(f"/poplar_servers/{place}", "unknown_server", has)


def _changes_of_some(request: _Request, present: _Present) -> Iterator[FieldError]:
    for field in ("image", "user_data", "ssh_keys"):
        if getattr(request, field) != getattr(present, field):
            sentence = "It is the cluster's: leave it out, or rebuild all Poplar servers (no `poplar_servers`)."
            yield FieldError(f"/{field}", "needs_all_servers", sentence)
