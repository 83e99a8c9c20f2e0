"""A cluster's user at a secure controller: its keys, what they open, and what comes of a controller that forgets."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any
from uuid import UUID

import grpc
import pytest

from ipucloud.clusters.operations.rotate_key import NewKey
from ipucloud.kernel.errors import OPERATION_IN_PROGRESS
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire import vipu_pb2_grpc as pb_grpc
from ipucloud.wire.vipu_calls import ACCESS_KEY, USER
from tests.support.breakable import open_emptied_world
from tests.support.site import SECURE
from tests.support.vipu import CALL_SECONDS, VipuDriver, code_of
from tests.support.waiting import until
from tests.support.world import SiteWorld
from tests.worker.customers import refused

pytestmark = pytest.mark.anyio

SITE = {"machines": 16, "options": SECURE}
WORLD = partial(open_emptied_world, partitions_quiet_interval=0.1)


@pytest.fixture
async def world(world: SiteWorld) -> AsyncIterator[SiteWorld]:
    yield world
    async with world.worker():
        await world.delete_all()
    assert list(users(world)) == ["ipucloud"]


def users(world: SiteWorld) -> dict[str, admin.User]:
    driver = VipuDriver(world.site.channel())
    return {user.id: user for user in driver.admin.ListUsers(admin.ListUsersRequest(), timeout=CALL_SECONDS).users}


def called(world: SiteWorld, key: NewKey, method: str, request: object) -> Any:
    """A call of the customer at the endpoint that the key was shown with."""
    stub = pb_grpc.UserServiceStub(world.site.tenant_channel(key.host, key.port))
    return getattr(stub, method)(request, timeout=CALL_SECONDS, metadata=[(USER, key.user), (ACCESS_KEY, key.secret)])


def sees(world: SiteWorld, key: NewKey) -> list[str] | None:
    """The partitions that a caller with this key sees; None when nobody is let in with it, or nobody answers."""
    try:
        answer = called(world, key, "ListPartitions", pb.ListPartitionsRequest())
    except grpc.RpcError as refusal:
        if code_of(refusal) not in {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNAVAILABLE}:
            raise
        return None
    return [partition.id for partition in answer.partitions]


async def replaced(world: SiteWorld, cluster: UUID, *, ends_server_key: bool = False) -> NewKey:
    rotation = await world.rotate_key(cluster, ends_server_key=ends_server_key)
    await world.succeeded(rotation.operation_id)
    return rotation


async def test_a_new_key_takes_the_place_of_the_one_before(world: SiteWorld) -> None:
    async with world.worker():
        one = await world.build("one")
        other = await world.build("other")
        name = await world.external_name(one)
        (server_key,) = users(world)[name].access_key_ids
        first = await replaced(world, one)
        assert sees(world, first) == [name]
        assert set(users(world)[name].access_key_ids) == {server_key, first.id}
        world.fault(call="admin.CreateAccessKey", action="drop_answer", times=1)
        second = await replaced(world, one, ends_server_key=True)
        assert (sees(world, first), sees(world, second)) == (None, [name])
        assert list(users(world)[name].access_key_ids) == [second.id]
        await _use_the_same_name(world, {one: second, other: await replaced(world, other)})
        await world.succeeded(await world.delete(one))
    assert sees(world, second) is None


async def _use_the_same_name(world: SiteWorld, keys: Mapping[UUID, NewKey]) -> None:
    """Each customer has a partition `p1` in place of the cluster's own, and sees no other."""
    for cluster, key in keys.items():
        called(world, key, "RemovePartition", pb.RemovePartitionRequest(partition_id=key.user))
        requirements = pb.PartitionRequirements(id="p1", size=4)
        called(world, key, "CreatePartition", pb.CreatePartitionRequest(requirements=requirements))
        assert sees(world, key) == ["p1"]
        await until(partial(_has, world, cluster, "p1"), "the partition is shown")


async def _has(world: SiteWorld, cluster: UUID, name: str) -> bool:
    query = (
        "SELECT EXISTS (SELECT FROM partitions WHERE cluster_id = :id AND external_name = :name AND state = 'active')"
    )
    return bool(await world.value(query, id=cluster, name=name))


async def test_what_a_controller_forgot_is_made_again_with_the_same_keys(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor="m2000-pod4")
        key = await replaced(world, cluster)
        before = set(users(world)[key.user].access_key_ids)

        def everything() -> None:
            world.http.post("/v1/controllers/luxembourg-2:forget").raise_for_status()

        def user_alone() -> None:
            request = admin.RemoveUserRequest(id=key.user)
            VipuDriver(world.site.channel()).admin.RemoveUser(request, timeout=CALL_SECONDS)

        for forget in (everything, user_alone):
            forget()
            assert sees(world, key) is None
            findings = await world.findings()
            assert [finding.rule.name for finding in findings] == ["cluster_in_use_has_its_allocation"]
            (repaired,) = await world.repairer().repair(findings)
            assert repaired.operation_id is not None
            await world.succeeded(repaired.operation_id)
            assert sees(world, key) == [key.user]
            assert set(users(world)[key.user].access_key_ids) == before


async def test_without_a_key_of_its_own_an_installation_makes_no_clusters(world: SiteWorld) -> None:
    async with world.worker(secrets_key=None):
        creation = await world.create(flavor="m2000-pod4")
        ended = await world.finished(creation.operation_id)
    assert (ended.state, ended.error["code"]) == ("failed", "site_refused")
    assert "operator must set one" in ended.error["detail"]


async def test_a_link_that_breaks_is_shown_as_its_controller_sees_it(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build(flavor="m2000-pod8")
        names = await world.value(
            "SELECT array_agg(m.name ORDER BY m.slot) FROM allocations a JOIN machines m ON m.id = a.machine_id"
            " WHERE a.cluster_id = :id",
            id=cluster,
        )
        link = f"/v1/machines/{names[0]}/links/next"
        for action, body, state in (("fail", {"state": "degraded"}, "degraded"), ("repair", None, "up")):
            world.http.post(f"{link}:{action}", json=body).raise_for_status()
            await until(partial(_shows, world, cluster, ["next", names, state]), f"the link is {state}")


async def _shows(world: SiteWorld, cluster: UUID, link: list[object]) -> bool:
    return link in (await world.value("SELECT (SELECT links FROM vipu_links WHERE cluster_id = :id)", id=cluster) or [])


async def test_partitions_change_and_the_key_is_replaced_at_the_same_time(world: SiteWorld) -> None:
    async with world.worker():
        cluster = await world.build()
        await world.succeeded(await world.remove_partition(cluster, await world.external_name(cluster)))
        await world.succeeded(await world.create_partition(cluster, "old", 1))
        world.fault(call="vipu.CreatePartition", action="status", grpc_status="UNAVAILABLE")
        given_up, creation = [await world.create_partition(cluster, name, 1) for name in ("given-up", "made")]
        await world.hit("vipu.CreatePartition")
        for request in (world.reset_partition(cluster, "made"), world.suspend(cluster)):
            assert (await refused(request)).kind is OPERATION_IN_PROGRESS
        await world.succeeded(await world.reset_partition(cluster, "old"))
        await replaced(world, cluster)
        assert await world.cancel(given_up)
        assert (await world.finished(given_up)).state == "cancelled"
        removal = await world.remove_partition(cluster, "old")
        world.clear_faults()
        await world.succeeded(creation)
        await world.succeeded(removal)
        assert len(world.partitions()) == 1
