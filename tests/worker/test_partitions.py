"""Partitions of a cluster in use, from the request to the controller and back, against the simulated site."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from ipucloud.kernel.errors import OPERATION_IN_PROGRESS
from ipucloud.operations.store import Accepted
from ipucloud.wire.faults import FaultAction
from tests.support.breakable import open_emptied_world
from tests.support.vipu import VipuDriver
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

SITE = {"machines": 16, "options": ["--numbering", "by-ipu"]}  # IPUs of a machine apart from each other
WORLD = partial(open_emptied_world, partitions_quiet_interval=0.1)


class Customer:
    """Who has one cluster of four machines, and asks for partitions of it."""

    def __init__(self, world: SiteWorld, cluster: UUID, name: str) -> None:
        self.world = world
        self.cluster = cluster
        self.default = name
        self.vipu = VipuDriver(world.site.channel())

    async def create(self, name: str, size: int = 4, **shape: Any) -> Accepted:
        return await self.world.create_partition(self.cluster, name, size, **shape)

    async def reset(self, ref: str) -> Accepted:
        return await self.world.reset_partition(self.cluster, ref)

    async def remove(self, ref: str) -> Accepted:
        return await self.world.remove_partition(self.cluster, ref)

    async def done(self, operation: Accepted) -> Any:
        return await self.world.succeeded(operation)

    async def rows(self) -> dict[str, Any]:
        partitions = await self.world.rows("SELECT * FROM partitions WHERE removed_at IS NULL")
        return {row.name: row for row in partitions}

    async def sees(self, **states: str) -> None:
        """Return once the living partitions are in these states."""

        async def are_so() -> bool:
            return {name: row.state for name, row in (await self.rows()).items()} == states

        await until(are_so, f"partitions {states}")


async def customer(world: SiteWorld, *, divided: bool = True) -> Customer:
    """`divided`: the cluster's own partition was removed to make room."""
    cluster = await world.build(flavor="m2000-pod16")
    who = Customer(world, cluster, await world.external_name(cluster))
    if divided:
        await who.done(await who.remove(who.default))
    return who


@pytest.mark.acceptance("BFX01-01")
async def test_a_partition_is_made_reset_and_removed(world: SiteWorld) -> None:
    async with world.worker():
        who = await customer(world, divided=False)
        await who.sees(**{who.default: "active"})
        await who.done(await who.remove(who.default))
        assert world.partitions() == []
        await who.done(await who.create("training", 8, gcds=2))
        (row,) = (await who.rows()).values()
        assert row.external_name == f"{who.default}-1"
        assert (row.state, row.observed["size"], row.observed["gcds"]) == ("active", 8, 2)
        machines = sorted({ipu["machine"] for ipu in row.observed["ipus"]})
        assert sorted((ipu["machine"], ipu["ipu"]) for ipu in row.observed["ipus"]) == [
            (machine, ipu) for machine in machines for ipu in range(4)
        ]
        assert len(machines) == 2
        assert [len(gcd["devices"]) for gcd in row.ipuof] == [4, 4]
        assert world.partitions() == [row.external_name]
        await who.done(await who.reset("training"))
        await who.sees(training="active")
        await who.done(await who.remove("training"))
        assert world.partitions() == []


async def test_no_room_is_refused_with_what_would_fit(world: SiteWorld) -> None:
    async with world.worker():
        who = await customer(world)
        await who.done(await who.create("small", 4))
        failed = await world.finished(await who.create("large", 16))
        assert failed.state == "failed"
        assert failed.error["code"] == "partition_refused"
        assert (failed.error["rule"], failed.error["largest"]) == ("no_room", 8)
        assert sum(block["size"] for block in failed.error["free_blocks"]) == 12
        await who.sees(small="active")
        await who.done(await who.create("large", 8))


