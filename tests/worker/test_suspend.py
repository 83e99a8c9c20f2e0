"""Suspending and resuming a cluster as the worker does it, against the simulated site over its real protocols."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any
from uuid import UUID

import pytest

from ipucloud.billing.budgets.evaluate import evaluate_budgets
from ipucloud.billing.budgets.store import NewBudget, Owner, Threshold, create
from ipucloud.billing.pricing.book import install_prices
from ipucloud.kernel.errors import CAPACITY_EXHAUSTED
from ipucloud.kernel.money import Money
from ipucloud.policies.spend_stops import suspend_unpaid
from ipucloud.wire import vipu_admin_pb2 as pb
from tests.support.breakable import open_emptied_world
from tests.support.factories import set_quota
from tests.support.machine import Need, needs
from tests.support.site import SECURE
from tests.support.vipu import VipuDriver
from tests.support.waiting import PATIENCE, until
from tests.support.world import CALL_SECONDS, SiteWorld
from tests.worker.customers import Logins, refused

pytestmark = pytest.mark.anyio

FLAVOR = "m2000-pod8"
MACHINES = 2
SITE = {"machines": MACHINES, "options": [*SECURE, "--servers", "1"]}
WORLD = partial(open_emptied_world, partitions_quiet_interval=0.5)
SUSPEND_CALLS = (
    "hosts.power",
    "admin.RemovePartitions",
    "admin.RemoveUser",
    "admin.RemoveAllocation",
    "networks.delete",
    "redfish.reset",
)
RESUME_CALLS = {
    "attach_network": "networks.put",
    "create_allocation": "admin.CreateAllocation",
    "create_partition": "vipu.CreatePartition",
    "switch_on_poplar_servers": "hosts.power",
}


async def active(world: SiteWorld, name: str = "bert", **changes: Any) -> UUID:
    return await world.build(name, FLAVOR, **changes)


async def suspended(world: SiteWorld) -> UUID:
    cluster = await active(world)
    await world.succeeded(await world.suspend(cluster))
    return cluster


async def resumed(world: SiteWorld, cluster: UUID) -> None:
    await world.succeeded(await world.resume(cluster))


async def state(world: SiteWorld, cluster: UUID) -> str:
    return str(await world.value("SELECT state FROM clusters WHERE id = :id", id=cluster))


async def intervals(world: SiteWorld) -> tuple[int, int]:
    """How many there are, and how many of them are open."""
    return tuple(await world.one("SELECT count(*), count(*) FILTER (WHERE ended_at IS NULL) FROM usage_intervals"))


def hosts(world: SiteWorld) -> list[str]:
    """The states of those that are not clean."""
    site_hosts = world.site.http().get("/v1/hosts").json()["hosts"]
    return [host["state"] for host in site_hosts if host["state"] != "clean"]


def assert_only_servers_are_left(world: SiteWorld) -> None:
    assert world.site.http().get("/v1/networks").json()["networks"] == []
    assert (world.partitions(), hosts(world)) == ([], ["off"])


@needs(Need.OPENSSH)
async def test_what_was_on_the_server_is_there_after_the_resume(world: SiteWorld, logins: Logins) -> None:
    async with world.worker():
        cluster = await active(world, ssh_keys=["ours"])
        server = logins.to(await world.one("SELECT * FROM poplar_servers"))
        named = (await server.output("echo kept > notes; echo $IPUOF_VIPU_API_PARTITION_ID")).strip()
        await server.output(f"vipu remove partition {named}; vipu create partition mine --size 4")
        await world.succeeded(await world.suspend(cluster))
        assert_only_servers_are_left(world)
        assert (await asyncio.to_thread(server.ssh, "cat notes")).returncode != 0
        assert await world.free_machines() >= MACHINES
        assert (await intervals(world), await world.value("SELECT sum(used) FROM quotas")) == ((1, 0), 0)
        assert await world.findings() == []
        await resumed(world, cluster)
        assert await server.output("cat notes") == "kept\n"
        renamed = (await server.output("echo $IPUOF_VIPU_API_PARTITION_ID")).strip()
        assert (world.partitions(), renamed.rpartition("-")[2]) == ([renamed], "2")
        assert "-+- Id: [14]" in await server.output("gc-info -l")
        assert "success" in await server.output(f"vipu remove partition {renamed}")
        assert "success" in await server.output("vipu create partition mine --size 4")
        assert await intervals(world) == (2, 1)
        own = (
            "SELECT count(*) FROM partitions WHERE external_name = 'mine' AND state = 'active' AND origin = 'customer'"
        )
        await until(lambda: world.value(own), "the customer's own partition is shown")


async def test_a_key_that_was_ended_for_the_server_is_ended_until_the_resume(world: SiteWorld) -> None:
    """A new life has a new V-IPU user. The customer's own key is valid for it."""
    async with world.worker():
        cluster = await active(world)
        rotation = await world.rotate_key(cluster, ends_server_key=True)
        await world.succeeded(rotation.operation_id)
        await world.finished(await world.suspend(cluster))
        await resumed(world, cluster)
        user = await world.value("SELECT external_name FROM clusters")
        users = VipuDriver(world.site.channel()).admin.ListUsers(pb.ListUsersRequest(), timeout=CALL_SECONDS).users
        [vipu_user] = [each for each in users if each.id == user]
        [server] = set(vipu_user.access_key_ids) - {rotation.id}
        assert server.startswith(f"{user}-s")


async def test_the_machines_of_a_suspended_cluster_are_everybody_s(world: SiteWorld) -> None:
    """It comes back when there is room, on whichever machines that is."""
    async with world.worker():
        cluster = await suspended(world)
        other = await active(world, "ernie")
        assert (await refused(world.resume(cluster))).kind is CAPACITY_EXHAUSTED
        assert await state(world, cluster) == "suspended"
        await world.finished(await world.delete(other))
        await resumed(world, cluster)
        assert await state(world, cluster) == "active"


