"""Brings the key of a terminal to its server, takes it away after the login, and ends terminals that nobody serves."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias
from uuid import UUID

import sqlalchemy as sa
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.programs.terminals import store
from ipucloud.programs.terminals.store import KEY_SECONDS, LOST_SECONDS, TERMINAL
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import SiteError, SiteRefused, Sites
from ipucloud.wire.site import LoginKey

log = structlog.get_logger(__name__)

POLL_SECONDS = 30.0
"""Between two readings of a terminal that is open."""
AGAIN_SECONDS = 5.0
"""Between two attempts at a site that does not answer."""
GIVE_UP_SECONDS = 600
"""So long after its time a key is no longer taken away: its site ended it."""


class Task(StrEnum):
    """What is to be done with the key."""

    PUT = "put"
    REMOVE = "remove"
    NOTHING = "nothing"


class Result(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class TerminalInputs:
    id: UUID
    task: Task
    lost: bool
    ended: bool
    public_key: str
    server: str
    network: str
    host: str


class _Row(NamedTuple):
    leased: bool
    id: UUID | None
    public_key: str | None
    key_seen: bool
    key_gone: bool
    needs_key: bool
    given_up: bool
    lost: bool
    ended: bool
    server: str | None
    network: str | None
    host: str | None


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, t.id, t.public_key, t.key_seen_at IS NOT NULL AS key_seen,
           t.key_gone_at IS NOT NULL AS key_gone,
           t.ended_at IS NULL AND t.connected_at IS NULL AND t.key_until > app_now() AS needs_key,
           t.key_until < app_now() - make_interval(secs => :give_up) AS given_up,
           t.ended_at IS NULL AND t.alive_at < app_now() - make_interval(secs => :lost) AS lost,
           t.ended_at IS NOT NULL AS ended, s.name AS server, c.external_name AS network, h.name AS host
      FROM work AS w
      LEFT JOIN terminals AS t ON t.id = CAST(w.key AS uuid)
      LEFT JOIN clusters AS c ON (c.project_id, c.id) = (t.project_id, t.cluster_id)
      LEFT JOIN poplar_servers AS s ON (s.project_id, s.id) = (t.project_id, t.server_id)
      LEFT JOIN allocations AS held
        ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
       AND held.host_id IS NOT NULL AND held.released_at IS NULL
      LEFT JOIN hosts AS h ON h.id = held.host_id
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    _Row,
)
_SEEN = sa.text("UPDATE terminals SET key_seen_at = app_now() WHERE id = :id")
_GONE = sa.text("UPDATE terminals SET key_gone_at = app_now() WHERE id = :id")

Loaded: TypeAlias = TerminalInputs | Outcome


class TerminalReconciler:
    """The key of one terminal."""

    kind = TERMINAL

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    async def load(self, connection: Statements, item: WorkItem) -> Loaded:
        row = await inputs_of(connection, _LOAD, item, give_up=GIVE_UP_SECONDS, lost=LOST_SECONDS)
        if row.id is None or row.public_key is None:
            return Done()
        gone = row.key_gone or row.given_up or row.host is None  # a server that is gone has no keys
        task = Task.NOTHING
        if row.needs_key and not row.key_seen and row.host is not None:
            task = Task.PUT
        elif not row.needs_key and not gone:
            task = Task.REMOVE
        elif row.ended:
            return Done()
        return TerminalInputs(
            row.id, task, row.lost, row.ended, row.public_key, row.server or "", row.network or "", row.host or ""
        )

    async def act(self, item: WorkItem, inputs: TerminalInputs) -> Result:
        if inputs.task is Task.NOTHING:
            return Result.DONE
        hosts = self._sites.at(None, item.remaining).hosts
        seconds = KEY_SECONDS if inputs.task is Task.PUT else 0
        key = LoginKey(server=inputs.server, network=inputs.network, public_key=inputs.public_key, seconds=seconds)
        try:
            await hosts.put_login_key(inputs.host, str(inputs.id), key)
        except SiteRefused as error:
            log.warning("terminal_key_refused", terminal=str(inputs.id), task=inputs.task, error=str(error))
            return Result.REFUSED
        except SiteError as error:
            log.info("terminal_key_unknown", terminal=str(inputs.id), task=inputs.task, error=str(error))
            return Result.UNKNOWN
        return Result.DONE

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: TerminalInputs, result: Result
    ) -> Outcome:
        key = {"id": inputs.id}
        if result is Result.UNKNOWN:
            return Wait("the site does not answer", recheck=AGAIN_SECONDS)
        if inputs.lost:
            await store.end(connection, inputs.id, "service")
        if inputs.task is Task.PUT:
            if result is Result.REFUSED:
                await store.end(connection, inputs.id, "server")
                return Go()
            await connection.execute(_SEEN, key)
        elif inputs.task is Task.REMOVE:
            if result is Result.REFUSED:
                return Wait("the site does not remove the key", recheck=POLL_SECONDS)
            await connection.execute(_GONE, key)
            if inputs.ended:
                return Done()
        return Wait("the terminal is open", recheck=POLL_SECONDS)
