"""Rebuilds over the API: what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import pytest

from tests.api.support import Api, cluster_id, faults_of, problem

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_clock")]


async def test_servers_are_rebuilt_and_refusals_change_nothing(api: Api) -> None:
    bert = await api.world.make_active()
    path = f"{api.base}/clusters/{bert}"
    before = (await api.owner.get(path)).json()
    [server] = before["poplar_servers"]
    faulty: list[tuple[dict[str, object], str, str]] = [
        ({"image": "ubuntu-99.04-x64-poplar-9.9.9-9.9.9"}, "/image", "unknown_image"),
        ({"image": "ubuntu-18.04-x64-poplar-1.18.0-3.0.0"}, "/image", "not_in_region"),
        ({"ssh_keys": ["another"]}, "/ssh_keys/0", "unknown_ssh_key"),
        ({"ssh_keys": []}, "/ssh_keys", "last_ssh_key"),
        ({"poplar_servers": [server["name"], "another"]}, "/poplar_servers/1", "unknown_server"),
    ]
    for changes, pointer, code in faulty:
        answer = await api.owner.post(f"{path}:rebuild", json={"disk": "keep"} | changes)
        assert faults_of(answer) == [(pointer, code)]
    wrong: list[object] = [
        {},
        {"disk": "burn"},
        {"disk": None},
        {"disk": "keep", "image": None},
        {"disk": "keep", "poplar_servers": []},
        {"disk": "keep", "servers": None},
        {"disk": "keep", "ssh_keys": None},
        [],
    ]
    for body in wrong:
        problem(await api.owner.post(f"{path}:rebuild", json=body), 422, "validation_failed")
    stale = await api.owner.post(f"{path}:rebuild", json={"disk": "keep"}, headers={"If-Match": '"1"'})
    problem(stale, 412, "precondition_failed")
    assert (await api.owner.get(path)).json() | {"billing": before["billing"]} == before

    begun = await api.owner.post(f"{path}:rebuild", json={"disk": "wipe", "user_data": None})
    assert (begun.status_code, begun.json()["kind"], begun.json()["cancellable"]) == (202, "cluster.rebuild", True)
    again = await api.owner.post(f"{path}:rebuild", json={"disk": "wipe", "poplar_servers": [server["name"]]})
    assert again.json()["id"] == begun.json()["id"]
    other = problem(await api.owner.post(f"{path}:rebuild", json={"disk": "keep"}), 409, "operation_in_progress")
    assert other["operation"] == begun.json()["id"]
    shown = (await api.owner.get(path)).json()
    assert (shown["state"], shown["poplar_servers"][0]["state"]) == ("rebuilding", "rebuilding")
    assert shown["billing"]["status"] == "paused"
    creating = cluster_id(await api.make_cluster(name="gpt"))
    answer = await api.owner.post(f"{api.base}/clusters/{creating}:rebuild", json={"disk": "keep"})
    problem(answer, 409, "operation_in_progress")


async def test_only_clusters_in_use_are_rebuilt(api: Api) -> None:
    bert = await api.world.make_active()
    path = f"{api.base}/clusters/{bert}"
    await api.world.suspend(bert)
    await api.world.finish_suspend(bert)
    refused = problem(await api.owner.post(f"{path}:rebuild", json={"disk": "keep"}), 409, "state_conflict")
    assert "resume it first" in refused["detail"]
