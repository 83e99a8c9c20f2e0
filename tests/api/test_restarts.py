"""Reboots, power cycles and rebuilds over the API: what is refused, and that a refusal changes nothing."""

from __future__ import annotations

import pytest

from tests.api.support import Api, cluster_id, faults_of, problem

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("stopped_clock")]

KEEP: dict[str, object] = {"disk": "keep"}
WRONG: dict[str, list[object]] = {
    "reboot": [{"servers": None}, []],
    "power-cycle": [{"poplar_servers": []}, {"poplar_servers": "all"}, {"servers": None}, []],
    "rebuild": [
        *({}, {"disk": "burn"}, {"disk": None}, []),
        *(KEEP | {name: None} for name in ("image", "servers", "ssh_keys")),
        KEEP | {"poplar_servers": []},
    ],
}


@pytest.mark.parametrize(
    ("verb", "body", "others", "states", "billing"),
    [
        ("reboot", {}, ("power-cycle", {}), ("active", "rebooting"), "running"),
        ("rebuild", {"disk": "wipe", "user_data": None}, ("rebuild", KEEP), ("rebuilding", "rebuilding"), "paused"),
    ],
)
async def test_servers_are_worked_on_and_refusals_change_nothing(
    api: Api,
    *,
    verb: str,
    body: dict[str, object],
    others: tuple[str, dict[str, object]],
    states: tuple[str, str],
    billing: str,
) -> None:
    path = f"{api.base}/clusters/{await api.world.make_active()}"
    before = (await api.owner.get(path)).json()
    [server] = before["poplar_servers"]
    unknown = await api.owner.post(f"{path}:{verb}", json=body | {"poplar_servers": [server["name"], "another"]})
    assert faults_of(unknown) == [("/poplar_servers/1", "unknown_server")]
    assert server["name"] in unknown.json()["errors"][0]["detail"]
    for of in {verb, others[0]}:
        for wrong in WRONG[of]:
            problem(await api.owner.post(f"{path}:{of}", json=wrong), 422, "validation_failed")
    stale = await api.owner.post(f"{path}:{verb}", json=body, headers={"If-Match": '"1"'})
    problem(stale, 412, "precondition_failed")
    assert (await api.owner.get(path)).json() | {"billing": before["billing"]} == before

    begun = await api.owner.post(f"{path}:{verb}", json=body)
    assert (begun.status_code, begun.json()["kind"], begun.json()["cancellable"]) == (202, f"cluster.{verb}", True)
    again = await api.owner.post(f"{path}:{verb}", json=body | {"poplar_servers": [server["name"]]})
    assert again.json()["id"] == begun.json()["id"]
    other = problem(await api.owner.post(f"{path}:{others[0]}", json=others[1]), 409, "operation_in_progress")
    assert other["operation"] == begun.json()["id"]
    shown = (await api.owner.get(path)).json()
    assert (shown["state"], shown["poplar_servers"][0]["state"], shown["billing"]["status"]) == (*states, billing)
    creating = f"{api.base}/clusters/{cluster_id(await api.make_cluster(name='gpt'))}"
    problem(await api.owner.post(f"{creating}:{verb}", json=body), 409, "operation_in_progress")


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"image": "ubuntu-99.04-x64-poplar-9.9.9-9.9.9"}, ("/image", "unknown_image")),
        ({"image": "ubuntu-18.04-x64-poplar-1.18.0-3.0.0"}, ("/image", "not_in_region")),
        ({"ssh_keys": ["another"]}, ("/ssh_keys/0", "unknown_ssh_key")),
        ({"ssh_keys": []}, ("/ssh_keys", "last_ssh_key")),
    ],
)
async def test_a_rebuild_needs_an_image_and_keys_that_there_are(
    api: Api, changes: dict[str, object], fault: tuple[str, str]
) -> None:
    path = f"{api.base}/clusters/{await api.world.make_active()}"
    assert faults_of(await api.owner.post(f"{path}:rebuild", json=KEEP | changes)) == [fault]


async def test_only_clusters_in_use_are_rebuilt(api: Api) -> None:
    bert = await api.world.make_active()
    await api.world.suspend(bert)
    await api.world.finish_suspend(bert)
    refused = await api.owner.post(f"{api.base}/clusters/{bert}:rebuild", json=KEEP)
    assert "resume it first" in problem(refused, 409, "state_conflict")["detail"]
