"""What goes wrong on purpose: every kind of fault on both protocols, and where each leaves the site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import grpc
import httpx
import pytest

from ipucloud.laboratory.simulator.faults import FaultBook
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.faults import FaultAction, FaultList, FaultRule
from ipucloud.wire.inventory import LinkKind, LinkState
from tests.support.site import RunningSite
from tests.support.vipu import CALL_SECONDS, VipuDriver, code_of, sentence_of
from tests.support.waiting import eventually

SHORT = 0.3
LONG = 60.0
LATE = 3.0
"""After which an effect comes late: time enough for what has to come before it on a busy machine."""
NETWORK = {"region": "luxembourg-2", "machines": [], "hosts": ["lux2-h001"]}


@pytest.fixture
def impatient(shared_site: RunningSite) -> httpx.Client:
    """A client that waits for an answer no longer than a test wants to."""
    return shared_site.http(timeout=httpx.Timeout(CALL_SECONDS, read=SHORT))


def fault(http: httpx.Client, call: str, action: str, **fields: Any) -> str:
    answer = http.post("/v1/faults", json={"call": call, "action": action, **fields})
    rule: str = answer.raise_for_status().json()["id"]
    return rule


def hits(http: httpx.Client, rule: str) -> int:
    rules = FaultList.model_validate(http.get("/v1/faults").json()).faults
    return next(kept.hits for kept in rules if kept.id == rule)


def test_a_status_is_answered_before_any_effect(http: httpx.Client) -> None:
    fault(http, "networks.put", "status", status=502)
    assert http.put("/v1/networks/n", json=NETWORK).status_code == 502
    assert http.get("/v1/networks/n").status_code == 404


def test_a_dropped_answer_leaves_the_effect(http: httpx.Client) -> None:
    fault(http, "networks.put", "drop_answer", times=1)
    with pytest.raises(httpx.TransportError):
        http.put("/v1/networks/n", json=NETWORK)
    assert http.get("/v1/networks/n").json()["state"] == "ready"


def test_a_stalled_call_has_no_effect_and_no_answer(http: httpx.Client, impatient: httpx.Client) -> None:
    rule = fault(http, "networks.put", "stall")
    with pytest.raises(httpx.ReadTimeout):
        impatient.put("/v1/networks/n", json=NETWORK)
    eventually(lambda: hits(http, rule) == 1, "the call arrives")
    assert http.get("/v1/networks/n").status_code == 404


def test_latency_makes_an_impatient_caller_give_up(http: httpx.Client, impatient: httpx.Client) -> None:
    rule = fault(http, "networks.list", "latency", seconds=LONG, times=1)
    with pytest.raises(httpx.ReadTimeout):
        impatient.get("/v1/networks")
    eventually(lambda: hits(http, rule) == 1, "the call arrives")
    assert http.get("/v1/networks").status_code == 200


def test_an_error_can_follow_the_effect(http: httpx.Client) -> None:
    fault(http, "networks.put", "status_after", status=500, times=1)
    assert http.put("/v1/networks/n", json=NETWORK).status_code == 500
    assert http.get("/v1/networks/n").json()["state"] == "ready"


def test_a_rule_hits_as_often_as_it_says(http: httpx.Client) -> None:
    rule = fault(http, "hosts.get", "status", times=2)
    statuses = [http.get("/v1/hosts/lux2-h001").status_code for _ in range(4)]
    assert statuses == [503, 503, 200, 200]
    assert hits(http, rule) == 2


def test_a_rule_hits_only_the_objects_that_it_names(http: httpx.Client) -> None:
    fault(http, "hosts.*", "status", target="*-h00[12]")
    assert http.get("/v1/hosts/lux2-h001").status_code == 503
    assert http.get("/v1/hosts/lux2-h003").status_code == 200


def test_rules_never_reach_the_routes_that_set_them(http: httpx.Client) -> None:
    rule = fault(http, "*", "stall")
    assert http.delete("/v1/faults", params={"id": rule}).status_code == 204
    assert http.get("/v1/inventory").status_code == 200


def test_rules_that_make_no_sense_are_refused(http: httpx.Client) -> None:
    for body in ({"status": 200}, {"grpc_status": "FINE"}, {"probability": 2}, {"action": "sulk"}):
        assert http.post("/v1/faults", json={"call": "*", "action": "status", **body}).status_code == 422
    assert http.delete("/v1/faults", params={"id": "none"}).status_code == 404


@pytest.mark.parametrize("call", ["vipu.CreatePartition", "vipu.*"])
def test_a_grpc_status_is_answered_before_any_effect(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str], call: str
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, call, "status", target="p", grpc_status="INTERNAL")
    with pytest.raises(grpc.RpcError) as caught:
        vipu.create("p", 4)
    assert code_of(caught.value) is grpc.StatusCode.INTERNAL
    assert vipu.partitions() == {}


def test_a_dropped_grpc_answer_leaves_the_effect(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, "vipu.CreatePartition", "drop_answer", times=1)
    with pytest.raises(grpc.RpcError) as caught:
        vipu.create("p", 4)
    assert code_of(caught.value) is grpc.StatusCode.UNAVAILABLE
    assert set(vipu.partitions()) == {"p"}


def test_a_stalled_grpc_call_has_no_effect(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    rule = fault(http, "vipu.CreatePartition", "stall")
    vipu.create_and_give_up("p", 4, lambda: hits(http, rule) == 1)
    assert vipu.partitions() == {}


def test_a_partition_that_is_ready_after_its_caller_gave_up_is_still_there(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, "vipu.CreatePartition", "drop_answer", seconds=LONG)
    vipu.create_and_give_up("p", 4, lambda: "p" in vipu.partitions())
    http.delete("/v1/faults").raise_for_status()
    with pytest.raises(grpc.RpcError) as caught:
        vipu.create("p", 4)
    assert code_of(caught.value) is grpc.StatusCode.ALREADY_EXISTS
    assert vipu.status("p").partition_id == "p"


def test_a_grpc_effect_takes_place_although_its_caller_got_an_error(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, "vipu.CreatePartition", "status_after", times=1)
    with pytest.raises(grpc.RpcError):
        vipu.create("p", 4)
    assert set(vipu.partitions()) == {"p"}


def test_a_grpc_effect_takes_place_although_its_caller_gave_up(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    rule = fault(http, "vipu.CreatePartition", "latency", seconds=LATE, times=1)
    vipu.create_and_give_up("p", 4, lambda: hits(http, rule) == 1)
    eventually(lambda: set(vipu.partitions()) == {"p"}, "the effect takes place")


def test_administrative_calls_fail_too(http: httpx.Client, vipu: VipuDriver, cluster_id: str) -> None:
    fault(http, "admin.CreateAllocation", "status", target="a", grpc_status="UNAVAILABLE", times=1)
    with pytest.raises(grpc.RpcError) as caught:
        vipu.allocate("a", cluster_id, size=1)
    assert code_of(caught.value) is grpc.StatusCode.UNAVAILABLE
    assert "fault-" in sentence_of(caught.value)
    vipu.allocate("a", cluster_id, size=1)
    assert vipu.admin.GetAllocation(admin.GetAllocationRequest(id="a"), timeout=CALL_SECONDS).allocation.id == "a"


def test_a_rule_fires_on_every_nth_call(http: httpx.Client) -> None:
    fault(http, "hosts.get", "status", every=3)
    statuses = [http.get("/v1/hosts/lux2-h001").status_code for _ in range(6)]
    assert statuses == [200, 200, 503, 200, 200, 503]


def test_an_effect_can_take_place_twice(http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    vipu.create("p", 4)
    fault(http, "vipu.RemovePartition", "duplicate", target="p", times=1, seconds=LATE)
    vipu.remove("p")
    vipu.create("p", 4)
    eventually(lambda: vipu.partitions() == {}, "the late twin of the removal takes the new partition")


def test_an_earlier_answer_can_come_again(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, "vipu.ListPartitions", "stale", every=2)
    assert vipu.partitions() == {}
    vipu.create("p", 4)
    assert vipu.partitions() == {}
    assert set(vipu.partitions()) == {"p"}


def test_a_partition_can_fail_to_come_up_for_a_while(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:2])
    fault(http, "vipu.CreatePartition", "fail_partition", target="p", error="3 of 4 IPUs came up", failures=4)
    fault(http, "vipu.CreatePartition", "fail_partition", target="q", failures=2)
    vipu.create("p", 4)
    vipu.create("q", 4)
    status = vipu.status("p")
    assert (status.ready_state, status.auto_reset_retry_count) == (pb.PS_ERROR, 3)
    assert "3 of 4 IPUs came up" in status.errors[0]
    assert (vipu.status("q").ready_state, vipu.status("q").auto_reset_retry_count) == (pb.PS_ACTIVE, 2)


def test_a_partition_can_be_pending_for_ever(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, "vipu.CreatePartition", "hang_partition")
    vipu.create("p", 4)
    for _ in range(3):
        assert (vipu.status("p").ready_state, vipu.status("p").operation_state) == (pb.PS_PENDING, pb.POS_CREATING)
    vipu.remove("p")
    assert vipu.partitions() == {}


def test_an_earlier_http_answer_can_come_again(http: httpx.Client) -> None:
    fault(http, "networks.list", "stale", every=2)
    assert http.get("/v1/networks").json()["networks"] == []
    http.put("/v1/networks/n", json=NETWORK).raise_for_status()
    assert http.get("/v1/networks").json()["networks"] == []
    assert len(http.get("/v1/networks").json()["networks"]) == 1


def test_an_http_effect_can_take_place_twice(http: httpx.Client) -> None:
    http.put("/v1/networks/n", json=NETWORK).raise_for_status()
    fault(http, "networks.delete", "duplicate", times=1, seconds=LATE)
    http.delete("/v1/networks/n").raise_for_status()
    http.put("/v1/networks/n", json=NETWORK).raise_for_status()
    eventually(lambda: http.get("/v1/networks/n").status_code == 404, "the late twin of the removal takes the network")


def test_a_machine_fails_as_a_call_arrives(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    vipu.create("p", 4)
    fault(http, "vipu.GetPartitionStatus", "fail_machine", machine=pod[0], every=2, times=1)
    assert vipu.status("p").ready_state == pb.PS_ACTIVE
    assert vipu.status("p").ready_state != pb.PS_ACTIVE
    assert vipu.silent_agents() == [pod[0]]


def test_hardware_that_does_not_exist_cannot_fail(http: httpx.Client, pod: list[str]) -> None:
    for body in (
        {"call": "clock", "action": "fail_machine", "machine": "none"},
        {"call": "clock", "action": "fail_link"},
        {"call": "clock", "action": "stall"},
        {"call": "*", "action": "status", "every": 0},
    ):
        assert http.post("/v1/faults", json=body).status_code in {404, 422}


@dataclass
class Bench:
    """A clock that is moved by hand, and hardware that notes what happens to it."""

    time: float = 1000.0
    log: list[str] = field(default_factory=list)

    def now(self) -> float:
        return self.time

    def fail_machine(self, name: str) -> None:
        self.log.append(f"{name} fails")

    def repair_machine(self, name: str) -> None:
        self.log.append(f"{name} is repaired")

    def fail_link(self, machine: str, kind: LinkKind, state: LinkState) -> None:
        self.log.append(f"{machine}/{kind} is {state}")

    def repair_link(self, machine: str, kind: LinkKind) -> None:
        self.log.append(f"{machine}/{kind} is repaired")

    def check_link(self, machine: str, kind: LinkKind) -> None: ...


@pytest.fixture
def bench() -> Bench:
    return Bench()


def test_a_rule_is_in_force_at_a_simulated_time_for_a_while(bench: Bench) -> None:
    book = FaultBook(0, clock=bench, time_scale=10.0)
    book.add(FaultRule(call="*", action=FaultAction.STATUS, after=100.0, lasting=50.0))
    fired = []
    for _ in range(20):
        fired.append(book.plan("hosts.get", "h").action is FaultAction.STATUS)
        bench.time += 1.0
    assert [second for second, hit in enumerate(fired) if hit] == [10, 11, 12, 13, 14]


def test_hardware_breaks_by_the_clock_and_is_repaired(bench: Bench) -> None:
    book = FaultBook(0, clock=bench, time_scale=10.0, hardware=bench)
    book.add(FaultRule(call="clock", action=FaultAction.FAIL_MACHINE, machine="m", after=100.0, lasting=100.0))
    book.add(FaultRule(call="clock", action=FaultAction.FAIL_LINK, machine="m", link=LinkKind.NEXT, after=150.0))
    logs = []
    for _ in range(25):
        book.plan("hosts.get", "h")
        logs.append(list(bench.log))
        bench.time += 1.0
    assert logs[9] == []
    assert logs[10] == ["m fails"]
    assert logs[15] == ["m fails", "m/next is down"]
    assert logs[24] == ["m fails", "m/next is down", "m is repaired"]


def fired(seed: int, calls: int = 200) -> list[bool]:
    book = FaultBook(seed)
    book.add(FaultRule(call="*", action=FaultAction.STATUS, probability=0.3))
    return [book.plan("hosts.get", "h").action is not None for _ in range(calls)]


def test_probability_is_repeatable_under_one_seed() -> None:
    assert fired(7) == fired(7)
    assert fired(7) != fired(8)
    assert 20 < sum(fired(7)) < 100


def test_latencies_add_up_before_what_follows() -> None:
    book = FaultBook(0)
    for seconds in (1.0, 2.0):
        book.add(FaultRule(call="*", action=FaultAction.LATENCY, seconds=seconds))
    book.add(FaultRule(call="*", action=FaultAction.STATUS, status=500))
    plan = book.plan("hosts.get", "h")
    assert (plan.latency, plan.action) == (3.0, FaultAction.STATUS)
