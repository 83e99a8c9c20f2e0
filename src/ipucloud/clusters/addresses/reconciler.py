"""Brings an address to the state that was requested: has its site reserve it, attach it, give it back.

A request whose outcome is unknown is repeated under the same name and revision, which shows what became of it.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.intervals import open_stored
from ipucloud.clusters.addresses.record import ADDRESSES, Address, advance, lock, move, note, report
from ipucloud.clusters.attachment import ATTACHED_SECONDS, OVER, Absent, Gone, Quiet, Refused, answer_of, attach
from ipucloud.contract.addresses import AddressState
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_types.projects import (
    ADDRESS_ATTACHED,
    ADDRESS_AVAILABLE,
    ADDRESS_DELETED,
    ADDRESS_DETACHED,
    ADDRESS_FAILED,
)
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Done, Go, Outcome, Wait
from ipucloud.reconcile.reconciler import WorkItem, inputs_of
from ipucloud.site.ports import Addresses, Sites
from ipucloud.wire.storage import Address as Seen
from ipucloud.wire.storage import AddressAttachment, AddressServer, AddressSpec

_S = AddressState
_AT_REST = frozenset({_S.AVAILABLE, _S.DELETED, _S.ERROR})

Result = Seen | Gone | Absent | Refused | Quiet


class AddressInputs(NamedTuple):
    """`host` None: the server runs on none at present. `network`: that of its cluster."""

    leased: bool
    id: UUID | None
    project_id: UUID | None
    region: str | None
    external_name: str | None
    state: AddressState | None
    revision: int | None
    server: str | None
    server_state: str | None
    host: str | None
    network: str | None
    cluster_state: ClusterState | None

    @property
    def gone(self) -> bool:
        return self.server_state == "deleted" or self.cluster_state in OVER

    @property
    def place(self) -> AddressServer | None:
        """Where it is to lead; None while its server does not run."""
        if self.server is None or self.host is None or self.network is None or self.server_state != "running":
            return None
        return AddressServer(host=self.host, server=self.server, network=self.network)


_LOAD = Query(
    """
    SELECT w.lease_until > app_now() AS leased, a.id, a.project_id, a.region, a.external_name, a.state, a.revision,
           s.name AS server, s.state AS server_state, h.name AS host, c.external_name AS network,
           c.state AS cluster_state
      FROM work AS w LEFT JOIN addresses AS a ON a.id = CAST(w.key AS uuid)
      LEFT JOIN clusters AS c ON (c.project_id, c.id) = (a.project_id, a.cluster_id)
      LEFT JOIN poplar_servers AS s ON (s.project_id, s.id) = (a.project_id, a.server_id)
      LEFT JOIN allocations AS held
        ON (held.project_id, held.cluster_id, held.ordinal) = (s.project_id, s.cluster_id, s.ordinal)
       AND held.host_id IS NOT NULL AND held.released_at IS NULL
      LEFT JOIN hosts AS h ON h.id = held.host_id
     WHERE w.kind = :kind AND w.key = :key AND w.fence = :fence
    """,
    AddressInputs,
)


class AddressReconciler:
    """One address."""

    kind = ADDRESSES

    def __init__(self, sites: Sites) -> None:
        self._sites = sites

    async def load(self, connection: Statements, item: WorkItem) -> AddressInputs | Outcome:
        row = await inputs_of(connection, _LOAD, item)
        if row.id is None or row.state in _AT_REST:
            return Done()
        if row.state is _S.ATTACHED and not row.gone and row.place is None:
            return Wait("its server does not run", recheck=ATTACHED_SECONDS)
        return row

    async def act(self, item: WorkItem, inputs: AddressInputs) -> Result:
        structlog.contextvars.bind_contextvars(project_id=str(inputs.project_id), address_id=str(inputs.id))
        site = self._sites.at(None, item.remaining).addresses
        return await answer_of(_request(site, inputs))

    async def apply(
        self, connection: AsyncConnection, item: WorkItem, inputs: AddressInputs, result: Result
    ) -> Outcome:
        if inputs.project_id is None or inputs.id is None:
            return Done()
        address = await lock(connection, project_id=inputs.project_id, address_id=inputs.id)
        if (address.state, address.revision) != (inputs.state, inputs.revision):
            return Go()  # a request came meanwhile
        outcome = await _apply(connection, address, inputs, result)
        failpoint("address.recorded")
        return outcome


async def _request(site: Addresses, address: AddressInputs) -> Result:
    """Request what the state needs; what the site shows then. Raises SiteError."""
    name, revision = address.external_name or "", address.revision or 0
    observed: Seen | Gone | Quiet | None
    match address.state:
        case _S.CREATING:
            observed = await site.put(name, AddressSpec(region=address.region or ""))
        case _S.ATTACHED | _S.ATTACHING if address.gone:
            observed = Gone()
        case _S.ATTACHED:
            observed = await site.get(name)
        case _S.ATTACHING if address.place is None:
            observed = Quiet("its server does not run", ATTACHED_SECONDS)  # its start wakes this
        case _S.ATTACHING:
            observed = await attach(
                site.attach, site.get, name, AddressAttachment(revision=revision, server=address.place)
            )
        case _S.DETACHING:
            observed = await site.attach(name, AddressAttachment(revision=revision, server=None))
        case _:
            await site.delete(name)
            observed = await site.get(name)
    return observed or Absent()


async def _apply(connection: AsyncConnection, address: Address, inputs: AddressInputs, result: Result) -> Outcome:
    outcome: Outcome = Done()
    match address.state, result:
        case _, Quiet(why=why, recheck=recheck):
            await note(connection, address, why)
            outcome = Wait(why, recheck=recheck)
        case _S.CREATING, Refused():
            why = "The site refused to reserve it. Delete it."
            await report(connection, ADDRESS_FAILED, await move(connection, address, _S.ERROR, reason=why))
        case _S.CREATING, Seen(ip=ip, port=port):
            available = await move(connection, address._replace(ip=ip, port=port), _S.AVAILABLE)
            await report(connection, ADDRESS_AVAILABLE, available)
            await open_stored(connection, project_id=address.project_id, resource_id=address.id)
        case ((_S.ATTACHING | _S.ATTACHED), Gone()):
            await move(connection, address._replace(revision=address.revision + 1), _S.DETACHING)
            outcome = Go()
        case ((_S.ATTACHING | _S.ATTACHED), Seen()):
            outcome = await _attached(connection, address, inputs, result)
        case _S.DETACHING, (Seen() | Absent()):
            await report(connection, ADDRESS_DETACHED, address)
            await move(connection, address._replace(cluster_id=None, server_id=None), _S.AVAILABLE)
        case _S.DELETING, Absent():
            await report(connection, ADDRESS_DELETED, await move(connection, address, _S.DELETED))
        case _:
            why = "its site does not know it" if isinstance(result, Absent) else "its site refuses it for now"
            await note(connection, address, why)
            outcome = Wait(why, recheck=ATTACHED_SECONDS)
    return outcome


async def _attached(connection: AsyncConnection, address: Address, inputs: AddressInputs, observed: Seen) -> Outcome:
    """Record whether it leads to its server; otherwise attach it again, under the next revision."""
    shown, place = observed.attachment, inputs.place
    has = None if shown is None else shown.server
    if place is not None and has is not None and (has.host, has.server) == (place.host, place.server):
        if address.state is _S.ATTACHING:
            await report(connection, ADDRESS_ATTACHED, await move(connection, address, _S.ATTACHED))
        await note(connection, address, None)
        return Wait("attached", recheck=ATTACHED_SECONDS)
    if address.state is _S.ATTACHED:
        await move(connection, address._replace(revision=address.revision + 1), _S.ATTACHING, reason="attached anew")
        return Go()
    later = max(address.revision, 0 if shown is None else shown.revision) + 1
    await advance(connection, address, later)
    return Go()
