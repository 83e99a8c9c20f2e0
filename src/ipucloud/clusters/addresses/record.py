"""An address under the lock of the transaction that changes it, and its changes of state."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.addresses.tables import ADDRESS_STATES
from ipucloud.contract.addresses import AddressState
from ipucloud.contract.event_payloads.projects import AddressAttachedTo, AddressFailed, AddressOf
from ipucloud.contract.event_types.projects import ADDRESS_ATTACHED, ADDRESS_DETACHED, ADDRESS_FAILED
from ipucloud.contract.event_types.registry import EventType
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.errors import not_found

ADDRESSES = "addresses"
"""Kind of the work items; the key is the address's id."""


class Address(NamedTuple):
    id: UUID
    project_id: UUID
    name: str
    tags: dict[str, str]
    region: str
    ip: str | None
    port: int | None
    state: AddressState
    state_reason: str | None
    cluster_id: UUID | None
    server_id: UUID | None
    revision: int


_LOCK = Query(
    """
    SELECT id, project_id, name, tags, region, ip, port, state, state_reason, cluster_id, server_id, revision
      FROM addresses WHERE project_id = :project_id AND id = :address_id FOR NO KEY UPDATE
    """,
    Address,
)
# What the site shows is as of the time at which it first showed it.
_MOVE = sa.text(
    """
    UPDATE addresses
       SET state = :state, state_reason = :state_reason, state_entered_at = app_now(), ip = :ip, port = :port,
           observed_at = CASE WHEN (ip, port) IS DISTINCT FROM (:ip, :port) THEN app_now() ELSE observed_at END,
           cluster_id = :cluster_id, server_id = :server_id, revision = :revision,
           delete_requested_at = CASE WHEN :state IN ('deleting', 'deleted')
                                      THEN coalesce(delete_requested_at, app_now()) END,
           deleted_at = CASE WHEN :state = 'deleted' THEN app_now() END
     WHERE project_id = :project_id AND id = :id
    """
).bindparams(
    sa.bindparam("state", type_=sa.Text),
    sa.bindparam("state_reason", type_=sa.Text),
    sa.bindparam("ip", type_=sa.Text),
    sa.bindparam("port", type_=sa.Integer),
    sa.bindparam("cluster_id", type_=sa.Uuid),
    sa.bindparam("server_id", type_=sa.Uuid),
)
_NOTE = sa.text(
    """
    UPDATE addresses SET state_reason = :why
     WHERE project_id = :project_id AND id = :id AND state_reason IS DISTINCT FROM :why
    """
).bindparams(sa.bindparam("why", type_=sa.Text))
_ADVANCE = sa.text("UPDATE addresses SET revision = :revision WHERE project_id = :project_id AND id = :id")
_SERVER = Query("SELECT name FROM poplar_servers WHERE project_id = :project_id AND id = :id", str)


async def lock(connection: AsyncConnection, *, project_id: UUID, address_id: UUID) -> Address:
    """The address until this transaction ends. Raises `Problem` not_found."""
    address = await _LOCK.one_or_none(connection, {"project_id": project_id, "address_id": address_id})
    if address is None:
        raise not_found()
    return address


async def move(
    connection: AsyncConnection, address: Address, state: AddressState, *, reason: str | None = None
) -> Address:
    """Enter a state, with the other fields of `address`; raises IllegalTransition."""
    ADDRESS_STATES.require(address.state, state)
    moved = address._replace(state=state, state_reason=reason)
    values = moved._asdict()
    await connection.execute(_MOVE, {name: values[name] for name in values if name not in {"name", "tags", "region"}})
    return moved


async def note(connection: AsyncConnection, address: Address, why: str | None) -> None:
    """Record what the address waits for."""
    await connection.execute(_NOTE, {"project_id": address.project_id, "id": address.id, "why": why})


async def advance(connection: AsyncConnection, address: Address, revision: int) -> None:
    """Request its attachment under a later revision."""
    await connection.execute(_ADVANCE, {"project_id": address.project_id, "id": address.id, "revision": revision})


async def report(
    connection: AsyncConnection, event: EventType, address: Address, *, request_id: str | None = None
) -> None:
    """Record an event of the address; of an attachment while `address` still names the server."""
    facts = {"name": address.name, "region": address.region, "ip": address.ip}
    data: AddressOf
    if event in {ADDRESS_ATTACHED, ADDRESS_DETACHED}:
        server = await _SERVER.one(connection, {"project_id": address.project_id, "id": address.server_id})
        data = AddressAttachedTo.model_validate({**facts, "cluster": address.cluster_id, "poplar_server": server})
    elif event is ADDRESS_FAILED:
        data = AddressFailed.model_validate({**facts, "reason": address.state_reason})
    else:
        data = AddressOf.model_validate(facts)
    await record(
        connection, event, project_id=address.project_id, subject_id=address.id, request_id=request_id, data=data
    )
