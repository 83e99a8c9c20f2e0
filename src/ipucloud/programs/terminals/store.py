"""What is written of a terminal: its request, its key, and its end.

The login by which an API process reaches services is recorded like one, without its events.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.projects import TerminalClosed, TerminalOf
from ipucloud.contract.event_types.projects import TERMINAL_CLOSED, TERMINAL_OPENED
from ipucloud.contract.poplar_servers import LoginPurpose, TerminalEnd
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, TOO_MANY_CONNECTIONS, Problem, not_found
from ipucloud.kernel.ids import new_id
from ipucloud.reconcile.wake import wake

TERMINAL = "terminal"
"""Kind of the work items of terminals; the key is the terminal's id."""
KEY_SECONDS = 60
"""For how long the key of a terminal lets it log in."""
LOST_SECONDS = 90
"""A terminal of which nothing was heard for so long has lost its API process."""
KEPT_SECONDS = 30 * 86_400
"""So long after its end a terminal is removed; its events and entries of the audit log stay."""


class Terminal(NamedTuple):
    """A terminal that was requested, and the server that it is to reach; `host_key` is the one that was observed."""

    id: UUID
    project_id: UUID
    cluster_id: UUID
    server_id: UUID
    server: str
    host: str
    port: int
    user: str
    host_key: str
    purpose: LoginPurpose = "terminal"


class _Server(NamedTuple):
    id: UUID
    name: str
    state: str
    cluster_state: ClusterState
    host: str | None
    port: int | None
    user: str | None
    host_key: str | None


class _Standing(NamedTuple):
    key_seen: bool
    ended_by: TerminalEnd | None


class _Ended(NamedTuple):
    project_id: UUID
    cluster_id: UUID
    server: str
    connected: bool
    is_terminal: bool
    actor: str | None
    seconds: float


_LOCK_PROJECT = sa.text("SELECT pg_advisory_xact_lock(7220602, hashtext(CAST(:project_id AS text)))")
_OPEN = Query(
    "SELECT count(*) FROM terminals WHERE project_id = :project_id AND ended_at IS NULL AND purpose = 'terminal'", int
)
_SERVER = Query(
    """
    SELECT s.id, s.name, s.state, c.state AS cluster_state, s.ssh_host AS host, s.ssh_port AS port,
           s.ssh_user AS "user", s.host_key
      FROM clusters AS c JOIN poplar_servers AS s ON (s.project_id, s.cluster_id) = (c.project_id, c.id)
     WHERE c.project_id = :project_id AND c.id = :cluster_id AND s.state <> 'deleted'
       AND (s.name = :ref OR s.id::text = lower(:ref))
    """,
    _Server,
)
_INSERT = sa.text(
    """
    INSERT INTO terminals (id, project_id, cluster_id, server_id, public_key, created_by, purpose, key_until,
                           alive_at)
    VALUES (:id, :project_id, :cluster_id, :server_id, :public_key, :created_by, :purpose,
            app_now() + make_interval(secs => :seconds), app_now())
    """
)
_STANDING = Query("SELECT key_seen_at IS NOT NULL AS key_seen, ended_by FROM terminals WHERE id = :id", _Standing)
_CONNECTED = Query(
    """
    UPDATE terminals SET connected_at = app_now(), alive_at = app_now() WHERE id = :id AND ended_at IS NULL
    RETURNING actor IS NOT NULL
    """,
    bool,
)
_ACTOR = Query("SELECT coalesce(actor, '') AS actor FROM terminals WHERE id = :id", str)
_ALIVE = Query("UPDATE terminals SET alive_at = app_now() WHERE id = :id AND ended_at IS NULL RETURNING id", UUID)
_END = Query(
    """
    UPDATE terminals AS t SET ended_at = app_now(), ended_by = :ended_by
      FROM poplar_servers AS s
     WHERE t.id = :id AND t.ended_at IS NULL AND (s.project_id, s.id) = (t.project_id, t.server_id)
    RETURNING t.project_id, t.cluster_id, s.name AS server, t.connected_at IS NOT NULL AS connected,
              t.purpose = 'terminal' AS is_terminal, t.actor,
              extract(epoch FROM app_now() - coalesce(t.connected_at, t.created_at))::float8 AS seconds
    """,
    _Ended,
)
_FORGET = sa.text("DELETE FROM terminals WHERE ended_at < app_now() - make_interval(secs => :kept)")


