"""What a pass over a cluster's partitions writes: rows, events, the operation. All inside one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.operations import OperationState
from ipucloud.contract.partitions import Origin, PartitionState
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.operations.kind import OpenOperation
from ipucloud.partitions import decide
from ipucloud.partitions.inputs import Operated, PartitionInputs, Record
from ipucloud.partitions.observation import Observation, as_stored
from ipucloud.partitions.states import IN_USE, DesiredState
from ipucloud.site.vipu_ports import Link, PartitionStatus, SeenPartition
from ipucloud.site.vipu_ports import PartitionState as Ready

_LOCK = Query(
    "SELECT state FROM clusters WHERE id = :cluster_id AND external_name = :external_name FOR NO KEY UPDATE", str
)


class _Open(NamedTuple):
    partition_id: UUID
    id: UUID
    state: OperationState


_OPEN = Query(
    """
    SELECT partition_id, id, state FROM operations
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND partition_id IS NOT NULL
       AND state NOT IN ('cancelled', 'failed', 'succeeded')
       FOR NO KEY UPDATE
    """,
    _Open,
)


async def lock(connection: AsyncConnection, inputs: PartitionInputs) -> PartitionInputs | None:
    """Hold the cluster and the open operations on its partitions for this transaction.

    Returns the inputs, with the partitions as overtaken on which another operation is open than when they were read, or
    one that is to be cancelled since: the next pass continues with them. None when the cluster is not in use any more,
    or again under another name. The operations are read by a statement of its own: one that waits for a lock sees other
    rows as they were before.
    """
    ids = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
    named = {"cluster_id": inputs.cluster_id, "external_name": inputs.external_name}
    state = await _LOCK.one_or_none(connection, named)
    failpoint("partitions.locked")
    if state not in IN_USE:
        return None
    now = {each.partition_id: (each.id, _cancelling(each)) for each in await _OPEN.all(connection, ids)}
    then = {each.partition.id: (each.operation.id, _cancelling(each.operation)) for each in inputs.operated}
    overtaken = frozenset(each.id for each in inputs.records if now.get(each.id) != then.get(each.id))
    return inputs.without(overtaken) if overtaken else inputs


def _cancelling(operation: _Open | OpenOperation) -> bool:
    return operation.state is OperationState.CANCELLING


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a row. `observed` None leaves its observation as it is; `status` None: there is nothing to say."""

    record: Record
    desired_state: DesiredState
    state: PartitionState
    reason: str | None
    observed: dict[str, object] | None
    status: Mapping[str, Any] | None
    lost: bool


def changes(inputs: PartitionInputs, observation: Observation, kept: frozenset[UUID]) -> Iterator[Change]:
    """The rows of ours that are not as they were. `kept`: ids whose desired state is reached, or given up."""
    for record in inputs.records:
        if record.removed or record.id in inputs.overtaken:
            continue
        observed = observation.partitions.get(record.external_name)
        desired_state = DesiredState.UNMANAGED if record.id in kept else record.desired_state
        lost = observed is None and _lost(record, inputs, observation)
        if observed is None and record.origin is Origin.CUSTOMER and not lost:
            continue
        reported = observation.statuses.get(record.external_name)
        state, reason = _state(record, desired_state, observed, reported)
        if state is PartitionState.MISSING:
            reason = _why_missing(record, lost=lost)
        stored = None if observed is None else as_stored(observed, inputs)
        observed_anew = stored is not None and stored != record.observed
        status = _status(record, observed, reported)
        known = (record.desired_state, record.state, record.reason, record.status, record.lost)
        if (desired_state, state, reason, status, lost) != known or observed_anew:
            yield Change(record, desired_state, state, reason, stored if observed_anew else None, status, lost)


def _why_missing(record: Record, *, lost: bool) -> str:
    if lost:
        return decide.LOST
    if record.lost:
        return decide.NOT_MADE_AGAIN
    return (record.reason if record.state is PartitionState.MISSING else None) or decide.MISSING


def _lost(record: Record, inputs: PartitionInputs, observation: Observation) -> bool:
    """Whether it was lost with the cluster's allocation, and is still to be made again."""
    if record.desired_state is not DesiredState.UNMANAGED:
        return False
    if record.state is PartitionState.MISSING and not record.lost:
        return False
    return observation.lost or (record.lost and inputs.repairing)


def _status(
    record: Record, observed: SeenPartition | None, reported: PartitionStatus | None
) -> Mapping[str, Any] | None:
    """What to store of the controller's status: the last one while it is not active and there is no new one."""
    if observed is None or observed.state is Ready.ACTIVE:
        return None
    if reported is None:
        return record.status
    at = reported.last_reset_at
    return {
        "operation_state": reported.operation.value,
        "errors": list(reported.errors),
        "auto_resets": reported.resets,
        "max_auto_resets": reported.max_resets,
        "last_auto_reset_at": None if at is None else f"{at:%Y-%m-%dT%H:%M:%S.%fZ}",
    }


