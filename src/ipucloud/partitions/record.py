"""What a pass over a cluster's partitions writes: rows, events, the operation. All inside one transaction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.partitions import Origin, PartitionState
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.partitions.inputs import PartitionInputs, Record
from ipucloud.partitions.observation import Observation, as_stored
from ipucloud.partitions.states import IN_USE, DesiredState
from ipucloud.site.ports import Link, SeenPartition
from ipucloud.site.ports import PartitionState as Ready

_LOCK = Query(
    "SELECT state FROM clusters WHERE id = :cluster_id AND external_name = :external_name FOR NO KEY UPDATE", str
)
_OPEN = Query(
    """
    SELECT id FROM operations
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND finished_at IS NULL AND partition_id IS NOT NULL
    """,
    UUID,
)


async def lock(connection: AsyncConnection, inputs: PartitionInputs) -> bool:
    """Hold the cluster for this transaction.

    False when another operation is open than when the inputs were read, or the cluster is not in use any more, or again
    under another name. The operation is read by a statement of its own: one that waits for a lock sees other rows as
    they were before.
    """
    mine = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
    named = {"cluster_id": inputs.cluster_id, "external_name": inputs.external_name}
    state = await _LOCK.one_or_none(connection, named)
    failpoint("partitions.locked")
    expected = None if inputs.operation is None else inputs.operation.id
    return state in IN_USE and await _OPEN.one_or_none(connection, mine) == expected


@dataclass(frozen=True, slots=True)
class Change:
    """The change of a row. `seen` None leaves its observation as it is."""

    record: Record
    desired_state: DesiredState
    state: PartitionState
    reason: str | None
    seen: dict[str, object] | None


_MISSING = "the controller no longer shows it, although its removal was not requested here"
_BROKEN = "one of its machines or links is faulty; the controller resets it a few times by itself"
_UNKNOWN = "the controller reports a state unknown to this version"


def changes(inputs: PartitionInputs, observation: Observation, kept: frozenset[UUID]) -> Iterator[Change]:
    """The rows of ours that are not as they were. `kept`: ids whose desired state is reached, or given up."""
    for record in inputs.records:
        if record.removed:
            continue
        seen = observation.seen.get(record.external_name)
        desired_state = DesiredState.UNMANAGED if record.id in kept else record.desired_state
        if seen is None and record.origin is Origin.CUSTOMER:
            continue
        state, reason = _state(record, desired_state, seen)
        stored = None if seen is None else as_stored(seen, inputs)
        observed_anew = stored is not None and stored != record.observed
        if (desired_state, state) != (record.desired_state, record.state) or observed_anew:
            yield Change(record, desired_state, state, reason, stored if observed_anew else None)


def _state(
    record: Record, desired_state: DesiredState, seen: SeenPartition | None
) -> tuple[PartitionState, str | None]:
    if desired_state is DesiredState.ABSENT:
        return (PartitionState.REMOVED if seen is None else PartitionState.REMOVING), None
    if desired_state is DesiredState.PRESENT:
        return PartitionState.CREATING, None
    if seen is None:
        return PartitionState.MISSING, _MISSING
    if seen.state is Ready.ERROR:
        return PartitionState.ERROR, _BROKEN
    if desired_state is DesiredState.RESET:
        return PartitionState.RESETTING, None
    return {
        Ready.ACTIVE: (PartitionState.ACTIVE, None),
        Ready.PENDING: (_coming_up(record.state), None),
    }.get(seen.state, (PartitionState.UNKNOWN, _UNKNOWN))


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
             removed_at = CASE WHEN :state = 'removed' THEN app_now() END, version = version + 1
       WHERE project_id = :project_id AND id = :id
      RETURNING id, project_id, cluster_id
    )
        """,
        RECORD,
        """
    SELECT project_id, 'partition.' || :state, 'partition', id, CAST(:operation_id AS uuid), NULL,
           jsonb_build_object('cluster', cluster_id)
      FROM partition WHERE :announced
        """,
    )
).bindparams(
    sa.bindparam("state", type_=sa.Text),
    sa.bindparam("reason", type_=sa.Text),
    sa.bindparam("announced", type_=sa.Boolean),
)
_APPEARED = sa.text(
    """
    INSERT INTO partitions (id, project_id, cluster_id, origin, name, external_name, desired_state, state, observed,
        observed_at)
    VALUES (:id, :project_id, :cluster_id, :origin, :name, :name, 'unmanaged', :state, CAST(:observed AS jsonb),
        app_now())
    ON CONFLICT (cluster_id, external_name) DO NOTHING
    """
)
_VANISHED = sa.text(
    """
    DELETE FROM partitions
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND origin = 'customer'
       AND external_name <> ALL (CAST(:seen AS text[]))
    """
)
_STILL = sa.text(
    """
    UPDATE partitions SET observed_at = app_now()
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND removed_at IS NULL AND observed IS NOT NULL
       AND external_name = ANY (CAST(:seen AS text[]))
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
    mine = {"project_id": inputs.project_id, "cluster_id": inputs.cluster_id}
    seen = sorted(observation.seen)
    gone = (await connection.execute(_VANISHED, mine | {"seen": seen})).rowcount
    made = list(changes(inputs, observation, kept))
    for change in made:
        await connection.execute(_CHANGE, _values(inputs, change))
    failpoint("partitions.rows_changed")
    strangers = [each for each in observation.seen.values() if each.id not in inputs.by_name]
    for stranger in strangers:
        await connection.execute(_APPEARED, mine | _appeared(inputs, stranger))
    await connection.execute(_STILL, mine | {"seen": seen})
    for name, gcds in observation.configs.items():
        await connection.execute(_CONFIG, mine | {"name": name, "ipuof": orjson.dumps(gcds).decode()})
    if observation.links is not None:
        await connection.execute(_LINKS, mine | {"links": orjson.dumps(_stored(observation.links)).decode()})
    failpoint("partitions.observed")
    return bool(gone or made or strangers or observation.configs)


def _values(inputs: PartitionInputs, change: Change) -> dict[str, Any]:
    operation = inputs.operation if inputs.operated == change.record.id else None
    return {
        "project_id": inputs.project_id,
        "id": change.record.id,
        "desired_state": change.desired_state.value,
        "state": change.state.value,
        "reason": change.reason,
        "observed": None if change.seen is None else orjson.dumps(change.seen).decode(),
        "operation_id": None if operation is None else operation.id,
        "announced": change.state is not change.record.state and change.record.origin is not Origin.CUSTOMER,
    }


_FIRST_SEEN = {
    Ready.ACTIVE: PartitionState.ACTIVE,
    Ready.PENDING: PartitionState.CREATING,
    Ready.ERROR: PartitionState.ERROR,
}


def _appeared(inputs: PartitionInputs, seen: SeenPartition) -> dict[str, object]:
    return {
        "id": new_id(),
        "origin": (Origin.CLUSTER if seen.id == inputs.external_name else Origin.CUSTOMER).value,
        "name": seen.id,
        "state": _FIRST_SEEN.get(seen.state, PartitionState.UNKNOWN).value,
        "observed": orjson.dumps(as_stored(seen, inputs)).decode(),
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


def _operated(inputs: PartitionInputs) -> dict[str, object]:
    return {"project_id": inputs.project_id, "partition_id": inputs.operated}


async def undo(connection: AsyncConnection, inputs: PartitionInputs) -> None:
    """A partition that could not be made is removed, whatever there is of it."""
    await connection.execute(_UNDO, _operated(inputs))
    failpoint("partitions.undo_begun")


async def mark_reset(
    connection: AsyncConnection, inputs: PartitionInputs, fence: int | None, *, confirmed: bool = False
) -> None:
    """Put on record how far the reset is: about to be sent under `fence`, confirmed, or (None) to be begun again."""
    await connection.execute(_RESET, _operated(inputs) | {"fence": fence, "confirmed": confirmed})
    failpoint("partitions.reset_marked")


_KEEP = sa.text(
    """
    UPDATE partitions
       SET desired_state = 'unmanaged', reset_fence = NULL, reset_sent_at = NULL, reset_confirmed = false,
           version = version + 1
     WHERE project_id = :project_id AND id = :partition_id
    """
)


async def keep(connection: AsyncConnection, inputs: PartitionInputs) -> None:
    """Nothing more is wanted of the partition; the next pass records how it is."""
    await connection.execute(_KEEP, _operated(inputs))
    failpoint("partitions.given_up")
