"""Resizes over the API: what is refused, with what would work, and that a refusal changes nothing."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from ipucloud.inventory.health.codes import Code
from tests.api.support import Api, faults_of, problem

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_clock")]

POD8 = {"flavor": "m2000-pod8"}


async def shown(api: Api, path: str) -> Any:
    cluster = (await api.owner.get(path)).json()
    return {name: value for name, value in cluster.items() if name != "billing"}


async def test_a_resize_is_previewed_requested_once_and_shown(api: Api) -> None:
    path = f"{api.base}/clusters/{await api.world.make_active()}"
    preview = (await api.owner.post(f"{path}:estimate-resize", json=POD8)).json()
    assert (preview["from_flavor"], preview["to_flavor"], preview["moves"]) == ("m2000-pod4", "m2000-pod8", False)
    assert float(preview["price_after"]["price_per_minute"]["amount"]) == 2 * float(
        preview["price_before"]["price_per_minute"]["amount"]
    )
    assert preview["quota"]["needed"] == 1
    assert preview["capacity"] == {"available": True, "why_not": None, "preemption_minutes": None, "wait": None}
    begun = await api.owner.post(f"{path}:resize", json=POD8)
    assert (begun.status_code, begun.json()["kind"], begun.json()["cancellable"]) == (202, "cluster.resize", True)
    again = await api.owner.post(f"{path}:resize", json=POD8, headers={"If-Match": '"1"'})
    assert again.json()["id"] == begun.json()["id"]
    answer = await api.owner.post(f"{path}:resize", json={"flavor": "m2000-pod16"})
    other = problem(answer, 409, "operation_in_progress")
    assert other["operation"] == begun.json()["id"]
    cluster = (await api.owner.get(path)).json()
    assert (cluster["state"], cluster["billing"]["status"]) == ("resizing", "paused")
    assert cluster["resize"] == {"from_flavor": "m2000-pod4", "to_flavor": "m2000-pod8", "moves": False}
    problem(await api.owner.post(f"{path}:suspend"), 409, "operation_in_progress")
    problem(await api.owner.post(f"{path}:estimate-resize", json=POD8), 409, "state_conflict")


async def test_what_a_cluster_cannot_become_is_refused_with_what_it_can(api: Api) -> None:
    path = f"{api.base}/clusters/{await api.world.make_active()}"
    before = await shown(api, path)
    for flavor, code in (
        ("m2000-pod4", "same_size"),
        ("bow-pod8", "other_machine_type"),
        ("m2000-pod128", "other_domains"),
        ("nothing-like-it", "unknown_flavor"),
    ):
        for verb in ("resize", "estimate-resize"):
            refused = await api.owner.post(f"{path}:{verb}", json={"flavor": flavor})
            [fault] = problem(refused, 422, "validation_failed")["errors"]
            assert (fault["pointer"], fault["code"]) == ("/flavor", code)
            assert "It can be resized to m2000-pod8, m2000-pod16" in fault["detail"]
    wrong: list[object] = [{}, {"flavor": None}, {"flavor": 8}, {"size": "m2000-pod8"}, [], {**POD8, "force": True}]
    for body in wrong:
        problem(await api.owner.post(f"{path}:resize", json=body), 422, "validation_failed")
    problem(await api.owner.post(f"{path}:resize", json=POD8, headers={"If-Match": '"1"'}), 412, "precondition_failed")
    assert await shown(api, path) == before


async def test_a_cluster_keeps_its_poplar_servers(api: Api) -> None:
    path = f"{api.base}/clusters/{await api.world.make_active(flavor='m2000-pod64', poplar_servers=2)}"
    before = await shown(api, path)
    [fault] = problem(await api.owner.post(f"{path}:resize", json=POD8), 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"]) == ("/flavor", "other_servers")
    assert "The cluster has 2 Poplar servers, which a resize keeps, and the flavor has at most 1." in fault["detail"]
    assert await shown(api, path) == before


async def test_without_quota_or_room_nothing_changes(api: Api) -> None:
    cluster = await api.world.make_active()
    path = f"{api.base}/clusters/{cluster}"
    before = await shown(api, path)
    await api.world.execute("UPDATE quotas SET machine_limit = used")
    refused = problem(await api.owner.post(f"{path}:resize", json=POD8), 409, "quota_exceeded")
    assert refused["why_not"]["numbers"]["wanted"] == 1
    assert not (await api.owner.post(f"{path}:estimate-resize", json=POD8)).json()["quota"]["allowed"]
    await api.world.execute("UPDATE quotas SET machine_limit = used + 100")
    await _take_all_but(api, cluster)
    full = (await api.owner.post(f"{path}:estimate-resize", json=POD8)).json()
    assert (full["moves"], full["capacity"]["available"]) == (None, False)
    refused = problem(await api.owner.post(f"{path}:resize", json=POD8), 409, "capacity_exhausted")
    assert refused["why_not"] == full["capacity"]["why_not"]
    assert await shown(api, path) == before
    assert await api.world.value("SELECT count(*) FROM resizes") == 0


async def _take_all_but(api: Api, cluster: UUID) -> None:
    others = f"id NOT IN (SELECT machine_id FROM allocations WHERE cluster_id = '{cluster}' AND machine_id IS NOT NULL)"  # noqa: S608
    await api.world.impair(Code.MAINTENANCE, others)


async def test_a_suspended_cluster_and_one_with_ipus_in_its_server_are_refused(api: Api) -> None:
    bert = await api.world.make_active()
    await api.world.suspend(bert)
    await api.world.finish_suspend(bert)
    refused = problem(await api.owner.post(f"{api.base}/clusters/{bert}:resize", json=POD8), 409, "state_conflict")
    assert "resume it first" in refused["detail"]
    await api.world.execute("UPDATE clusters SET allocated_through = 'host-devices'")
    refused = problem(await api.owner.post(f"{api.base}/clusters/{bert}:resize", json=POD8), 409, "state_conflict")
    assert "goes to one customer as a whole" in refused["detail"]
    await api.world.execute("UPDATE clusters SET allocated_through = 'v-ipu'")


async def test_a_resize_and_a_resume_wait_for_capacity(api: Api) -> None:
    rest = await api.world.make_active("rest")
    await api.world.suspend(rest)
    await api.world.finish_suspend(rest)
    bert = await api.world.make_active()
    await _take_all_but(api, bert)
    waits: dict[str, object] = {"wait_for_capacity": True}
    for cluster, verb, body in ((rest, "resume", waits), (bert, "resize", POD8 | waits)):
        path = f"{api.base}/clusters/{cluster}"
        before = (await api.owner.get(path)).json()
        for waits_for_capacity, code in (True, "out_of_range"), (False, "not_waiting"):
            wrong = body | {"wait_for_capacity": waits_for_capacity, "wait_until": "2100-01-01T00:00:00Z"}
            assert faults_of(await api.owner.post(f"{path}:{verb}", json=wrong)) == [("/wait_until", code)]
        answer = await api.owner.post(f"{path}:{verb}", json=body)
        assert (answer.status_code, answer.json()["stage"]) == (202, "CAPACITY")
        shown = (await api.owner.get(path)).json()
        assert (shown["state"], shown["waiting"]["held_up_by"]) == (before["state"], None)
        again = await api.owner.post(f"{path}:{verb}", json=body)
        assert again.json()["id"] == answer.json()["id"]
    estimated = (await api.owner.post(f"{api.base}/clusters/{bert}:estimate-resize", json=POD8)).json()
    assert estimated["capacity"]["wait"] == {"place": 3, "expected_at": None}
