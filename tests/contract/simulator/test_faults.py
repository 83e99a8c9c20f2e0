"""What goes wrong on purpose: every kind of fault on both protocols, and where each leaves the site."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import grpc
import httpx
import pytest

from ipucloud.laboratory.simulator.faults import FaultBook
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.faults import FaultAction, FaultList, FaultRule
from ipucloud.wire.inventory import LinkKind, LinkState
from tests.contract.simulator.outcomes import refusal
from tests.support.site import RunningSite
from tests.support.vipu import CALL_SECONDS, PodDriver
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


@pytest.fixture
def one(vipu: PodDriver) -> PodDriver:
    """The controller with an allocation of one machine."""
    vipu.take(1)
    return vipu


def fault(http: httpx.Client, call: str, action: str, **fields: Any) -> str:
    answer = http.post("/v1/faults", json={"call": call, "action": action, **fields})
    rule: str = answer.raise_for_status().json()["id"]
    return rule


def hits(http: httpx.Client, rule: str) -> int:
    rules = FaultList.model_validate(http.get("/v1/faults").json()).faults
    return next(kept.hits for kept in rules if kept.id == rule)


@pytest.mark.parametrize(
    ("action", "fields", "answer", "effect"),
    [
        ("status", {"status": 502}, 502, False),
        ("status_after", {"status": 500, "times": 1}, 500, True),
        ("drop_answer", {"times": 1}, "lost", True),
        ("stall", {}, "late", False),
    ],
)
def test_a_fault_decides_about_answer_and_effect(
    http: httpx.Client, impatient: httpx.Client, *, action: str, fields: dict[str, Any], answer: int | str, effect: bool
) -> None:
    rule = fault(http, "networks.put", action, **fields)
    client = impatient if answer == "late" else http
    answered: int | str
    try:
        answered = client.put("/v1/networks/n", json=NETWORK).status_code
    except httpx.ReadTimeout:
        answered = "late"
    except httpx.TransportError:
        answered = "lost"
    assert answered == answer
    eventually(lambda: hits(http, rule) == 1, "the call arrives")
    shown = http.get("/v1/networks/n")
    assert (shown.status_code, shown.json().get("state")) == ((200, "ready") if effect else (404, None))


@pytest.mark.parametrize(
    ("call", "action", "fields", "code", "effect"),
    [
        ("vipu.CreatePartition", "status", {"target": "p", "grpc_status": "INTERNAL"}, "INTERNAL", False),
        ("vipu.*", "status", {"target": "p", "grpc_status": "INTERNAL"}, "INTERNAL", False),
        ("vipu.CreatePartition", "status_after", {"times": 1}, "UNAVAILABLE", True),
        ("vipu.CreatePartition", "drop_answer", {"times": 1}, "UNAVAILABLE", True),
    ],
)
def test_a_fault_of_a_controller_decides_about_answer_and_effect(
    http: httpx.Client, one: PodDriver, *, call: str, action: str, fields: dict[str, Any], code: str, effect: bool
) -> None:
    fault(http, call, action, **fields)
    assert refusal(one.create, "p", 4)[0].name == code
    assert list(one.partitions()) == ["p"] * effect


@pytest.mark.parametrize(("action", "fields", "effect"), [("stall", {}, False), ("latency", {"seconds": LATE}, True)])
def test_a_call_that_its_caller_gives_up_goes_on(
    http: httpx.Client, one: PodDriver, action: str, fields: dict[str, Any], effect: bool
) -> None:
    rule = fault(http, "vipu.CreatePartition", action, times=1, **fields)
    one.create_and_give_up("p", 4, lambda: hits(http, rule) == 1)
    eventually(lambda: list(one.partitions()) == ["p"] * effect, "the effect takes place, if any does")


def test_latency_makes_an_impatient_caller_give_up(http: httpx.Client, impatient: httpx.Client) -> None:
    rule = fault(http, "networks.list", "latency", seconds=LONG, times=1)
    with pytest.raises(httpx.ReadTimeout):
        impatient.get("/v1/networks")
    eventually(lambda: hits(http, rule) == 1, "the call arrives")
    assert http.get("/v1/networks").status_code == 200


@pytest.mark.parametrize(
    ("rule", "statuses"), [({"times": 2}, [503, 503, 200, 200]), ({"every": 3}, [200, 200, 503, 200, 200, 503])]
)
def test_a_rule_hits_as_often_as_it_says(http: httpx.Client, rule: dict[str, int], statuses: list[int]) -> None:
    name = fault(http, "hosts.get", "status", **rule)
    assert [http.get("/v1/hosts/lux2-h001").status_code for _ in statuses] == statuses
    assert hits(http, name) == 2


def test_a_rule_hits_only_the_objects_that_it_names(http: httpx.Client) -> None:
    fault(http, "hosts.*", "status", target="*-h00[12]")
    assert http.get("/v1/hosts/lux2-h001").status_code == 503
    assert http.get("/v1/hosts/lux2-h003").status_code == 200


def test_rules_never_reach_the_routes_that_set_them(http: httpx.Client) -> None:
    rule = fault(http, "*", "stall")
    assert http.delete("/v1/faults", params={"id": rule}).status_code == 204
    assert http.get("/v1/inventory").status_code == 200


def test_rules_that_make_no_sense_are_refused(http: httpx.Client) -> None:
    for body in (
        *({"status": 200}, {"grpc_status": "FINE"}, {"probability": 2}, {"action": "sulk"}, {"every": 0}),
        {"call": "clock", "action": "stall"},
    ):
        assert http.post("/v1/faults", json={"call": "*", "action": "status", **body}).status_code == 422, body
    for hardware in ({"action": "fail_machine", "machine": "none"}, {"action": "fail_link"}):
        assert http.post("/v1/faults", json={"call": "clock", **hardware}).status_code == 404, hardware
    assert http.delete("/v1/faults", params={"id": "none"}).status_code == 404


def test_administrative_calls_fail_too(http: httpx.Client, vipu: PodDriver) -> None:
    fault(http, "admin.CreateAllocation", "status", target="a", grpc_status="UNAVAILABLE", times=1)
    code, sentence = refusal(vipu.take, 1)
    assert (code, "fault-" in sentence) == (grpc.StatusCode.UNAVAILABLE, True)
    vipu.take(1)
    assert list(vipu.allocations()) == ["a"]


def test_an_effect_can_take_place_twice(http: httpx.Client, one: PodDriver) -> None:
    def make() -> None:
        http.put("/v1/networks/n", json=NETWORK).raise_for_status()
        one.create("p", 4)

    make()
    fault(http, "vipu.RemovePartition", "duplicate", target="p", times=1, seconds=LATE)
    fault(http, "networks.delete", "duplicate", times=1, seconds=LATE)
    one.remove("p")
    http.delete("/v1/networks/n").raise_for_status()
    make()
    eventually(lambda: one.partitions() == {}, "the late twin of the removal takes the new partition")
    eventually(lambda: http.get("/v1/networks/n").status_code == 404, "the late twin of the removal takes the network")


def test_an_earlier_answer_can_come_again(http: httpx.Client, one: PodDriver) -> None:
    for call in ("networks.list", "vipu.ListPartitions"):
        fault(http, call, "stale", every=2)

    def shown() -> list[str]:
        return [*(each["name"] for each in http.get("/v1/networks").json()["networks"]), *one.partitions()]

    assert shown() == []
    http.put("/v1/networks/n", json=NETWORK).raise_for_status()
    one.create("p", 4)
    assert shown() == []
    assert shown() == ["n", "p"]


def test_a_partition_can_fail_to_come_up_for_a_while(http: httpx.Client, vipu: PodDriver) -> None:
    vipu.take(2)
    fault(http, "vipu.CreatePartition", "fail_partition", target="p", error="3 of 4 IPUs came up", failures=4)
    fault(http, "vipu.CreatePartition", "fail_partition", target="q", failures=2)
    vipu.create("p", 4)
    vipu.create("q", 4)
    status = vipu.status("p")
    assert (status.ready_state, status.auto_reset_retry_count) == (pb.PS_ERROR, 3)
    assert "3 of 4 IPUs came up" in status.errors[0]
    assert (vipu.status("q").ready_state, vipu.status("q").auto_reset_retry_count) == (pb.PS_ACTIVE, 2)


def test_a_partition_can_be_pending_for_ever(http: httpx.Client, one: PodDriver) -> None:
    fault(http, "vipu.CreatePartition", "hang_partition")
    one.create("p", 4)
    for _ in range(3):
        assert (one.status("p").ready_state, one.status("p").operation_state) == (pb.PS_PENDING, pb.POS_CREATING)
    one.remove("p")
    assert one.partitions() == {}


def test_a_machine_fails_as_a_call_arrives(http: httpx.Client, one: PodDriver) -> None:
    one.create("p", 4)
    fault(http, "vipu.GetPartitionStatus", "fail_machine", machine=one.pod[0], every=2, times=1)
    assert one.status("p").ready_state == pb.PS_ACTIVE
    assert one.status("p").ready_state != pb.PS_ACTIVE
    assert one.silent_agents() == [one.pod[0]]


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


def test_a_rule_is_in_force_at_a_simulated_time_for_a_while() -> None:
    bench = Bench()
    book = FaultBook(0, clock=bench, time_scale=10.0)
    book.add(FaultRule(call="*", action=FaultAction.STATUS, after=100.0, lasting=50.0))
    fired = []
    for _ in range(20):
        fired.append(book.plan("hosts.get", "h").action is FaultAction.STATUS)
        bench.time += 1.0
    assert [second for second, hit in enumerate(fired) if hit] == [10, 11, 12, 13, 14]


def test_hardware_breaks_by_the_clock_and_is_repaired() -> None:
    bench = Bench()
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
