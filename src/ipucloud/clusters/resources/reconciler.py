"""Brings what a server can have to the state that was requested: has its site make it, attach it, delete it.

A request whose outcome is unknown is repeated under the same name and revision, which shows what became of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar, Generic, NamedTuple, TypeAlias, TypeVar
from uuid import UUID

import structlog
from pydantic import BaseModel
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.resources.answers import (
    ATTACHED_SECONDS,
    OVER,
    Absent,
    Attached,
    Gone,
    Port,
    Quiet,
    Refused,
    Seen,
    answer_of,
)
from ipucloud.clusters.resources.attachable import Attachable, Attachables
from ipucloud.clusters.resources.resource import Life
from ipucloud.contract.clusters import ClusterState
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import Site, SiteBusy, Sites

_NO_SERVER = "its server does not run"

Row = TypeVar("Row", bound=Attachable)
Shown = TypeVar("Shown", bound=Seen)
Spec = TypeVar("Spec", bound=BaseModel)
Attachment = TypeVar("Attachment", bound=Attached)
NotShown: TypeAlias = Gone | Absent | Refused | Quiet


class Inputs(NamedTuple):
    """`spec`: what the site is asked for. `host` None: the server runs on none at present. `network`: that of its
    cluster."""

    id: UUID
    project_id: UUID
    name: str
    external_name: str
    state: str
    revision: int
    spec: dict[str, object]
    server: str | None
    server_state: str | None
    host: str | None
    network: str | None
    cluster_state: ClusterState | None

    @property
    def gone(self) -> bool:
        return self.server_state == "deleted" or self.cluster_state in OVER


class Loaded(NamedTuple):
    leased: bool
    inputs: Inputs | None


def loading(table: str, spec: str) -> Query[Loaded]:
    """The statement that loads one of a noun. `spec`: SQL of its JSON, of the row `a`."""
    return Query(
        f"""
        SELECT w.lease_until > app_now() AS leased, a.id, a.project_id, a.name, a.external_name, a.state, a.revision,
               {spec} AS spec, s.name AS server, s.state AS server_state, h.name AS host, c.external_name AS network,
               c.state AS cluster_state
          FROM work AS w LEFT JOIN {table} AS a ON a.id = CAST(w.key AS uuid)
          LEFT JOIN clusters AS c ON (c.project_id, c.id) = (a.project_id, a.cluster_id)
          LEFT JOIN poplar_servers AS s ON (s.project_id, s.id) = (a.project_id, a.server_id)
          LEFT JOIN allocations AS held
            ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
           AND held.host_id IS NOT NULL AND held.released_at IS NULL
          LEFT JOIN hosts AS h ON h.id = held.host_id
         WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
        """,  # noqa: S608  # our own text
        Loaded,
    )


class AttachableReconciler(ABC, Generic[Row, Shown, Spec, Attachment]):
    """One of a noun, as a subclass declares it.

    `statement`: of `loading`. `spec`, `attachment`: what its site is sent. `refusal`: why there is none, for people.
    """

    resources: Attachables[Row]
    statement: ClassVar[Query[Loaded]]
    spec: type[Spec]
    attachment: type[Attachment]
    refusal: ClassVar[str]

    def __init__(self, sites: Sites) -> None:
        self.kind = self.resources.nouns
        self._sites = sites

    @abstractmethod
    def port(self, site: Site) -> Port[Shown, Spec, Attachment]:
        """The noun's port to a site."""

    def place(self, inputs: Inputs) -> dict[str, str] | None:
        """Where it is to be, as its attachment names a server; None while its server does not run."""
        if inputs.server is None or inputs.host is None or inputs.network is None or inputs.server_state != "running":
            return None
        return {"host": inputs.host, "server": inputs.server, "network": inputs.network}

    def requested(self, inputs: Inputs, place: Mapping[str, str] | None) -> Attachment:
        """The attachment to ask the site for; `place` None: to nobody."""
        return self.attachment.model_validate({"revision": inputs.revision, "server": place})

    def holds(self, inputs: Inputs, shown: Attachment) -> bool:
        """Whether what the site shows of an attachment, beside its server, is as requested."""
        return True

    def observed(self, row: Row, shown: Shown) -> Row:
        """The row of a new one, with what its site shows."""
        return row

    async def load(self, connection: Statements, item: WorkItem) -> Inputs | Outcome:
        inputs = (await inputs_of(connection, self.statement, item)).inputs
        if inputs is None or inputs.state in (Life.AVAILABLE, Life.DELETED, Life.ERROR):
            return Done()
        if inputs.state == Life.ATTACHED and not inputs.gone and self.place(inputs) is None:
            return Wait(_NO_SERVER, recheck=ATTACHED_SECONDS)
        return inputs

    async def act(self, item: WorkItem, inputs: Inputs) -> Shown | NotShown:
        ids = {"project_id": str(inputs.project_id), f"{self.resources.noun}_id": str(inputs.id)}
        structlog.contextvars.bind_contextvars(**ids)
        return await answer_of(self.request(self.port(self._sites.at(None, item.remaining)), inputs))

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: Inputs, result: Shown | NotShown
    ) -> Outcome:
        row = await self.resources.lock(connection, inputs.project_id, inputs.id)
        if (row.state, row.revision) != (inputs.state, inputs.revision):
            return Go()  # a request came meanwhile
        return await self.record(connection, row, inputs, result)

    async def request(self, port: Port[Shown, Spec, Attachment], inputs: Inputs) -> Shown | NotShown:
        """Request what the state needs; what the site shows then. Raises SiteError."""
        name = inputs.external_name
        shown: Shown | None
        match inputs.state:
            case Life.CREATING:
                shown = await port.put(name, self.spec.model_validate(inputs.spec))
            case Life.ATTACHED | Life.ATTACHING if inputs.gone:
                return Gone()
            case Life.ATTACHED:
                shown = await port.get(name)
            case Life.ATTACHING if self.place(inputs) is None:
                return Quiet(_NO_SERVER, ATTACHED_SECONDS)  # its start wakes this
            case Life.ATTACHING:
                shown = await self._attach(port, inputs)
            case Life.DETACHING:
                shown = await port.attach(name, self.requested(inputs, None))
            case _:
                await port.delete(name)
                shown = await port.get(name)
        return shown or Absent()

    async def record(self, connection: AsyncConnection, row: Row, inputs: Inputs, result: Shown | NotShown) -> Outcome:
        """Write what follows from the result for the locked row."""
        resources = self.resources
        match row.state, result:
            case _, Quiet(why=why, recheck=recheck):
                await resources.note(connection, row, why)
                return Wait(why, recheck=recheck)
            case Life.CREATING, Refused():
                await resources.move(connection, row, Life.ERROR, reason=self.refusal, event="failed")
            case ((Life.ATTACHING | Life.ATTACHED), Gone()):
                await resources.move(connection, row._replace(revision=row.revision + 1), Life.DETACHING)
                return Go()
            case Life.DELETING, Absent():
                await resources.move(connection, row, Life.DELETED, event="deleted")
            case Life.DETACHING, _ if not isinstance(result, Refused):
                await resources.report(connection, "detached", row)
                await resources.move(connection, row._replace(cluster_id=None, server_id=None), Life.AVAILABLE)
            case _:
                return await self._record_shown(connection, row, inputs, result)
        return Done()

    async def _record_shown(
        self, connection: AsyncConnection, row: Row, inputs: Inputs, result: Shown | NotShown
    ) -> Outcome:
        resources = self.resources
        if not isinstance(result, NotShown) and row.state == Life.CREATING:
            observed = self.observed(row, result)
            await resources.move(connection, observed, Life.AVAILABLE, event="available")
            await open_stored(connection, project_id=row.project_id, resource_id=row.id)
            return Done()
        if not isinstance(result, NotShown) and row.state in (Life.ATTACHING, Life.ATTACHED):
            return await self._record_attachment(connection, row, inputs, result.attachment)
        why = "its site does not know it" if isinstance(result, Absent) else "its site refuses it for now"
        await resources.note(connection, row, why)
        return Wait(why, recheck=ATTACHED_SECONDS)

    async def _record_attachment(
        self, connection: AsyncConnection, row: Row, inputs: Inputs, shown: Attached | None
    ) -> Outcome:
        """Record whether the server has it as requested; otherwise attach it again, under the next revision."""
        resources, place = self.resources, self.place(inputs)
        has = None if shown is None or shown.server is None else shown.server.model_dump()
        as_asked = isinstance(shown, self.attachment) and self.holds(inputs, shown)
        if as_asked and place is not None and has is not None and has | {"network": place["network"]} == place:
            if row.state == Life.ATTACHING:
                await resources.move(connection, row, Life.ATTACHED, event="attached")
            await resources.note(connection, row, None)
            return Wait("attached", recheck=ATTACHED_SECONDS)
        if row.state == Life.ATTACHED:
            anew = row._replace(revision=row.revision + 1)
            await resources.move(connection, anew, Life.ATTACHING, reason="attached anew")
            return Go()
        await resources.advance(connection, row, max(row.revision, 0 if shown is None else shown.revision) + 1)
        return Go()

    async def _attach(self, port: Port[Shown, Spec, Attachment], inputs: Inputs) -> Shown | None:
        """Request the attachment; what the site shows then. Raises SiteError."""
        try:
            return await port.attach(inputs.external_name, self.requested(inputs, self.place(inputs)))
        except SiteBusy:
            # The server may have had it under this revision, and lost it: then the next one is needed.
            shown = await port.get(inputs.external_name)
            if shown is None or shown.attachment is None or shown.attachment.revision < inputs.revision:
                raise
            return shown
