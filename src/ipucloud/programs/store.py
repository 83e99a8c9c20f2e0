"""What is written of any program: its request, its starts, and what it wrote."""

from __future__ import annotations

from typing import Protocol
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster
from ipucloud.contract.programs import ProgramCreate
from ipucloud.db.documents import clauses
from ipucloud.kernel.errors import NO_CONTAINERS, Problem
from ipucloud.kernel.sealing import Keys, to_store
from ipucloud.programs.environment import environment_to_store, password_place

OF_IT = "WHERE project_id = :project_id AND id = :id"
"""The end of a statement about one program, with the parameters of `key`."""


class Recorded(Protocol):
    """A program under the lock of the transaction that changes it."""

    @property
    def id(self) -> UUID: ...
    @property
    def project_id(self) -> UUID: ...
    @property
    def attempt(self) -> int: ...
    @property
    def log_parts(self) -> int: ...


def require_runtime(cluster: LockedCluster, body: ProgramCreate) -> None:
    """Raises `Problem` no_containers for an image where no site would run it."""
    if body.image is not None and not cluster.containers:
        raise Problem(
            NO_CONTAINERS,
            f"The Poplar servers of {cluster.name} are in {cluster.region}, whose site has no container runtime."
            " Omit the image and bring the program onto the server, or use a cluster in another region.",
        )


def started_as(
    body: ProgramCreate, keys: Keys | None, *, table: str, program: UUID, project: UUID
) -> dict[str, object]:
    """Values of the columns of the same name of `tables`."""
    environment = environment_to_store(keys, body.environment, table, program, project)
    login = body.registry
    where = password_place(table, program, project)
    return {
        "command": orjson.dumps(body.command).decode(),
        "directory": body.directory,
        "environment": orjson.dumps(environment).decode(),
        "image": body.image,
        "registry_username": None if login is None else login.username,
        "registry_password": None if login is None else to_store(keys, login.password, where),
    }


def key(program: Recorded) -> dict[str, object]:
    return {"project_id": program.project_id, "id": program.id}


class Record:
    """What is written alike of the programs of one table; `log` and its column `owner` have what they wrote."""

    def __init__(self, table: str, log: str, owner: str) -> None:
        update = f"UPDATE {table} SET"
        self._sent = sa.text(clauses(update, "sent_at = app_now()", OF_IT))
        self._mark_seen = sa.text(clauses(update, "observed_at = app_now(), state_reason = NULL", OF_IT))
        self._waits = sa.text(clauses(update, "state_reason = :why", OF_IT, "AND state_reason IS DISTINCT FROM :why"))
        self._logged = sa.text(
            clauses(update, "log_bytes = log_bytes + :bytes, log_parts = log_parts + 1, observed_at = app_now()", OF_IT)
        )
        self._log = sa.text(
            f"INSERT INTO {log} (project_id, {owner}, number, attempt, text)"  # noqa: S608  # our own text
            " VALUES (:project_id, :id, :number, :attempt, :text)"
        )

    async def mark_sent(self, connection: AsyncConnection, program: Recorded) -> None:
        """From now on this start of it may have been requested at the site."""
        await connection.execute(self._sent, key(program))

    async def mark_seen(self, connection: AsyncConnection, program: Recorded) -> None:
        """It was seen as it is recorded."""
        await connection.execute(self._mark_seen, key(program))

    async def note_wait(self, connection: AsyncConnection, program: Recorded, why: str) -> None:
        """Nothing was seen of it, and why."""
        await connection.execute(self._waits, {**key(program), "why": why})

    async def append_log(self, connection: AsyncConnection, program: Recorded, size: int, text: str) -> None:
        """The next `size` bytes of what it wrote."""
        part = {"number": program.log_parts + 1, "attempt": program.attempt, "text": text}
        await connection.execute(self._log, key(program) | part)
        await connection.execute(self._logged, {**key(program), "bytes": size})
