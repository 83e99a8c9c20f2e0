"""What goes wrong on purpose: every kind of fault on both protocols, and where each leaves the site."""

from __future__ import annotations

from typing import Any

import grpc
import httpx
import pytest

from ipucloud.simulator.faults import FaultBook
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire.site import FaultAction, FaultList, FaultRule
from tests.support.site import RunningSite
from tests.support.vipu import VipuDriver, code_of, sentence_of
from tests.support.waiting import eventually

SHORT = 0.3
LONG = 60.0
NETWORK = {"region": "luxembourg-2", "machines": [], "hosts": ["lux2-h001"]}


@pytest.fixture
def impatient(shared_site: RunningSite) -> httpx.Client:
    """A client that waits for an answer no longer than a test wants to."""
    return shared_site.http(timeout=SHORT)


def fault(http: httpx.Client, call: str, action: str, **fields: Any) -> str:
    answer = http.post("/v1/faults", json={"call": call, "action": action, **fields})
    rule: str = answer.raise_for_status().json()["id"]
    return rule


def hits(http: httpx.Client, rule: str) -> int:
    found = FaultList.model_validate(http.get("/v1/faults").json()).faults
    return next(kept.hits for kept in found if kept.id == rule)


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
    assert hits(http, rule) == 1
    assert http.get("/v1/networks/n").status_code == 404


def test_latency_makes_an_impatient_caller_give_up(http: httpx.Client, impatient: httpx.Client) -> None:
    fault(http, "networks.list", "latency", seconds=LONG, times=1)
    with pytest.raises(httpx.ReadTimeout):
        impatient.get("/v1/networks")
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
    fault(http, "vipu.CreatePartition", "stall")
    with pytest.raises(grpc.RpcError) as caught:
        vipu.create("p", 4, timeout=SHORT)
    assert code_of(caught.value) is grpc.StatusCode.DEADLINE_EXCEEDED
    assert vipu.partitions() == {}


def test_a_partition_that_is_ready_after_its_caller_gave_up_is_still_there(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str]
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, "vipu.CreatePartition", "drop_answer", seconds=LONG)
    with pytest.raises(grpc.RpcError) as caught:
        vipu.create("p", 4, timeout=SHORT)
    assert code_of(caught.value) is grpc.StatusCode.DEADLINE_EXCEEDED
    http.delete("/v1/faults").raise_for_status()
    with pytest.raises(grpc.RpcError) as caught:
        vipu.create("p", 4)
    assert code_of(caught.value) is grpc.StatusCode.ALREADY_EXISTS
    assert vipu.status("p").partition_id == "p"


@pytest.mark.parametrize("action", ["latency", "status_after"])
def test_a_grpc_effect_takes_place_although_its_caller_was_told_otherwise(
    http: httpx.Client, vipu: VipuDriver, cluster_id: str, pod: list[str], action: str
) -> None:
    vipu.allocate("a", cluster_id, pod[:1])
    fault(http, "vipu.CreatePartition", action, seconds=3 * SHORT, times=1)
    with pytest.raises(grpc.RpcError):
        vipu.create("p", 4, timeout=SHORT)
    eventually(lambda: set(vipu.partitions()) == {"p"}, "the effect takes place")


def test_administrative_calls_fail_too(http: httpx.Client, vipu: VipuDriver, cluster_id: str) -> None:
    fault(http, "admin.CreateAllocation", "status", target="a", grpc_status="UNAVAILABLE", times=1)
    with pytest.raises(grpc.RpcError) as caught:
        vipu.allocate("a", cluster_id, size=1)
    assert code_of(caught.value) is grpc.StatusCode.UNAVAILABLE
    assert "fault-" in sentence_of(caught.value)
    vipu.allocate("a", cluster_id, size=1)
    assert vipu.admin.GetAllocation(admin.GetAllocationRequest(id="a"), timeout=5).allocation.id == "a"


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
    assert (plan.latency, plan.action, plan.status) == (3.0, FaultAction.STATUS, 500)
