"""Registering a site's hardware beside running requests."""

from __future__ import annotations

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from ipucloud.db.engine import Database
from ipucloud.inventory.expected.changes import replace
from ipucloud.inventory.sync import sync
from ipucloud.site.ports import Budget, Site, VipuAddress
from ipucloud.wire.inventory import Inventory, SiteHost, SiteMachine, SitePod, SiteRegion, VipuEndpoint

pytestmark = pytest.mark.anyio


class Listing:
    """A site that only has an inventory."""

    def __init__(self, address: str = "10.0.0.1", port: int = 8090, topology_ids: list[int] | None = None) -> None:
        machine = SiteMachine(
            name="m0", slot=0, rnic=address, bmc="10.1.0.1", gateway="10.2.0.1", topology_ids=topology_ids
        )
        pod = SitePod(
            name="pod",
            machine_type="m2000",
            cluster_id="vc",
            gw_group="gw",
            position=0,
            topology="torus",
            gateway_topology="looped",
            machines=[machine],
        )
        region = SiteRegion(
            region="luxembourg-2",
            vipu=VipuEndpoint(host="vipu", admin_port=port),
            pods=[pod],
            hosts=[SiteHost(name="h0", address=address)],
        )
        self._inventory = Inventory(regions=[region])

    def at(self, vipu: VipuAddress | None, budget: Budget) -> Site:
        raise AssertionError("a synchronisation asks for the inventory only")

    async def inventory(self) -> Inventory:
        return self._inventory


async def test_hardware_is_registered_once_and_its_addresses_follow_the_site(db: Database) -> None:
    async def registered() -> tuple[object, ...]:
        statement = (
            "SELECT count(*), min(m.rnic), min(h.address), min(r.admin_port), min(m.topology_ids)"
            " FROM machines m, hosts h, vipu_controllers r"
        )
        async with db.read() as connection:
            return tuple((await connection.execute(sa.text(statement))).one())

    await sync(db, Listing(), validated=False)
    assert await registered() == (1, "10.0.0.1", "10.0.0.1", 8090, [0, 1, 2, 3])
    await sync(db, Listing(address="10.9.9.9", port=9000, topology_ids=[3, 19, 35, 51]), validated=False)
    assert await registered() == (1, "10.9.9.9", "10.9.9.9", 9000, [3, 19, 35, 51])
    with pytest.raises(ValidationError, match="the same topology id"):
        Listing(topology_ids=[0, 1, 2, 2])


async def test_a_synchronisation_holds_nothing_that_a_request_may_want(db: Database) -> None:
    """A request skips hosts that somebody holds: an unchanged inventory must not look like a full region."""
    await sync(db, Listing(), validated=False)
    async with db.begin() as request:
        for table in ("hosts", "machines", "pods"):
            await request.execute(sa.text(f"SELECT id FROM {table} FOR NO KEY UPDATE"))  # noqa: S608
        # It would wait for the rows above, and end with an error, if it locked what has not changed.
        await sync(db, Listing(), validated=False)


@pytest.mark.acceptance("BFX02-02", "CAP03-01", "HWING02-01")
async def test_capacity_that_comes_and_goes_is_an_event(db: Database) -> None:
    """New hardware that the expected inventory does not have is not offered before it was observed."""
    everything, less = Listing(), Listing()
    less._inventory = Inventory(regions=[region.model_copy(update={"hosts": []}) for region in less._inventory.regions])
    async with db.begin() as connection:
        await replace(connection, "luxembourg-2", [{"kind": "host", "name": "h0"}], "token")
    for listing in (everything, less, less, everything):
        await sync(db, listing, validated=False)
    async with db.read() as connection:
        events = await connection.execute(sa.text("SELECT name, type FROM hardware_events ORDER BY at, name"))
        assert [tuple(row) for row in events] == [
            ("m0", "added"),
            ("h0", "added"),
            ("h0", "removed"),
            ("h0", "returned"),
        ]
        offered = await connection.execute(
            sa.text("SELECT name FROM machines WHERE allocatable UNION ALL SELECT name FROM hosts WHERE allocatable")
        )
        assert [tuple(row) for row in offered] == [("h0",)]


async def test_pods_follow_their_controllers(db: Database) -> None:
    """What was under one controller may come under several; a group of pods, which a cluster may span, never does."""
    one, several = Listing(), Listing()
    [region] = one._inventory.regions
    pod = region.pods[0]
    machine = pod.machines[0].model_copy(update={"name": "m1"})
    other = pod.model_copy(update={"name": "other", "gw_group": "gw2", "controller": "two", "machines": [machine]})
    pods_by_name = {
        "controllers": [{"name": name, "host": "vipu", "admin_port": 1} for name in ("one", "two")],
        "pods": [pod.model_copy(update={"controller": "one"}).model_dump(), other.model_dump()],
    }
    listed = region.model_dump() | {"vipu": None} | pods_by_name
    several._inventory = Inventory(regions=[SiteRegion.model_validate(listed)])
    for listing, controllers, under in (
        (one, ["luxembourg-2"], [("pod", "luxembourg-2")]),
        (several, ["one", "two"], [("other", "two"), ("pod", "one")]),
    ):
        await sync(db, listing, validated=False)
        async with db.read() as connection:
            names = await connection.execute(sa.text("SELECT name FROM vipu_controllers ORDER BY name"))
            pods = await connection.execute(sa.text("SELECT name, controller FROM pods ORDER BY name"))
            assert ([row.name for row in names], [tuple(row) for row in pods]) == (controllers, under)
    apart = [each | {"gw_group": "gw"} for each in listed["pods"]]
    for wrong, sentence in (
        ({"pods": apart}, "pods of gw_group gw are under different V-IPU controllers"),
        ({"controllers": listed["controllers"][:1]}, "pod other is under V-IPU controller two"),
        ({"controllers": [listed["controllers"][0], listed["controllers"][1] | {"secure": True}]}, "some have none"),
    ):
        with pytest.raises(ValidationError, match=sentence):
            SiteRegion.model_validate(listed | wrong)