def _state(
    record: Record, desired_state: DesiredState, observed: SeenPartition | None, reported: PartitionStatus | None
) -> tuple[PartitionState, str | None]:
    broken = observed is not None and observed.state is Ready.ERROR
    if desired_state is DesiredState.ABSENT:
        return (PartitionState.REMOVED if observed is None else PartitionState.REMOVING), None
    if desired_state is DesiredState.PRESENT:
        why = decide.in_error(reported, record.origin) if broken else decide.coming_up(reported)
        return PartitionState.CREATING, why
    if observed is None:
        return PartitionState.MISSING, decide.MISSING
    if broken:
        known = reported is None and record.state is PartitionState.ERROR
        return PartitionState.ERROR, record.reason if known else decide.in_error(reported, record.origin)
    if desired_state is DesiredState.RESET:
        return PartitionState.RESETTING, decide.coming_up(reported)
    return {
        Ready.ACTIVE: (PartitionState.ACTIVE, None),
        Ready.PENDING: (_coming_up(record.state), decide.coming_up(reported)),
    }.get(observed.state, (PartitionState.UNKNOWN, decide.UNKNOWN))


def _coming_up(before: PartitionState) -> PartitionState:
    return PartitionState.CREATING if before is PartitionState.CREATING else PartitionState.RESETTING


_CHANGE = sa.text(
    clauses(
        """
    WITH partition AS (
      UPDATE partitions
         SET desired_state = :desired_state, state = :state, state_reason = :reason,
             state_entered_at = CASE WHEN state = :state THEN state_entered_at ELSE app_now() END,
             observed = coalesce(CAST(:observed AS jsonb), observed),
             observed_at = CASE WHEN CAST(:observed AS jsonb) IS NULL THEN observed_at ELSE app_now() END,
             ipuof = CASE WHEN CAST(:observed AS jsonb) IS NULL THEN ipuof END,
             ipuof_at = CASE WHEN CAST(:observed AS jsonb) IS NULL THEN ipuof_at END,
             status = CAST(:status AS jsonb),
             status_at = CASE WHEN CAST(:status AS jsonb) IS NULL THEN NULL
                              WHEN :reported THEN app_now() ELSE coalesce(status_at, app_now()) END,
             lost = :lost,
             removed_at = CASE WHEN :state = 'removed' THEN app_now() END, version = version + 1
       WHERE project_id = :project_id AND id = :id
      RETURNING id, project_id, cluster_id
    )
        """,
        RECORD,
        """
    SELECT project_id, 'partition.' || :state, 'partition', id, CAST(:operation_id AS uuid), NULL,
           jsonb_strip_nulls(jsonb_build_object('cluster', cluster_id, 'reason', CAST(:reason AS text)))
      FROM partition WHERE :announced
        """,
    )
).bindparams(
    sa.bindparam("state", type_=sa.Text),
    sa.bindparam("reason", type_=sa.Text),
    sa.bindparam("announced", type_=sa.Boolean),
    sa.bindparam("reported", type_=sa.Boolean),
    sa.bindparam("lost", type_=sa.Boolean),
)
_APPEARED = sa.text(
    """
    INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state,
        state_reason, observed, observed_at)
    VALUES (:id, :project_id, :cluster_id, :origin, :name, :name, 'unmanaged', :state, :reason,
        CAST(:observed AS jsonb), app_now())
    ON CONFLICT (cluster_id, external_name) DO NOTHING
    """
)
_VANISHED = sa.text(
    """
    DELETE FROM partitions
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND origin = 'customer' AND NOT lost
       AND external_name <> ALL (CAST(:names AS text[]))
    """
)
_STILL = sa.text(
    """
    UPDATE partitions
       SET observed_at = app_now(),
           status_at = CASE WHEN external_name = ANY (CAST(:reported AS text[])) AND status IS NOT NULL THEN app_now()
                            ELSE status_at END
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND removed_at IS NULL AND observed IS NOT NULL
       AND external_name = ANY (CAST(:names AS text[]))
    """
)
_CONFIG = sa.text(
    """
    UPDATE partitions SET ipuof = CAST(:ipuof AS jsonb), ipuof_at = app_now(), version = version + 1
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND external_name = :name AND removed_at IS NULL
    """
)


_LINKS = sa.text(
    """
    INSERT INTO vipu_links (cluster_id, project_id, links) VALUES (:cluster_id, :project_id, CAST(:links AS jsonb))
    ON CONFLICT (cluster_id) DO UPDATE SET links = excluded.links, observed_at = app_now()
    """
)


