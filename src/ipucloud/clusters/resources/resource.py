"""A noun of what projects hold: a row under the lock of the transaction that changes it, and what requests do with it.

The order of locks is project, cluster, row.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar
from uuid import UUID

import orjson
import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import close_stored
from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters.admission import Terms, refuse_by_terms, storage_terms
from ipucloud.clusters.cost_limits.store import refused_storage
from ipucloud.config import Settings
from ipucloud.contract.event_types.names import REGISTRY
from ipucloud.db.rows import Query
from ipucloud.events.log import record
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import (
    IN_USE,
    NAME_TAKEN,
    STATE_CONFLICT,
    VALIDATION_FAILED,
    FieldError,
    Problem,
    not_found,
)
from ipucloud.kernel.ids import new_id
from ipucloud.kernel.transitions import TransitionTable
from ipucloud.reconcile.wake import wake


class Life(StrEnum):
    """The states that nouns have in common. They equal the same states of a noun, and their text."""

    CREATING = "creating"
    AVAILABLE = "available"
    ATTACHING = "attaching"
    ATTACHED = "attached"
    DETACHING = "detaching"
    DELETING = "deleting"
    DELETED = "deleted"
    ERROR = "error"


class Resource(Protocol):
    """A locked row: a NamedTuple of columns, these among them. `cluster_id`, `server_id`: of the server that has it."""

    @property
    def id(self) -> UUID: ...
    @property
    def project_id(self) -> UUID: ...
    @property
    def name(self) -> str: ...
    @property
    def tags(self) -> dict[str, str]: ...
    @property
    def region(self) -> str: ...
    @property
    def state(self) -> str: ...
    @property
    def cluster_id(self) -> UUID | None: ...
    @property
    def server_id(self) -> UUID | None: ...
    def _asdict(self) -> dict[str, Any]: ...
    def _replace(self, *args: Any, **changes: Any) -> Self: ...


class Patch(Protocol):
    """The body of a request that changes one; None: as it is."""

    @property
    def name(self) -> str | None: ...
    @property
    def tags(self) -> dict[str, str] | None: ...


Row = TypeVar("Row", bound=Resource)

_SERVER = Query("SELECT name FROM poplar_servers WHERE project_id = :project_id AND id = :id", str)


class Resources(Generic[Row]):
    """A noun, as a subclass declares it; its one instance has its statements.

    `noun`, `nouns`: as sentences name it, such as `volume`; the table, and the kind of the work items, are `nouns`.
    `sku`: what each of them is billed as. `new`: columns that a new row has besides the common ones. `moved`: the
    assignments of an UPDATE that a change of state makes besides the common ones.
    """

    noun: ClassVar[str]
    nouns: ClassVar[str]
    sku: ClassVar[str]
    states: ClassVar[TransitionTable[Any]]
    new: ClassVar[tuple[str, ...]] = ()
    moved: ClassVar[str]
    row: type[Row]

    def __init__(self) -> None:
        table = self.nouns
        self._lock = Query(
            f"""
            SELECT {", ".join(self.row.__annotations__)} FROM {table}
             WHERE project_id = :project_id AND id = :id FOR NO KEY UPDATE
            """,  # noqa: S608  # our own text
            self.row,
        )
        self._insert = sa.text(
            f"""
            INSERT INTO {table} (id, project_id, name, tags, region, external_name, sku, currency, created_by
                                 {"".join(f", {column}" for column in self.new)})
            VALUES (:id, :project_id, :name, CAST(:tags AS jsonb), :region, :external_name, :sku, :currency, :created_by
                    {"".join(f", :{column}" for column in self.new)})
            """  # noqa: S608  # our own text
        )
        self._move = sa.text(
            f"""
            UPDATE {table}
               SET state = :state, state_reason = :state_reason, state_entered_at = app_now(), {self.moved},
                   delete_requested_at = CASE WHEN :state IN ('deleting', 'deleted')
                                              THEN coalesce(delete_requested_at, app_now()) END,
                   deleted_at = CASE WHEN :state = 'deleted' THEN app_now() END
             WHERE project_id = :project_id AND id = :id
            """  # noqa: S608  # our own text
        )
        self._note = sa.text(
            f"""
            UPDATE {table} SET state_reason = :state_reason
             WHERE project_id = :project_id AND id = :id AND state_reason IS DISTINCT FROM :state_reason
            """  # noqa: S608  # our own text
        )
        self._change = sa.text(
            f"""
            UPDATE {table} SET name = :name, tags = CAST(:tags AS jsonb) WHERE project_id = :project_id AND id = :id
            """  # noqa: S608  # our own text
        )
        self._any = Query(
            f"SELECT EXISTS (SELECT FROM {table} WHERE project_id = :project_id AND state <> 'deleted')",  # noqa: S608
            bool,
        )

    async def lock(self, connection: AsyncConnection, project_id: UUID, resource_id: UUID) -> Row:
        """The row until this transaction ends. Raises `Problem` not_found."""
        row = await self._lock.one_or_none(connection, {"project_id": project_id, "id": resource_id})
        if row is None:
            raise not_found()
        return row

    async def move(
        self,
        connection: AsyncConnection,
        row: Row,
        state: str,
        *,
        reason: str | None = None,
        event: str | None = None,
    ) -> Row:
        """Enter a state, with the other fields of `row`, and record an event of it; raises IllegalTransition."""
        entered = self.states.require(row.state, type(self.states.initial)(state))
        moved = row._replace(state=entered, state_reason=reason)
        await connection.execute(self._move, moved._asdict())
        if event is not None:
            await self.report(connection, event, moved)
        return moved

    async def note(self, connection: AsyncConnection, row: Row, why: str | None) -> None:
        """Record what it waits for."""
        await connection.execute(self._note, {"project_id": row.project_id, "id": row.id, "state_reason": why})

    async def wake(self, connection: AsyncConnection, row: Row) -> None:
        await wake(connection, kind=self.nouns, key=str(row.id), project_id=row.project_id)

    async def report(self, connection: AsyncConnection, event: str, row: Row, *, request_id: str | None = None) -> None:
        """Record an event, such as `created`; of an attachment while `row` still names the server.

        The fields of the event's payload are columns, `reason` is that of the state, `poplar_server` the server's name.
        """
        kind = REGISTRY[f"{self.noun}.{event}"]
        fields = () if kind.payload is None else kind.payload.model_fields
        facts = {name.removesuffix("_id"): value for name, value in row._asdict().items()}
        facts["reason"] = facts["state_reason"]
        if row.server_id is not None and "poplar_server" in fields:
            ids = {"project_id": row.project_id, "id": row.server_id}
            facts["poplar_server"] = await _SERVER.one(connection, ids)
        known = {name: facts[name] for name in fields if name in facts}
        data = None if kind.payload is None else kind.payload.model_validate(known)
        await record(connection, kind, project_id=row.project_id, subject_id=row.id, request_id=request_id, data=data)

    async def insert(
        self, connection: AsyncConnection, actor: Actor, terms: Terms, *, name: str, tags: dict[str, str], **own: object
    ) -> UUID:
        """Record a new one, with its event and work item; its id. `own`: its region, and the columns of `new`.

        Raises `Problem` name_taken.
        """
        resource_id = new_id()
        values = {
            "id": resource_id,
            "project_id": actor.project_id,
            "name": name,
            "tags": orjson.dumps(tags).decode(),
            "external_name": f"{resource_id}-1",
            "sku": self.sku,
            "currency": terms.per_minute.currency,
            "created_by": actor.token_id,
            **own,
        }
        await self._write(connection, self._insert, values)
        row = await self.lock(connection, actor.project_id, resource_id)
        await self.report(connection, "created", row, request_id=actor.request_id)
        await self.wake(connection, row)
        return resource_id

    async def change(self, connection: AsyncConnection, actor: Actor, resource_id: UUID, body: Patch) -> None:
        """Change the given fields. Raises `Problem`: not_found, state_conflict, name_taken."""
        row = await self.lock(connection, actor.project_id, resource_id)
        name = row.name if body.name is None else body.name
        tags = row.tags if body.tags is None else body.tags
        self.require_changeable(row, name)
        if (name, tags) == (row.name, row.tags):
            return
        values = {"project_id": row.project_id, "id": row.id, "name": name, "tags": orjson.dumps(tags).decode()}
        await self._write(connection, self._change, values)
        await self.report(connection, "updated", row._replace(name=name), request_id=actor.request_id)

    def require_changeable(self, row: Row, name: str) -> None:
        """`name`: what it is to be named. Raises `Problem` state_conflict."""
        if row.state in (Life.DELETING, Life.DELETED):
            raise self.conflict(row, "be changed")

    async def delete(self, connection: AsyncConnection, actor: Actor, resource_id: UUID) -> None:
        """Have it deleted, and bill it no longer. Raises `Problem`: not_found, in_use, state_conflict."""
        row = await self.lock(connection, actor.project_id, resource_id)
        if row.state == Life.DELETED:
            raise Problem(STATE_CONFLICT, f"{self.noun.capitalize()} {row.name} is deleted already.")
        if row.state == Life.DELETING:
            return
        await self.require_deletable(connection, row)
        await self.move(connection, row, Life.DELETING)
        await self.wake(connection, row)
        await close_stored(connection, project_id=row.project_id, resource_id=row.id)

    async def require_deletable(self, connection: AsyncConnection, row: Row) -> None:
        """Raises `Problem`: in_use, state_conflict."""

    async def refuse_if_any(self, connection: AsyncConnection, project_id: UUID) -> None:
        """Raise `Problem` in_use while a project that is being deleted has some."""
        if await self._any.one(connection, {"project_id": project_id}):
            raise Problem(IN_USE, f"Delete the project's {self.nouns} first, and wait until they are `deleted`.")

    def invalid(self, fault: FieldError) -> Problem:
        return Problem(VALIDATION_FAILED, f"The {self.noun} cannot be as requested.", [fault])

    def conflict(self, row: Row, what: str) -> Problem:
        """`what`: what it cannot do in its state, such as `be attached`."""
        return Problem(
            STATE_CONFLICT,
            f"{self.noun.capitalize()} {row.name} is `{row.state}` and cannot {what} now. Read it, and wait or choose"
            " another one.",
        )

    def region(self, catalogue: Catalogue, name: str) -> str:
        """The slug of the region that a request names. Raises `Problem` validation_failed."""
        region = catalogue.find_region(name)
        if region is None:
            sentence = "This region does not exist; `GET /v1/regions` lists them."
            raise self.invalid(FieldError("/region", "unknown_region", sentence))
        return region.slug

    async def terms(
        self,
        connection: AsyncConnection,
        actor: Actor,
        region: str,
        *,
        gib: int,
        tags: dict[str, str],
        settings: Settings,
        pointer: str = "/region",
    ) -> Terms:
        """What it costs there, if the project may have it.

        `pointer`: the member of the request that chose the region. Raises `Problem`: validation_failed,
        budget_reached, payment_overdue, cost_limit_reached.
        """
        terms = await storage_terms(connection, actor, self.sku, region, gib=gib, tags=tags, currency=settings.currency)
        if terms is None:
            sentence = (
                f"{self.nouns.capitalize()} are not offered in {region}: the operator has set no price of {self.sku}"
                " there in the currency of the account that pays."
            )
            raise self.invalid(FieldError(pointer, "not_offered", sentence))
        refuse_by_terms(terms)
        if terms.has_cost_limit:
            raise refused_storage()
        return terms

    async def _write(self, connection: AsyncConnection, statement: sa.TextClause, values: Mapping[str, Any]) -> None:
        """Execute a statement that gives one its name. Raises `Problem` name_taken."""
        try:
            await connection.execute(statement, values)
        except sa.exc.IntegrityError as error:
            if isinstance(error.orig, pg_errors.UniqueViolation):
                raise Problem(
                    NAME_TAKEN,
                    f"Another {self.noun} of the project is named {values['name']}. Choose another name, or delete that"
                    " one.",
                ) from error
            raise
