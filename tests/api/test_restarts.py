"""Reboots and power cycles over the API: what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import pytest

from tests.api.support import Api, cluster_id, problem

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_clock")]


async def test_servers_are_restarted_and_refusals_change_nothing(api: Api) -> None:
    bert = await api.world.make_active()
    path = f"{api.base}/clusters/{bert}"
    before = (await api.owner.get(path)).json()
    [server] = before["poplar_servers"]
    unknown = await api.owner.post(f"{path}:reboot", json={"poplar_servers": [server["name"], "another"]})
    [fault] = problem(unknown, 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"]) == ("/poplar_servers/1", "unknown_server")
    assert server["name"] in fault["detail"]
    wrong: list[object] = [{"poplar_servers": []}, {"poplar_servers": "all"}, {"servers": None}, []]
    for body in wrong:
        problem(await api.owner.post(f"{path}:power-cycle", json=body), 422, "validation_failed")
    problem(await api.owner.post(f"{path}:reboot", headers={"If-Match": '"1"'}), 412, "precondition_failed")
    assert (await api.owner.get(path)).json() | {"billing": before["billing"]} == before

    begun = await api.owner.post(f"{path}:reboot")
    assert (begun.status_code, begun.json()["kind"], begun.json()["cancellable"]) == (202, "cluster.reboot", True)
    again = await api.owner.post(f"{path}:reboot", json={"poplar_servers": [server["name"]]})
    assert again.json()["id"] == begun.json()["id"]
    other = problem(await api.owner.post(f"{path}:power-cycle"), 409, "operation_in_progress")
    assert other["operation"] == begun.json()["id"]
    shown = (await api.owner.get(path)).json()
    assert (shown["state"], shown["poplar_servers"][0]["state"]) == ("active", "rebooting")
    assert shown["billing"]["status"] == "running"
    creating = cluster_id(await api.make_cluster(name="gpt"))
    problem(await api.owner.post(f"{api.base}/clusters/{creating}:reboot"), 409, "operation_in_progress")