async def test_answers_lost_after_their_effect_change_nothing(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await active(world)
        for call in SUSPEND_CALLS:
            world.fault(call=call, action="drop_answer", times=1)
        await world.succeeded(await world.suspend(cluster))
        assert_only_servers_are_left(world)
        for call in RESUME_CALLS.values():
            world.fault(call=call, action="drop_answer", times=1)
        await resumed(world, cluster)
        assert len(world.partitions()) == 1


async def test_a_suspend_goes_on_until_it_holds_and_says_what_blocks_it(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await active(world)
        world.fault(call="hosts.power", action="status", status=503)
        operation = await world.suspend(cluster)
        await world.hit("hosts.power")
        await world.blocked(cluster)
        assert await intervals(world) == (1, 0)
        assert not await world.cancel(operation)
        world.clear_faults()
        for call in SUSPEND_CALLS:
            world.fault(call=call, action="status", status=503, grpc_status="UNAVAILABLE", times=2)
        await world.succeeded(operation)
    assert_only_servers_are_left(world)


@pytest.mark.parametrize("step", RESUME_CALLS)
async def test_a_resume_that_is_refused_leaves_the_cluster_suspended(world: SiteWorld, step: str) -> None:
    async with world.worker():
        cluster = await suspended(world)
        world.fault(call=RESUME_CALLS[step], action="status", status=422, grpc_status="INVALID_ARGUMENT")
        operation = await world.resume(cluster)
        await world.hit(RESUME_CALLS[step])
        world.clear_faults()
        ended = await world.finished(operation)
        assert (ended.state, ended.error["code"]) == ("failed", "site_refused")
        assert step in ended.error["detail"]
        assert await state(world, cluster) == "suspended"
        assert (await intervals(world), await world.free_machines() >= MACHINES) == ((1, 0), True)
        assert_only_servers_are_left(world)
        assert await world.findings() == []
        await resumed(world, cluster)


async def test_a_resume_can_be_cancelled(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await suspended(world)
        world.fault(call="hosts.power", action="status", status=503)
        operation = await world.resume(cluster)
        await world.reached(operation, "switch_on_poplar_servers")
        assert await world.cancel(operation)
        world.clear_faults()
        assert (await world.finished(operation)).state == "cancelled"
        assert (await state(world, cluster), await intervals(world)) == ("suspended", (1, 0))
        assert_only_servers_are_left(world)


@pytest.mark.parametrize("held", ["suspending", "suspended", "resuming"])
async def test_a_delete_takes_over(world: SiteWorld, held: str) -> None:
    async with world.worker():
        cluster = await (active if held == "suspending" else suspended)(world)
        preempted = None
        if held != "suspended":
            world.fault(call="hosts.power", action="status", status=503)
            preempted = await (world.suspend if held == "suspending" else world.resume)(cluster)
            await world.hit("hosts.power")
        deletion = await world.delete(cluster)
        world.clear_faults()
        await world.succeeded(deletion)
        if preempted is not None:
            assert (await world.finished(preempted)).error["code"] == "preempted"
    assert await intervals(world) == (1, 0)
    await world.assert_nothing_left()


async def test_a_server_with_ipus_of_its_own_is_switched_off_and_stays_the_customer_s(world: SiteWorld) -> None:
    """Its IPUs are where its disk is: nothing is given back, and what does not apply says so."""
    async with world.database.begin() as connection:
        await install_prices(connection, world.catalogue)
        await set_quota(connection, world.project.id, "lab-1", "c600-server", 1)
    free = await world.free_machines()
    async with world.worker():
        cluster = await world.build(flavor="c600-1")
        operation = await world.suspend(cluster)
        await world.succeeded(operation)
        assert hosts(world) == ["off"]
        assert (await intervals(world), await world.free_machines()) == ((1, 0), free - 1)
        skipped = await world.one(
            "SELECT array_agg(name ORDER BY name) AS names, min(detail) AS why FROM operation_steps"
            " WHERE operation_id = :id AND state = 'skipped'",
            id=operation.operation_id,
        )
        assert skipped.names == ["remove_allocation", "remove_partitions", "remove_vipu_user"]
        assert "does not apply" in skipped.why
        assert await world.findings() == []
        await resumed(world, cluster)
        assert (await intervals(world), hosts(world)) == ((2, 1), ["running"])


async def over_budget(world: SiteWorld) -> UUID:
    """Look at budgets until the cluster's first second is over; the operation that suspends it then."""
    async with asyncio.timeout(PATIENCE):
        while not await world.value("SELECT count(*) FROM operations WHERE kind = 'cluster.suspend'"):
            await evaluate_budgets(world.database)
            await suspend_unpaid(world.database, world.settings)
    operation: UUID = await world.value("SELECT id FROM operations WHERE kind = 'cluster.suspend'")
    return operation


async def test_a_cluster_says_why_it_was_suspended_as_long_as_it_is(world: SiteWorld) -> None:
    """The minute that began costs more than the budget has."""
    async with world.worker():
        await world.build(flavor="m2000-pod4")
        budget = NewBudget("NLP", Money.of("0.01", "EUR"), None, [Threshold("actual", 100, "suspend")])
        async with world.database.begin() as connection:
            await create(connection, Owner("project", world.project.id), budget, None)
        await world.succeeded(await over_budget(world))
        state, why = await world.one("SELECT state, state_reason FROM clusters")
        assert (state, why) == ("suspended", "the budget 'NLP' has reached 100 % of its amount (actual)")
        assert await world.value("SELECT count(*) FROM usage_intervals WHERE ended_at IS NULL") == 0
