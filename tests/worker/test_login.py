"""What a customer finds on the servers of a cluster that the worker built, through the ordinary OpenSSH client."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from pydantic import ValidationError

from ipucloud.billing.pricing.book import install_prices
from ipucloud.operations.store import Accepted
from tests.support.factories import make_ssh_key, set_quota
from tests.support.machine import Need, need, needs
from tests.support.openssh import KeyPair, OpenSsh, make_key
from tests.support.postgres import Database as Scratch
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.world import SiteWorld, open_site_world

pytestmark = [
    pytest.mark.anyio,
    needs(Need.OPENSSH),
]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=32, options=SECURE) as site:
        yield site


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> KeyPair:
    return make_key(tmp_path_factory.mktemp("key"))


@pytest.fixture
async def world(database: Scratch, site: RunningSite, key: KeyPair) -> AsyncIterator[SiteWorld]:
    """A project whose key we hold, and a worker at work."""
    async with open_site_world(database, site) as world:
        async with world.database.begin() as connection:
            await make_ssh_key(connection, world.project.id, "ours", key.public_line)
            await install_prices(connection, world.catalogue)
            await set_quota(connection, world.project.id, "lab-1", "c600-server", 1)
        async with world.worker():
            yield world
            await world.delete_all()
        await world.assert_nothing_left()


async def login(world: SiteWorld, flavor: str, key: KeyPair, folder: Path) -> OpenSsh:
    """Create a cluster, and be ready to log in to its server."""
    cluster = await world.build(flavor=flavor, ssh_keys=["ours"])
    row = await world.one("SELECT * FROM poplar_servers WHERE cluster_id = :id", id=cluster)
    return OpenSsh.to(row, key, folder)


async def test_a_customer_divides_the_cluster_by_hand(world: SiteWorld, key: KeyPair, tmp_path: Path) -> None:
    server = await login(world, "m2000-pod8", key, tmp_path)
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


async def test_a_customer_finds_the_cards_of_a_server(world: SiteWorld, key: KeyPair, tmp_path: Path) -> None:
    server = await login(world, "c600-4", key, tmp_path)
    listing = await server.output("gc-info -l")
    assert listing.count("target: [PCIe]") == 4
    assert "-+- Id: [6], target: [Multi IPU]" in listing
    assert await server.output("echo $POPLAR_TARGET_OPTIONS") == '{"ipuLinkTopology":"line"}\n'


async def test_each_server_of_a_pod_of_two_domains_sees_one_of_them(
    world: SiteWorld, key: KeyPair, tmp_path: Path
) -> None:
    cluster = await world.build(flavor="m2000-pod128", ssh_keys=["ours"])
    rows = await world.rows("SELECT * FROM poplar_servers WHERE cluster_id = :id ORDER BY name", id=cluster)
    machines = []
    for gcd, row in enumerate(rows):
        server = OpenSsh.to(row, key, tmp_path)
        table = await server.output("gc-monitor")
        assert f"(gcd:{gcd}) [active] has 64 IPUs" in table
        machines.append(set(re.findall(r"10\.5\.\d+\.\d+", table)))
        assert await server.output("echo $IPUOF_VIPU_API_TIMEOUT") == "3600\n"
    assert [len(each) for each in machines] == [16, 16]
    assert not machines[0] & machines[1]


async def test_two_servers_of_one_domain_see_all_of_it_and_restart_apart(
    world: SiteWorld, key: KeyPair, tmp_path: Path
) -> None:
    cluster = await world.build(flavor="m2000-pod64", ssh_keys=["ours"], poplar_servers=2)
    rows = await world.rows("SELECT * FROM poplar_servers WHERE cluster_id = :id ORDER BY ordinal", id=cluster)
    for row in rows:
        server = OpenSsh.to(row, key, tmp_path)
        assert "(gcd:0) [active] has 64 reconfigurable IPUs" in await server.output("gc-monitor; echo work > notes")
    await world.succeeded(await world.restart(cluster, rows[1].name))
    states = await world.column("SELECT state FROM poplar_servers ORDER BY ordinal")
    assert states == ["running", "running"]
    await world.succeeded(await world.suspend(cluster))
    await world.succeeded(await world.resume(cluster))
    rows = await world.rows("SELECT * FROM poplar_servers WHERE cluster_id = :id ORDER BY ordinal", id=cluster)
    for row in rows:
        server = OpenSsh.to(row, key, tmp_path)
        assert await server.output("cat notes") == "work\n"
        assert "(gcd:0) [active] has 64 reconfigurable IPUs" in await server.output("gc-monitor")


async def environment(row: sa.Row[Any], key: KeyPair, folder: Path) -> str:
    """By which a server finds the cluster's partition, and what it sees of it."""
    names = ("HOST", "PORT", "PARTITION_ID", "GCD_ID", "TIMEOUT")
    echo = " ".join(f"$IPUOF_VIPU_API_{name}" for name in names)
    return await OpenSsh.to(row, key, folder).output(f"echo {echo}; gc-monitor | grep gcd:")


async def test_one_of_two_servers_is_restarted_and_rebuilt_and_the_other_goes_on(
    world: SiteWorld, key: KeyPair, tmp_path: Path
) -> None:
    cluster = await world.build(flavor="m2000-pod64", ssh_keys=["ours"], poplar_servers=2)
    servers = "SELECT * FROM poplar_servers WHERE cluster_id = :id ORDER BY ordinal"
    first, second = await world.rows(servers, id=cluster)
    before = [await environment(each, key, tmp_path) for each in (first, second)]
    partition = await world.external_name(cluster)
    assert f" {partition} 0 " in before[0]
    assert before[0] == before[1], "both have the same domain"
    for each in (first, second):
        await OpenSsh.to(each, key, tmp_path).output("echo work > notes")
    changes: Sequence[tuple[Callable[[], Awaitable[Accepted]], bool]] = (
        (lambda: world.restart(cluster, second.name), False),
        (lambda: world.restart(cluster, second.name, hard=True), False),
        (lambda: world.rebuild(cluster, disk="keep", poplar_servers=[second.name]), False),
        (lambda: world.rebuild(cluster, poplar_servers=[second.name]), True),
    )
    for change, lost in changes:
        await world.succeeded(await change())
        present = await world.rows(servers, id=cluster)
        assert [each.state for each in present] == ["running", "running"]
        assert (present[0].generation, present[0].host_key) == (first.generation, first.host_key)
        assert [await environment(each, key, tmp_path) for each in present] == before
        assert await OpenSsh.to(present[0], key, tmp_path).output("cat notes") == "work\n"
        kept = await OpenSsh.to(present[1], key, tmp_path).output("cat notes || echo gone")
        assert kept.strip() == ("gone" if lost else "work")
    assert await world.column("SELECT count(*) FROM usage_intervals WHERE resource_id = :id", id=cluster) == [1]


async def test_user_data_is_carried_out_before_the_cluster_is_active(
    world: SiteWorld, key: KeyPair, tmp_path: Path
) -> None:
    need(Need.SANDBOX)
    text = "#cloud-config\nhostname: trainer\nruncmd: ['echo ready > /data/ready']\n"
    cluster = await world.build(ssh_keys=["ours"], user_data=text)
    row = await world.one("SELECT * FROM poplar_servers WHERE cluster_id = :id", id=cluster)
    server = OpenSsh.to(row, key, tmp_path)
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


async def test_user_data_that_is_not_supported_is_refused_by_its_name(world: SiteWorld) -> None:
    with pytest.raises(ValidationError, match="key 'packages' is not supported; supported are bootcmd, hostname"):
        await world.create(user_data="#cloud-config\npackages: [htop]\n")