async def request(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    ref: str,
    *,
    public_key: str,
    limit: int,
    purpose: LoginPurpose = "terminal",
) -> Terminal:
    """Record a terminal on a Poplar server, given by name or id, with the key that is to be let in.

    Raises `Problem`: not_found; state_conflict while the server cannot be logged in to; too_many_connections when the
    project has `limit` open terminals and this would be another.
    """
    ids = {"project_id": actor.project_id, "cluster_id": cluster_id}
    server = await _SERVER.one_or_none(connection, ids | {"ref": ref})
    if server is None:
        raise not_found()
    if server.cluster_state not in BILLABLE:
        raise Problem(
            STATE_CONFLICT,
            f"Only servers of a cluster in use are logged in to, and this one is {server.cluster_state}. Wait until it"
            " is active, or resume it.",
        )
    if server.state != "running" or None in {server.host, server.port, server.user, server.host_key}:
        raise Problem(STATE_CONFLICT, f"The Poplar server {server.name} is {server.state}. Wait until it is running.")
    if purpose == "terminal":
        await _require_room(connection, ids, limit)
    terminal_id = new_id()
    values = {
        "id": terminal_id,
        "server_id": server.id,
        "public_key": public_key,
        "created_by": actor.token_id,
        "purpose": purpose,
        "seconds": KEY_SECONDS,
    }
    await connection.execute(_INSERT, ids | values)
    await wake(connection, kind=TERMINAL, key=str(terminal_id), project_id=actor.project_id)
    return Terminal(
        terminal_id,
        actor.project_id,
        cluster_id,
        server.id,
        server.name,
        server.host or "",
        server.port or 0,
        server.user or "",
        server.host_key or "",
        purpose,
    )


async def _require_room(connection: AsyncConnection, ids: dict[str, UUID], limit: int) -> None:
    await connection.execute(_LOCK_PROJECT, ids)
    if await _OPEN.one(connection, ids) >= limit:
        raise Problem(
            TOO_MANY_CONNECTIONS,
            f"The project has {limit} open terminals, as many as may be. Close one.",
            headers={"Retry-After": "5"},
            extra={"limit": limit},
        )


async def key_is_seen(connection: Statements, terminal: UUID) -> bool | None:
    """Whether the server was seen to let the key in; None: the terminal is over."""
    row = await _STANDING.one(connection, {"id": terminal})
    return None if row.ended_by is not None else row.key_seen


async def mark_connected(connection: AsyncConnection, terminal: Terminal, request_id: str) -> bool:
    """The login succeeded: the key has to go. False: the terminal is over."""
    if await _CONNECTED.one_or_none(connection, {"id": terminal.id}) is None:
        return False
    if terminal.purpose == "terminal":
        actor = await _ACTOR.one(connection, {"id": terminal.id}) or None
        data = TerminalOf(cluster=terminal.cluster_id, poplar_server=terminal.server, actor=actor)
        await record(
            connection,
            TERMINAL_OPENED,
            project_id=terminal.project_id,
            subject_id=terminal.id,
            request_id=request_id,
            data=data,
        )
    await wake(connection, kind=TERMINAL, key=str(terminal.id), project_id=terminal.project_id)
    return True


async def mark_alive(connection: Statements, terminal: UUID) -> bool:
    """Its process serves it still. False: it is over."""
    return await _ALIVE.one_or_none(connection, {"id": terminal}) is not None


async def end(connection: AsyncConnection, terminal: UUID, ended_by: TerminalEnd) -> None:
    """The terminal is over, if it was not before."""
    ended = await _END.one_or_none(connection, {"id": terminal, "ended_by": ended_by})
    if ended is None:
        return
    if ended.connected and ended.is_terminal:
        data = TerminalClosed(
            cluster=ended.cluster_id,
            poplar_server=ended.server,
            actor=ended.actor,
            ended_by=ended_by,
            seconds=round(ended.seconds),
        )
        await record(connection, TERMINAL_CLOSED, project_id=ended.project_id, subject_id=terminal, data=data)
    await wake(connection, kind=TERMINAL, key=str(terminal), project_id=ended.project_id)


async def forget_terminals(database: Database) -> None:
    """Remove terminals that ended more than KEPT_SECONDS ago: long after their keys were given up, too."""
    async with database.begin() as connection:
        await connection.execute(_FORGET, {"kept": KEPT_SECONDS})
