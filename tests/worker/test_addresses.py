"""Addresses at a simulated site: reserved, attached, kept through suspend and the end of clusters, given back."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from uuid import UUID

import pytest

from ipucloud.clusters.addresses import record
from ipucloud.clusters.addresses.record import ADDRESSES
from ipucloud.contract.addresses import AddressAttach, AddressCreate, AddressPatch
from ipucloud.kernel.errors import IN_USE, STATE_CONFLICT
from tests.support.addresses import offer_addresses
from tests.support.machine import Need, needs
from tests.support.waiting import PATIENCE, until
from tests.support.world import SiteWorld
from tests.worker.customers import Customer, Logins, refused

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]


class AddressCustomer(Customer):
    """A customer with addresses, who logs in through them."""

    async def create(self, name: str = "frontdoor", allowed_sources: Sequence[str] = ()) -> UUID:
        body = AddressCreate(name=name, region="luxembourg-2", allowed_sources=[*allowed_sources])
        address: UUID = await self.requested(
            lambda on, by: record.create(on, by, body, catalogue=self.world.catalogue, settings=self.world.settings)
        )
        return address

    async def attach(self, address: UUID, cluster: UUID) -> None:
        await self.requested(lambda on, by: ADDRESSES.attach(on, by, address, AddressAttach(cluster=cluster)))

    async def detach(self, address: UUID) -> None:
        await self.requested(lambda on, by: ADDRESSES.detach(on, by, address))

    async def where(self) -> tuple[str, int]:
        row = await self.world.one("SELECT ip, port FROM addresses WHERE state <> 'deleted'")
        return row.ip, row.port

    async def run(self, command: str) -> str:
        """Log in through the address; only the server's own host key is accepted."""
        row = await self.world.one(
            "SELECT a.ip AS ssh_host, a.port AS ssh_port, s.ssh_user, s.host_key, s.host_key_fingerprint"
            " FROM addresses a JOIN poplar_servers s ON s.id = a.server_id"
        )
        return await self.logins.run(row, command)

    async def listens(self) -> bool:
        try:
            with socket.create_connection(await self.where(), timeout=5):
                return True
        except ConnectionRefusedError:
            return False

    async def billed(self) -> list[tuple[int, str, bool]]:
        rows = await self.world.rows(
            "SELECT u.quantity, r.dimension, u.ended_at IS NOT NULL AS ended FROM usage_intervals u"
            " JOIN resources r ON r.id = u.resource_id WHERE r.kind = 'address' ORDER BY u.started_at"
        )
        return [(row.quantity, row.dimension, row.ended) for row in rows]


@pytest.fixture
async def customer(world: SiteWorld, logins: Logins) -> AddressCustomer:
    async with world.database.begin() as connection:
        await offer_addresses(connection)
    return AddressCustomer(world, logins, ADDRESSES)


async def test_an_address_outlives_its_server_and_its_cluster(world: SiteWorld, customer: AddressCustomer) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        # The answers of the site are lost: each request is repeated, and finds what it did before.
        for call in ("addresses.put", "addresses.attach", "addresses.delete"):
            world.fault(call=call, action="drop_answer", times=1)
        address = await customer.create()
        await customer.state(address, "available")
        assert await customer.billed() == [(1, "address", False)]
        where = await customer.where()
        assert not await customer.listens()
        await customer.attach(address, cluster)
        await customer.state(address, "attached")
        assert await customer.run("echo here > ~/note; cat ~/note") == "here\n"
        assert (await refused(customer.delete(address))).kind is IN_USE
        # It stays attached while the cluster is suspended, and after the site was killed.
        await world.succeeded(await world.suspend(cluster))
        assert not await customer.listens(), "nothing listens while the server is off"
        world.site.kill()
        world.site.start()
        assert not await customer.listens()
        await world.succeeded(await world.resume(cluster))
        await customer.state(address, "attached")
        assert await customer.where() == where
        assert await customer.run("cat ~/note") == "here\n"
        world.site.kill()
        world.site.start()
        assert await customer.run("cat ~/note") == "here\n"
        # A server that is rebuilt is reached there again.
        await world.succeeded(await world.rebuild(cluster, disk="wipe"))
        assert await customer.run("ls ~") == ""
        await world.succeeded(await world.delete(cluster))
        await customer.state(address, "available")
        assert not await customer.listens()
        second = await world.build("second", ssh_keys=["ours"])
        await customer.attach(address, second)
        await customer.state(address, "attached")
        assert await customer.where() == where
        assert await customer.run("echo $((6 * 7))") == "42\n"
        await customer.detach(address)
        await customer.state(address, "available")
        assert not await customer.listens()
        await customer.delete(address)
        assert await customer.billed() == [(1, "address", True)]
        await customer.state(address, "deleted")
    name = await world.value("SELECT external_name FROM addresses")
    assert world.http.get(f"/v1/addresses/{name}").status_code == 404
    late = {"region": "luxembourg-2"}
    assert world.http.put(f"/v1/addresses/{name}", json=late).status_code == 422, "a late request reserves none"
    assert await customer.events() == [
        f"address.{what}"
        for what in ("created", "available", "attached", "detached", "attached", "detached", "deleted")
    ]