async def test_what_a_customer_makes_at_the_controller_shows_and_stays(world: SiteWorld) -> None:
    async with world.worker():
        who = await customer(world)
        await asyncio.to_thread(who.vipu.create, "mine", 4, allocation_id=who.default)
        await who.sees(mine="active")
        assert (await who.rows())["mine"].origin == "customer"
        await who.done(await who.create("other", 4))
        await asyncio.to_thread(who.vipu.remove, "mine")
        await who.sees(other="active")
        await asyncio.to_thread(who.vipu.remove, f"{who.default}-1")
        await who.sees(other="missing")
        await who.done(await who.remove("other"))
        await who.sees()


@pytest.mark.parametrize("action", [FaultAction.DROP_ANSWER, FaultAction.STATUS_AFTER, FaultAction.STATUS])
async def test_a_lost_answer_is_read_back(world: SiteWorld, action: FaultAction) -> None:
    async with world.worker(request_life=0.05):
        who = await customer(world, divided=False)
        for call in ("vipu.RemovePartition", "vipu.CreatePartition", "vipu.ResetPartition", "vipu.ListPartitions"):
            world.fault(call=call, action=action, grpc_status="UNAVAILABLE", times=2)
        await who.done(await who.remove(who.default))
        await who.done(await who.create("training", 16))
        await who.done(await who.reset("training"))
        world.clear_faults()
        assert world.partitions() == [f"{who.default}-1"]


async def test_a_delete_of_the_cluster_takes_over(world: SiteWorld) -> None:
    async with world.worker():
        who = await customer(world)
        world.fault(call="vipu.CreatePartition", action=FaultAction.STATUS, grpc_status="UNAVAILABLE")
        making = await who.create("training", 4)
        other = await who.create("serving", 4)
        await world.hit("vipu.CreatePartition")
        assert (await refused(world.suspend(who.cluster))).kind is OPERATION_IN_PROGRESS
        deletion = await world.delete(who.cluster)
        assert [(await world.finished(each)).error["code"] for each in (making, other)] == ["preempted"] * 2
        world.clear_faults()
        await world.succeeded(deletion)
        assert await who.rows() == {}


async def test_of_two_partitions_for_the_same_ipus_one_is_made(world: SiteWorld) -> None:
    async with world.worker():
        who = await customer(world)
        operations = await asyncio.gather(*(who.create(name, 16) for name in ("one", "two")))
        ended = {name: await world.finished(each) for name, each in zip(("one", "two"), operations, strict=True)}
        [loser] = [each for each in ended.values() if each.state == "failed"]
        [winner] = [name for name, each in ended.items() if each.state == "succeeded"]
        assert (loser.error["code"], loser.error["rule"]) == ("partition_refused", "no_room")
        world.fault(call="vipu.RemovePartition", action=FaultAction.STATUS, grpc_status="UNAVAILABLE")
        removal, next_one = await who.remove(winner), await who.create("three", 16)
        waits = "SELECT count(*) FROM operation_steps WHERE operation_id = :id AND blocked AND detail = :detail"
        detail = f"it has room once partition {winner} is removed"
        await until(lambda: world.value(waits, id=next_one.operation_id, detail=detail), detail)
        world.clear_faults()
        await who.done(removal)
        await who.done(next_one)


async def test_a_removal_takes_over_from_what_runs_on_its_partition(world: SiteWorld) -> None:
    async with world.worker():
        who = await customer(world)
        world.fault(call="vipu.CreatePartition", action=FaultAction.STATUS, grpc_status="UNAVAILABLE")
        making = await who.create("training", 4)
        await world.hit("vipu.CreatePartition")
        world.fault(call="vipu.*", action=FaultAction.STATUS, grpc_status="UNAVAILABLE")  # so that it is not done yet
        removal = await who.remove("training")
        assert await who.remove("training") == removal
        world.clear_faults()
        await who.done(removal)
        assert (await world.finished(making)).error["code"] == "preempted"
        assert world.partitions() == []
