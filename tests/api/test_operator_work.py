"""What operators see of the work, and what they do with it."""

from __future__ import annotations

import httpx
import pytest

from ipucloud.inventory.health.codes import Code
from tests.api.support import Api, items, operator_items, problem
from tests.support.postgres import Database
from tests.support.world.clock import shift_clock, start_clock

pytestmark = pytest.mark.anyio


async def test_work_is_parked_found_and_requeued(api: Api, admin: httpx.AsyncClient) -> None:
    bert = (await api.make_cluster("bert"))["target"]["id"]
    await api.make_cluster("ernie")
    [item] = [each for each in await operator_items(admin, "work", kind="cluster") if each["key"] == bert]
    assert (item["state"], item["project"]) == ("due", api.world.project.slug)
    path = f"/v1/operator/work/cluster/{bert}"
    parked = (await admin.post(f"{path}:park", json={"reason": "site upgrade"})).json()
    assert (parked["state"], parked["last_error"]) == ("parked", "parked by an operator: site upgrade")
    assert [each["key"] for each in await operator_items(admin, "work", state="parked")] == [bert]
    [stuck] = await operator_items(admin, "stuck")
    assert (stuck["object"], stuck["name"], stuck["blocked_by"]) == ("operation", "bert", parked["last_error"])
    assert f"ipucloud admin work requeue cluster {bert}" in stuck["remedy"]
    requeued = (await admin.post(f"{path}:requeue")).json()
    assert (requeued["state"], requeued["parked_at"]) == ("due", None)
    assert await operator_items(admin, "stuck") == []
    for verb, body in (("park", {"reason": "none"}), ("requeue", None)):
        problem(await admin.post(f"/v1/operator/work/cluster/unknown:{verb}", json=body), 404, "not_found")


async def test_work_is_listed_page_by_page(api: Api, admin: httpx.AsyncClient) -> None:
    for name in ("bert", "ernie", "oscar"):
        await api.make_cluster(name)
    whole = await operator_items(admin, "work")
    first = (await admin.get("/v1/operator/work", params={"limit": "2"})).json()
    rest = await operator_items(admin, "work", limit="1000", cursor=first["next_cursor"])
    assert first["items"] + rest == whole
    assert len(whole) == len({(each["kind"], each["key"]) for each in whole}) >= 3
    answer = await admin.get("/v1/operator/work", params={"kind": "cluster", "cursor": first["next_cursor"]})
    problem(answer, 400, "invalid_cursor")


async def test_what_takes_longer_than_usual_is_stuck(api: Api, admin: httpx.AsyncClient, database: Database) -> None:
    bert = (await api.make_cluster("bert"))["target"]["id"]
    assert await operator_items(admin, "stuck") == []
    shift_clock(database.owner_url, "1 hour")
    [stuck] = await operator_items(admin, "stuck")
    assert (stuck["object"], stuck["kind"], stuck["cluster"]) == ("operation", "cluster.create", bert)
    assert stuck["step"] == "attach_network"
    assert stuck["over_seconds"] + stuck["sla_seconds"] == pytest.approx(3600, abs=60)
    assert "No worker claims it" in stuck["remedy"]
    assert await operator_items(admin, "stuck", region="amsterdam-2") == []
    start_clock(database.owner_url)


async def test_an_id_says_what_it_is(api: Api, admin: httpx.AsyncClient) -> None:
    operation = await api.make_cluster("bert")
    cluster = operation["target"]["id"]
    shown = (await api.owner.get(f"{api.base}/clusters/{cluster}")).json()
    slug = api.world.project.slug
    results = {
        name: (await operator_items(admin, f"what-is/{name}"))[0]
        for name in (cluster, operation["id"], operation["request_id"], slug, shown["poplar_servers"][0]["name"])
    }
    assert [each["kind"] for each in results.values()] == ["cluster", "operation", "request", "project", "cluster"]
    assert {each["project"] for each in results.values()} == {slug}
    assert results[cluster]["commands"] == [f"ipucloud clusters show {cluster} --project {slug}"]
    machine = await api.world.value("SELECT name FROM machines ORDER BY name LIMIT 1")
    [hardware] = await operator_items(admin, f"what-is/{machine}")
    assert (hardware["kind"], hardware["project"], hardware["state"]) == ("machine", None, "ok")
    problem(await admin.get("/v1/operator/what-is/nothing"), 404, "not_found")


async def test_a_request_leads_to_everything_that_it_started(api: Api, admin: httpx.AsyncClient) -> None:
    operation = await api.make_cluster("bert")
    await api.make_cluster("ernie")
    trace = (await admin.get(f"/v1/operator/requests/{operation['request_id']}")).json()
    assert [each["id"] for each in trace["operations"]] == [operation["id"]]
    assert trace["operations"][0]["steps"][0]["name"] == "attach_network"
    assert [each["type"] for each in trace["events"]] == ["cluster.created", "operation.created"]
    assert [(each["kind"], each["key"]) for each in trace["work_items"]] == [("cluster", operation["target"]["id"])]
    unknown = (await admin.get("/v1/operator/requests/unknown")).json()
    assert (unknown["operations"], unknown["events"], unknown["work_items"]) == ([], [], [])
    assert unknown["logs"][0]["value"] == "unknown"


@pytest.mark.acceptance("CAP05-02")
async def test_capacity_counts_unhealthy_machines_apart(api: Api, admin: httpx.AsyncClient) -> None:
    path = "/v1/operator/regions/luxembourg-2/capacity"
    [before] = (await admin.get(path)).json()["types"]
    await api.world.impair(Code.BMC_CRITICAL, "name = 'luxembourg-2-m2000-pod-000-m03'")
    [after] = (await admin.get(path)).json()["types"]
    assert (after["states"]["unhealthy"], after["states"]["free"]) == (1, before["states"]["free"] - 1)
    assert sum(after["states"].values()) == sum(before["states"].values())


@pytest.mark.acceptance("CAP01-01")
async def test_capacity_shows_what_fits_and_how_free_machines_lie(api: Api, admin: httpx.AsyncClient) -> None:
    await api.make_cluster("bert", flavor="m2000-pod16", expires_at="2126-01-01T00:00:00Z")
    room = (await admin.get("/v1/operator/regions/luxembourg-2/capacity")).json()
    [machines] = room["types"]
    total = sum(machines["states"].values())
    assert machines["states"]["allocated"] == 4
    assert machines["states"]["free"] == total - 4
    assert machines["largest_block"] == max(int(size) for size in machines["blocks"])
    assert machines["fragmentation"] is None, "fewer machines are free than a domain has"
    fits = {each["flavor"]: each["available"] for each in machines["flavors"]}
    public = await items(api.owner, "/v1/regions/luxembourg-2/capacity")
    assert fits == {each["flavor"]: each["available"] for each in public}
    assert machines["expiries"] == []
    await api.world.execute("UPDATE clusters SET expires_at = app_now() + interval '2 hours'")
    await api.make_cluster("kept", flavor="m2000-pod4", delete_protection=True, expires_at="2126-01-01T00:00:00Z")
    await api.world.execute("UPDATE clusters SET expires_at = app_now() + interval '1 minute' WHERE delete_protection")
    [machines] = (await admin.get("/v1/operator/regions/luxembourg-2/capacity")).json()["types"]
    assert [(each["within_seconds"], each["clusters"], each["machines"]) for each in machines["expiries"]] == [
        (86_400, 1, 4),
        (604_800, 1, 4),
    ], "a protected cluster is not deleted"
    problem(await admin.get("/v1/operator/regions/atlantis-1/capacity"), 404, "not_found")
