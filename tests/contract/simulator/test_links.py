"""Links that break: what fails with them, what the tests find, and where partitions go."""

from __future__ import annotations

import httpx
import pytest

from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb
from tests.support.site import RunningSite
from tests.support.vipu import CALL_SECONDS, PodDriver, VipuDriver
from tests.support.waiting import eventually


@pytest.fixture
def http(http: httpx.Client, shared_site: RunningSite) -> httpx.Client:
    """The site's client; every link is repaired before."""
    for machine in shared_site.region().pods[0].machines:
        for kind in ("internal", "next", "gateway"):
            done = http.post(f"/v1/machines/{machine.name}/links/{kind}:repair")
            assert done.status_code == 204
    return http


def fail(http: httpx.Client, machine: str, kind: str, state: str = "down") -> None:
    http.post(f"/v1/machines/{machine}/links/{kind}:fail", json={"state": state}).raise_for_status()


def create(vipu: VipuDriver, name: str, size: int, *, relocatable: bool = False, num_gcds: int = 1) -> None:
    """A partition in allocation `a` that stays as it fails, unless it may move."""
    requirements = pb.PartitionRequirements(id=name, size=size, num_gcds=num_gcds, allocation_id="a")
    request = pb.CreatePartitionRequest(
        requirements=requirements, relocatable=relocatable, disable_auto_reset=not relocatable
    )
    vipu.user.CreatePartition(request, timeout=CALL_SECONDS)


def failures(vipu: VipuDriver, name: str) -> dict[int, set[str]]:
    """The links that each kind of test found broken."""
    vipu.admin.TestCluster(admin.TestClusterRequest(id=name, allocation_id="a"), timeout=CALL_SECONDS)
    reply = vipu.admin.GetClusterTest(admin.GetClusterTestRequest(id=name), timeout=CALL_SECONDS)
    return {result.kind: {link.link for link in result.links if not link.passed} for result in reply.test.results}


def test_a_link_takes_down_the_partitions_across_it_and_says_so(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(4)
    create(vipu, "across", 8)
    create(vipu, "beside", 4)
    fail(http, vipu.pod[0], "next")
    status = vipu.status("across")
    assert (status.ready_state, status.operation_state) == (pb.PS_ERROR, pb.POS_FAILED)
    assert list(status.errors) == [f"link {vipu.pod[0]}/next from {vipu.pod[0]} to {vipu.pod[1]} is down"]
    assert vipu.status("beside").ready_state == pb.PS_ACTIVE
    http.post(f"/v1/machines/{vipu.pod[0]}/links/next:repair").raise_for_status()
    vipu.reset("across")
    assert vipu.status("across").ready_state == pb.PS_ACTIVE


def test_a_partition_is_not_placed_across_a_link_that_is_down(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(4)
    fail(http, vipu.pod[0], "next")
    vipu.create("p", 8, allocation_id="a")
    assert {ipu.topology_id // 4 for ipu in vipu.partitions()["p"].spec.ipus} == {2, 3}


def test_a_relocatable_partition_leaves_a_broken_link(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(4)
    create(vipu, "p", 8, relocatable=True)
    assert vipu.status("p").ready_state == pb.PS_ACTIVE
    fail(http, vipu.pod[0], "next")
    eventually(lambda: vipu.status("p").ready_state == pb.PS_ACTIVE, "the partition moves and is active again")
    status = vipu.status("p")
    assert (status.auto_reset_retry_count, status.HasField("last_auto_reset_time")) == (1, True)
    assert {ipu.topology_id // 4 for ipu in vipu.partitions()["p"].spec.ipus} == {2, 3}


def test_each_test_finds_the_links_that_it_covers(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(3)
    assert set().union(*failures(vipu, "sound").values()) == set()
    fail(http, vipu.pod[0], "next")
    fail(http, vipu.pod[1], "internal")
    fail(http, vipu.pod[2], "internal", "degraded")
    links = failures(vipu, "broken")
    cable, inside, weak = f"{vipu.pod[0]}/next", f"{vipu.pod[1]}/internal", f"{vipu.pod[2]}/internal"
    assert links == {
        admin.TEST_VERSION: set(),
        admin.TEST_CABLING: {cable},
        admin.TEST_SYNC_LINK: {cable},
        admin.TEST_LINK_TRAINING: {cable, inside},
        admin.TEST_TRAFFIC: {cable, inside, weak},
    }


def test_gateway_links_join_domains(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.allocate("a", vipu.cluster, size=32)
    create(vipu, "p", 128, num_gcds=2)
    assert vipu.status("p").ready_state == pb.PS_ACTIVE
    fail(http, vipu.pod[5], "gateway")
    assert f"{vipu.pod[5]}/gateway" in vipu.status("p").errors[0]


def test_a_degraded_link_shows_in_the_attributes_and_hurts_nobody(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(2)
    vipu.create("p", 8, allocation_id="a")
    fail(http, vipu.pod[0], "next", "degraded")
    reply = vipu.user.ListIPUAttributes(pb.ListIPUAttributesRequest(agents=vipu.pod[:2]), timeout=CALL_SECONDS)
    weak, sound = (entry.ipu_attributes[0].attributes for entry in reply.entries)
    assert int(weak["link correctable error count"]) > int(sound["link correctable error count"]) == 0
    assert vipu.status("p").ready_state == pb.PS_ACTIVE


def test_links_that_do_not_exist_are_not_found(http: httpx.Client, pod: list[str]) -> None:
    for path in (f"{pod[0]}/links/antenna", "none/links/next"):
        assert http.post(f"/v1/machines/{path}:fail", json={}).status_code == 404
    assert http.post(f"/v1/machines/{pod[0]}/links/next:fail", json={"state": "up"}).status_code == 422


def test_links_are_reported_as_they_are_now(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(3)
    fail(http, vipu.pod[0], "next")
    fail(http, vipu.pod[2], "internal", "degraded")
    links = vipu.admin.ListLinks(admin.ListLinksRequest(allocation_id="a"), timeout=CALL_SECONDS).links
    assert {(link.from_agent, link.to_agent, link.kind): link.state for link in links} == {
        (vipu.pod[0], vipu.pod[0], admin.LINK_INTERNAL): admin.LS_UP,
        (vipu.pod[0], vipu.pod[1], admin.LINK_NEXT): admin.LS_DOWN,
        (vipu.pod[1], vipu.pod[1], admin.LINK_INTERNAL): admin.LS_UP,
        (vipu.pod[1], vipu.pod[2], admin.LINK_NEXT): admin.LS_UP,
        (vipu.pod[2], vipu.pod[2], admin.LINK_INTERNAL): admin.LS_DEGRADED,
    }