def _stored(links: Sequence[Link]) -> list[list[object]]:
    return [[link.kind, sorted(link.ends), link.state] for link in links]


async def write(
    connection: AsyncConnection, inputs: PartitionInputs, observation: Observation, kept: frozenset[UUID] = frozenset()
) -> bool:
    """Write what was observed to the rows; returns whether any changed."""
    ids = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
    names = sorted(observation.partitions)
    changed = list(changes(inputs, observation, kept))
    for change in changed:
        await connection.execute(_CHANGE, _values(inputs, change, observation))
    gone = (await connection.execute(_VANISHED, ids | {"names": names})).rowcount
    failpoint("partitions.rows_changed")
    strangers = [each for each in observation.partitions.values() if each.id not in inputs.by_name]
    for stranger in strangers:
        await connection.execute(_APPEARED, ids | _appeared(inputs, stranger, observation))
    await connection.execute(_STILL, ids | {"names": names, "reported": sorted(observation.statuses)})
    for name, gcds in observation.configs.items():
        await connection.execute(_CONFIG, ids | {"name": name, "ipuof": orjson.dumps(gcds).decode()})
    if observation.links is not None:
        await connection.execute(_LINKS, ids | {"links": orjson.dumps(_stored(observation.links)).decode()})
    failpoint("partitions.observed")
    return bool(gone or changed or strangers or observation.configs)


def _values(inputs: PartitionInputs, change: Change, observation: Observation) -> dict[str, Any]:
    operation = inputs.operation_of.get(change.record.id)
    return {
        "project_id": inputs.project_id,
        "id": change.record.id,
        "desired_state": change.desired_state.value,
        "state": change.state.value,
        "reason": change.reason,
        "status": None if change.status is None else orjson.dumps(change.status).decode(),
        "reported": change.record.external_name in observation.statuses,
        "lost": change.lost,
        "observed": None if change.observed is None else orjson.dumps(change.observed).decode(),
        "operation_id": None if operation is None else operation.id,
        "announced": change.state is not change.record.state and change.record.origin is not Origin.CUSTOMER,
    }


_FIRST_SEEN = {
    Ready.ACTIVE: PartitionState.ACTIVE,
    Ready.PENDING: PartitionState.CREATING,
    Ready.ERROR: PartitionState.ERROR,
}


def _appeared(inputs: PartitionInputs, partition: SeenPartition, observation: Observation) -> dict[str, object]:
    origin = Origin.CLUSTER if partition.id == inputs.external_name else Origin.CUSTOMER
    broken = partition.state is Ready.ERROR
    return {
        "id": new_id(),
        "origin": origin.value,
        "name": partition.id,
        "state": _FIRST_SEEN.get(partition.state, PartitionState.UNKNOWN).value,
        "reason": decide.in_error(observation.statuses.get(partition.id), origin) if broken else None,
        "observed": orjson.dumps(as_stored(partition, inputs)).decode(),
    }


_UNDO = sa.text(
    """
    UPDATE partitions SET desired_state = 'absent', state = 'removing', state_entered_at = app_now(),
        version = version + 1
     WHERE project_id = :project_id AND id = :partition_id
    """
)
_RESET = sa.text(
    """
    UPDATE partitions
       SET reset_fence = :fence, reset_confirmed = :confirmed, reset_sent_at = app_now(), version = version + 1
     WHERE project_id = :project_id AND id = :partition_id
    """
).bindparams(sa.bindparam("confirmed", type_=sa.Boolean))

COUNT_ANEW = (sa.text("UPDATE partitions SET reset_sent_at = app_now() WHERE reset_sent_at > app_now()"),)
"""The instants that the life of a reset is counted from, when the database's clock was set back behind them."""


def _key(operated: Operated) -> dict[str, object]:
    return {"project_id": operated.project_id, "partition_id": operated.partition.id}


async def undo(connection: AsyncConnection, operated: Operated) -> None:
    """A partition that could not be made is removed, whatever there is of it."""
    await connection.execute(_UNDO, _key(operated))
    failpoint("partitions.undo_begun")


async def mark_reset(
    connection: AsyncConnection, operated: Operated, fence: int | None, *, confirmed: bool = False
) -> None:
    """Put on record how far the reset is: about to be sent under `fence`, confirmed, or (None) to be begun again."""
    await connection.execute(_RESET, _key(operated) | {"fence": fence, "confirmed": confirmed})
    failpoint("partitions.reset_marked")


_KEEP = sa.text(
    """
    UPDATE partitions
       SET desired_state = 'unmanaged', reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = :project_id AND id = :partition_id
    """
)


async def keep(connection: AsyncConnection, operated: Operated) -> None:
    """Nothing more is wanted of the partition; the next pass records how it is."""
    await connection.execute(_KEEP, _key(operated))
    failpoint("partitions.given_up")
