"""What a customer finds on the servers of a cluster that the worker built, through the ordinary OpenSSH client."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any
from uuid import UUID

import pytest

from ipucloud.billing.pricing.book import install_prices
from ipucloud.operations.store import Accepted
from tests.support.factories import set_quota
from tests.support.machine import Need, need, needs
from tests.support.openssh import OpenSsh
from tests.support.site import SECURE
from tests.support.world import SiteWorld
from tests.worker.customers import Logins

pytestmark = [pytest.mark.anyio, needs(Need.OPENSSH)]

SITE = {"machines": 32, "options": SECURE}


@pytest.fixture
async def world(world: SiteWorld) -> AsyncIterator[SiteWorld]:
    """With servers of their own IPUs to sell, and a worker at work."""
    async with world.database.begin() as connection:
        await install_prices(connection, world.catalogue)
        await set_quota(connection, world.project.id, "lab-1", "c600-server", 1)
    async with world.worker():
        yield world


async def servers(world: SiteWorld, cluster: UUID) -> Sequence[Any]:
    return await world.rows("SELECT * FROM poplar_servers WHERE cluster_id = :id ORDER BY ordinal", id=cluster)


async def login(world: SiteWorld, logins: Logins, flavor: str = "m2000-pod4", **changes: Any) -> OpenSsh:
    """Create a cluster, and be ready to log in to its server."""
    [server] = await servers(world, await world.build(flavor=flavor, ssh_keys=["ours"], **changes))
    return logins.to(server)


async def test_a_customer_divides_the_cluster_by_hand(world: SiteWorld, logins: Logins) -> None:
    server = await login(world, logins, "m2000-pod8")
    assert "-+- Id: [14], target: [Multi IPU]" in await server.output("gc-info -l")
    own = (await server.output("echo $IPUOF_VIPU_API_PARTITION_ID")).strip()
    assert own in await server.output("vipu list allocations")
    assert "success" in await server.output(f"vipu remove partition {own}")
    output = await server.output(
        "vipu create partition p1 --size 4 --reconfigurable; vipu create partition p2 --size 4"
    )
    assert output == "create partition (p1): success.\ncreate partition (p2): success.\n"
    chosen = await server.output("export IPUOF_VIPU_API_PARTITION_ID=p1; gc-info -l")
    assert "Partition: p1 [active]" in chosen
    assert chosen.count("-+- Id:") == 7
    table = await server.output("vipu list partitions")
    assert [line.split()[0] for line in table.splitlines() if "ACTIVE" in line] == ["p1", "p2"]
    assert await server.output("vipu remove partition p1") == "remove partition (p1): success.\n"
    assert "p1" not in await server.output("vipu list partitions")
    # p2 stays: a delete takes down what customers made, too.


async def test_a_customer_finds_the_cards_of_a_server(world: SiteWorld, logins: Logins) -> None:
    server = await login(world, logins, "c600-4")
    listing = await server.output("gc-info -l")
    assert listing.count("target: [PCIe]") == 4
    assert "-+- Id: [6], target: [Multi IPU]" in listing
    assert await server.output("echo $POPLAR_TARGET_OPTIONS") == '{"ipuLinkTopology":"line"}\n'


async def test_each_server_of_a_pod_of_two_domains_sees_one_of_them(world: SiteWorld, logins: Logins) -> None:
    cluster = await world.build(flavor="m2000-pod128", ssh_keys=["ours"])
    machines = []
    for gcd, row in enumerate(await servers(world, cluster)):
        server = logins.to(row)
        table = await server.output("gc-monitor")
        assert f"(gcd:{gcd}) [active] has 64 IPUs" in table
        machines.append(set(re.findall(r"10\.5\.\d+\.\d+", table)))
        assert await server.output("echo $IPUOF_VIPU_API_TIMEOUT") == "3600\n"
    assert [len(each) for each in machines] == [16, 16]
    assert not machines[0] & machines[1]


async def environment(row: Any, logins: Logins) -> str:
    """By which a server finds the cluster's partition, and what it sees of it."""
    names = ("HOST", "PORT", "PARTITION_ID", "GCD_ID", "TIMEOUT")
    echo = " ".join(f"$IPUOF_VIPU_API_{name}" for name in names)
    return await logins.run(row, f"echo {echo}; gc-monitor | grep gcd:")


async def test_one_of_two_servers_is_restarted_and_rebuilt_and_the_other_goes_on(
    world: SiteWorld, logins: Logins
) -> None:
    cluster = await world.build(flavor="m2000-pod64", ssh_keys=["ours"], poplar_servers=2)
    first, second = await servers(world, cluster)
    before = [await environment(each, logins) for each in (first, second)]
    partition = await world.external_name(cluster)
    assert f" {partition} 0 " in before[0]
    assert "(gcd:0) [active] has 64 reconfigurable IPUs" in before[0]
    assert before[0] == before[1], "both have the same domain"
    for each in (first, second):
        await logins.run(each, "echo work > notes")
    changes: Sequence[tuple[Callable[[], Awaitable[Accepted]], bool]] = (
        (lambda: world.restart(cluster, second.name), False),
        (lambda: world.restart(cluster, second.name, hard=True), False),
        (lambda: world.rebuild(cluster, disk="keep", poplar_servers=[second.name]), False),
        (lambda: world.rebuild(cluster, poplar_servers=[second.name]), True),
    )
    for change, lost in changes:
        await world.succeeded(await change())
        present = await servers(world, cluster)
        assert [each.state for each in present] == ["running", "running"]
        assert (present[0].generation, present[0].host_key) == (first.generation, first.host_key)
        assert [await environment(each, logins) for each in present] == before
        assert await logins.run(present[0], "cat notes") == "work\n"
        kept = await logins.run(present[1], "cat notes || echo gone")
        assert kept.strip() == ("gone" if lost else "work")
    assert await world.column("SELECT count(*) FROM usage_intervals WHERE resource_id = :id", id=cluster) == [1]
    await world.succeeded(await world.suspend(cluster))
    await world.succeeded(await world.resume(cluster))
    resumed = await servers(world, cluster)
    assert [await logins.run(each, "cat notes || echo gone") for each in resumed] == ["work\n", "gone\n"]
    assert "(gcd:0) [active] has 64 reconfigurable IPUs" in await environment(resumed[1], logins)


async def test_user_data_is_carried_out_before_the_cluster_is_active(world: SiteWorld, logins: Logins) -> None:
    need(Need.SANDBOX)
    text = "#cloud-config\nhostname: trainer\nruncmd: ['echo ready > /data/ready']\n"
    server = await login(world, logins, user_data=text)
    assert await server.output("cat /data/ready; hostname; cloud-init status") == "ready\ntrainer\nstatus: done\n"


async def test_user_data_that_fails_is_told_and_the_cluster_works(world: SiteWorld) -> None:
    cluster = await world.build(ssh_keys=["ours"], user_data="#!/bin/sh\nexit 7\n")
    query = (
        "SELECT s.detail FROM operation_steps s JOIN operations o ON o.id = s.operation_id"
        " WHERE o.cluster_id = :id AND s.name = 'check_ipus'"
    )
    detail = (await world.one(query, id=cluster)).detail
    assert re.match(r"the user data failed at the first boot of host \S+: ", detail)
    assert ("part-001 ended with status 7" in detail) or ("this machine confines no programs" in detail)
