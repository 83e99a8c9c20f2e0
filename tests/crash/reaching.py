"""A trial with an address: it is reserved, attached, detached and given back once, whatever dies meanwhile."""

from __future__ import annotations

from uuid import UUID

from ipucloud.clusters.addresses import record
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.contract.addresses import AddressAttach, AddressCreate
from tests.crash.kinds import Expectation, Kind
from tests.crash.lab import Lab
from tests.crash.victims import Victim
from tests.support.addresses import address_json, offer_addresses
from tests.support.waiting import until

_LAST = "SELECT id, state, revision FROM addresses ORDER BY created_at DESC, id DESC LIMIT 1"
_EVENTS = "SELECT type FROM events WHERE subject_id = :id ORDER BY id"
_BILLED = "SELECT ended_at IS NOT NULL FROM usage_intervals WHERE resource_id = :id"
_LIFE = ["address.created", "address.available", "address.attached", "address.detached", "address.deleted"]


class KeepAddress(Kind):
    name = "keep-address"

    async def ask(self, lab: Lab) -> Expectation:
        cluster = await lab.an_active_cluster()
        body = AddressCreate.model_validate(address_json(lab.fresh()))
        async with lab.database.begin() as connection:
            await offer_addresses(connection)
            await record.create(connection, lab.project.actor, body, catalogue=lab.catalogue, settings=lab.settings)
        creation = await lab.creation(cluster)
        return Expectation(cluster, creation, "succeeded", "active")

    async def drive(self, lab: Lab, expectation: Expectation, victim: Victim) -> None:
        await self._live(lab, expectation.cluster)

    async def recover(self, lab: Lab, expectation: Expectation) -> None:
        async with lab.survivor():
            await self._live(lab, expectation.cluster)
        address = await lab.one(_LAST)
        assert await lab.column(_EVENTS, id=address.id) == _LIFE
        assert await lab.column(_BILLED, id=address.id) == [True]
        assert lab.http.get(f"/v1/addresses/{address.id}-1").status_code == 404

    async def _live(self, lab: Lab, cluster: UUID) -> None:
        """Ask for what comes next in its life, until it is over."""

        async def over() -> bool:
            address = await lab.one(_LAST)
            async with lab.database.begin() as connection:
                by = lab.project.actor
                if address.state == "available" and not address.revision:
                    await ADDRESSES.attach(connection, by, address.id, AddressAttach(cluster=cluster))
                elif address.state == "available":
                    await ADDRESSES.delete(connection, by, address.id)
                elif address.state == "attached":
                    await ADDRESSES.detach(connection, by, address.id)
            return bool(address.state == "deleted")

        await until(over, "the address has lived")


ADDRESS_KINDS: tuple[Kind, ...] = (KeepAddress(),)