async def test_an_address_that_the_site_detached_is_attached_again(world: SiteWorld, customer: AddressCustomer) -> None:
    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        address = await customer.create()
        await customer.state(address, "available")
        await customer.attach(address, cluster)
        await customer.state(address, "attached")
        before = await customer.where()
        # The site has lost the attachment: the next reading shows that, and it is attached again.
        name = await world.value("SELECT external_name FROM addresses")
        gone = {"revision": 2, "server": None}
        world.http.put(f"/v1/addresses/{name}/attachment", json=gone).raise_for_status()
        assert not await customer.listens()
        async with world.database.begin() as connection:
            await ADDRESSES.wake(connection, await ADDRESSES.lock(connection, world.project.id, address))
        again = "SELECT state = 'attached' AND revision > 2 FROM addresses"
        await until(lambda: world.value(again), "the address is attached again")
        assert await customer.where() == before
        assert await customer.run("echo $((6 * 7))") == "42\n"


async def test_an_address_that_the_site_refuses_is_not_billed(world: SiteWorld, customer: AddressCustomer) -> None:
    world.fault(call="addresses.put", action="status", status=422, times=1)
    async with world.worker():
        address = await customer.create()
        await customer.state(address, "error")
        assert await customer.billed() == []
        cluster = await world.build(ssh_keys=["ours"])
        assert (await refused(customer.attach(address, cluster))).kind is STATE_CONFLICT
        await customer.delete(address)
        await customer.state(address, "deleted")
    shown = await world.value("SELECT data FROM events WHERE type = 'address.failed'")
    assert shown["reason"].startswith("The site refused")


async def test_the_networks_of_an_address_and_of_its_cluster_both_count(
    world: SiteWorld, customer: AddressCustomer
) -> None:
    async def entered() -> list[str]:
        """From where a login through the address is heard at all."""
        where, heard = await customer.where(), []
        for source in ("127.0.0.2", "127.0.0.3"):
            with socket.create_connection(where, timeout=PATIENCE, source_address=(source, 0)) as client:
                try:
                    heard += [source] if await asyncio.to_thread(client.recv, 64) else []
                except ConnectionResetError:
                    continue
        return heard

    async def limit(*sources: str) -> None:
        body = AddressPatch.model_validate({"allowed_sources": [*sources]})
        await customer.requested(lambda on, by: ADDRESSES.change(on, by, address, body))

    async with world.worker():
        cluster = await world.build(ssh_keys=["ours"])
        address = await customer.create(allowed_sources=["127.0.0.2"])
        await customer.state(address, "available")
        await customer.attach(address, cluster)
        await customer.state(address, "attached")
        assert await entered() == ["127.0.0.2"]
        world.fault(call="addresses.attach", action="drop_answer", times=1)
        await limit("127.0.0.3/32", "127.0.0.2/32")
        await customer.state(address, "attached")
        assert await entered() == ["127.0.0.2", "127.0.0.3"]
        revision = await world.value("SELECT revision FROM addresses")
        await limit("127.0.0.3", "127.0.0.2")
        assert await world.value("SELECT revision FROM addresses") == revision, "the same again begins nothing"
        await world.update(cluster, allowed_sources=["127.0.0.3"])
        seen = "SELECT bool_and(s.allowed_sources = c.allowed_sources) FROM clusters c JOIN poplar_servers s ON true"
        await until(lambda: world.value(seen), "the site enforces the cluster's")
        assert await entered() == ["127.0.0.3"]
    assert (await customer.events())[-2:] == ["address.updated", "address.attached"]
