"""What operators see of machines and hosts, whoever holds them, and what they do with them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.clusters.operations.replace import replace_hardware
from ipucloud.identity.roles import Role
from ipucloud.inventory.health.codes import Code
from ipucloud.policies.repairs import start_repairs
from tests.api.support import Api, faults_of, items, ok, operator_items, pointers_of, problem

pytestmark = pytest.mark.anyio

POD = "luxembourg-2-m2000-pod-000"
RACK = "luxembourg-2-m2000-g0"
HOST = "luxembourg-2-m2000-host-000"


def machine(slot: int) -> str:
    return f"{POD}-m{slot:02}"


MACHINES = {machine(slot) for slot in range(16)}


async def order(caller: httpx.AsyncClient, verb: str, **body: object) -> list[dict[str, Any]]:
    changed: list[dict[str, Any]] = ok(await caller.post(f"/v1/operator/hardware:{verb}", json=body))["items"]
    return changed


async def names(caller: httpx.AsyncClient, kind: str = "machines", **query: str) -> set[str]:
    return {each["name"] for each in await operator_items(caller, kind, limit="1000", **query)}


async def free(caller: httpx.AsyncClient) -> int:
    room = (await caller.get("/v1/operator/regions/luxembourg-2/capacity")).json()
    count: int = room["types"][0]["states"]["free"]
    return count


@pytest.mark.acceptance("BFX01-04")
async def test_a_drained_pod_takes_no_clusters_and_keeps_the_present_one(api: Api, admin: httpx.AsyncClient) -> None:
    await api.make_cluster("bert")
    changed = await order(admin, "drain", pods=[POD], reason="replace the rack")
    assert {each["name"] for each in changed} == MACHINES
    assert all(each["codes"] == ["drain"] and not each["allocatable"] for each in changed)
    holders = {each["holder"]["name"] for each in changed if each["holder"]}
    assert (holders, len([each for each in changed if each["holder"]])) == ({"bert"}, 1)
    assert await free(admin) == 0
    assert len(await names(admin, region="luxembourg-2", state="maintenance")) == 15
    assert len(await names(admin, pod=POD, code="drain")) == 16
    back = await order(admin, "return-to-service", racks=[RACK])
    assert all(each["codes"] == [] and each["allocatable"] for each in back)
    assert await free(admin) == 15


@pytest.mark.acceptance("BFX01-03")
async def test_a_whole_rack_is_maintained(admin: httpx.AsyncClient) -> None:
    changed = await order(admin, "maintenance", racks=[RACK], reason="power work")
    assert {each["name"] for each in changed if each["codes"] == ["maintenance"]} == MACHINES
    assert await free(admin) == 0


@pytest.mark.acceptance("BFX01-02", "BFX02-01")
async def test_an_operators_report_has_a_reason_an_end_and_an_author(api: Api, admin: httpx.AsyncClient) -> None:
    until = "2126-01-01T00:00:00.000000Z"
    await order(admin, "maintenance", machines=[machine(7)], hosts=[HOST], reason="replace the fan", expires_at=until)
    shown = (await admin.get(f"/v1/operator/machines/{machine(7)}")).json()
    [report] = shown["reports"]
    assert (report["code"], report["source"], report["detail"]) == ("maintenance", "operator", "replace the fan")
    assert report["expires_at"] == until
    assert report["created_by"] == (await admin.get("/v1/whoami")).json()["token"]["id"]
    assert (shown["state"], shown["maintenance"], shown["rack"], shown["slot"]) == ("maintenance", True, RACK, 7)
    assert {each["name"] for each in await operator_items(admin, "health-reports", state="live")} == {machine(7), HOST}
    ended = await admin.post(f"/v1/operator/health-reports/{report['id']}:clear")
    assert ended.json()["state"] == "cleared"
    assert await operator_items(admin, "health-reports", machine=machine(7)) == []
    shown = (await admin.get(f"/v1/operator/machines/{machine(7)}")).json()
    assert (shown["reports"], [each["id"] for each in shown["past_reports"]]) == ([], [report["id"]])
    assert (shown["state"], shown["allocatable"]) == ("free", True)
    unknown = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b77"
    problem(await admin.post(f"/v1/operator/health-reports/{unknown}:clear"), 404, "not_found")


@pytest.mark.acceptance("BFX02-03")
async def test_a_cluster_recovers_when_the_report_about_its_machine_is_cleared(
    api: Api, admin: httpx.AsyncClient
) -> None:
    bert = await api.world.make_active()
    await api.world.fail(bert, Code.BMC_CRITICAL)
    [report] = await operator_items(admin, "health-reports")
    assert (report["credited"], report["message"] is None) == (True, False)
    assert (await api.world.cluster(bert))["state"] == "degraded"
    await admin.post(f"/v1/operator/health-reports/{report['id']}:clear")
    assert (await api.world.cluster(bert))["state"] == "active"
    [past] = await operator_items(admin, "health-reports", state="cleared")
    assert (past["id"], past["code"]) == (report["id"], "bmc_critical")


async def test_nobody_clears_what_may_still_carry_a_customers_data(api: Api, admin: httpx.AsyncClient) -> None:
    report = await api.world.fail(await api.world.make_active(), Code.NOT_CLEAN)
    problem(await admin.post(f"/v1/operator/health-reports/{report}:clear"), 409, "state_conflict")
    [live] = await operator_items(admin, "health-reports", code="not_clean")
    await order(admin, "return-to-service", machines=[live["name"]])
    assert await operator_items(admin, "health-reports", code="not_clean") == [live]


@pytest.mark.acceptance("CAP02-01")
async def test_who_holds_and_held_a_machine_is_shown(api: Api, admin: httpx.AsyncClient) -> None:
    bert = (await api.make_cluster("bert"))["target"]["id"]
    [held] = await operator_items(admin, "machines", cluster=bert)
    assert (held["state"], held["holder"]["name"]) == ("allocated", "bert")
    assert held["holder"]["project"] == api.world.project.slug
    shown = (await admin.get(f"/v1/operator/machines/{held['name']}")).json()
    assert [each["cluster"] for each in shown["holders"]] == [bert]
    [host] = await operator_items(admin, "hosts", cluster=bert)
    assert (await admin.get(f"/v1/operator/hosts/{host['name']}")).json()["holders"][0]["cluster"] == bert
    for path in ("machines/unknown", "hosts/unknown"):
        problem(await admin.get(f"/v1/operator/{path}"), 404, "not_found")


@pytest.mark.acceptance("BFX04-01")
async def test_nothing_is_healthy_that_was_not_observed(api: Api, admin: httpx.AsyncClient) -> None:
    unobserved = await operator_items(admin, "observations")
    assert {(each["region"], each["source"]) for each in unobserved} >= {("luxembourg-2", None)}
    await order(admin, "maintenance", machines=[machine(7)], reason="a fan")
    assert await names(admin, region="luxembourg-2", health="silent") == MACHINES
    await order(admin, "return-to-service", machines=[machine(7)])
    await api.world.execute(
        "INSERT INTO observations (region, source, started_at, finished_at, stale_at, objects, answered)"
        " VALUES ('luxembourg-2', 'bmc', app_now(), app_now(), app_now() + interval '1 day', 16, 16)"
    )
    assert await names(admin, health="ok") == set(), "nothing has read their V-IPU controller"
    await api.world.execute(
        "UPDATE vipu_controllers SET started_at = app_now(), finished_at = app_now(),"
        " stale_at = app_now() + interval '1 day' WHERE region = 'luxembourg-2'"
    )
    assert await names(admin, health="ok") == MACHINES
    [pod] = await operator_items(admin, "pods", region="luxembourg-2")
    assert pod["health"] == {"ok": 16}
    [observation] = [each for each in await operator_items(admin, "observations") if each["source"]]
    assert (observation["source"], observation["answered"]) == ("bmc", 16)
    assert observation["age_seconds"] == pytest.approx(0, abs=60)
    bert = await api.world.make_active()
    used = await api.world.machine_of(bert)
    links = {each["name"]: each["links"] for each in await operator_items(admin, "machines")}
    assert (links[used]["state"], links[used]["observed_at"] is None) == ("up", False)
    assert {each["state"] for name, each in links.items() if name != used} == {"unknown"}
    await api.world.fail(bert, Code.LINK_DOWN)
    assert (await admin.get(f"/v1/operator/machines/{used}")).json()["links"]["state"] == "down"


async def test_a_machine_under_a_silent_controller_is_not_free(api: Api, admin: httpx.AsyncClient) -> None:
    """The list, the pod and the region's capacity agree."""
    withhold = "UPDATE vipu_controllers SET withheld = {} WHERE region = 'luxembourg-2'"
    settle = "SELECT settle_pods(array_agg(id)) FROM pods"
    used = await api.world.machine_of(await api.world.make_active())
    await api.world.execute(withhold.format("true"))
    await api.world.execute(settle)
    [room] = (await admin.get("/v1/operator/regions/luxembourg-2/capacity")).json()["types"]
    [pod] = await operator_items(admin, "pods", region="luxembourg-2")
    assert (room["states"]["silent"], room["states"]["free"], pod["masks"]["silent"].bit_count()) == (15, 0, 15)
    assert await names(admin, state="silent") == MACHINES - {used}
    assert await names(admin, region="luxembourg-2", state="free") == set()
    await api.world.execute(withhold.format("false"))
    await api.world.execute(settle)
    assert len(await names(admin, region="luxembourg-2", state="free")) == 15


async def test_an_order_with_an_unknown_name_changes_nothing(api: Api, admin: httpx.AsyncClient) -> None:
    body = {"machines": [machine(0), "m99"], "racks": ["g99"], "reason": "typing"}
    assert pointers_of(await admin.post("/v1/operator/hardware:drain", json=body)) == ["/machines/1", "/racks/0"]
    problem(await admin.post("/v1/operator/hardware:drain", json={"reason": "nothing"}), 422, "validation_failed")
    assert await names(admin, code="drain") == set()


@pytest.mark.acceptance("BFX05-01")
async def test_maintenance_of_hardware_in_use_is_announced(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active()
    [held] = await operator_items(admin, "machines", cluster=str(bert))
    soon, later = datetime.now(UTC) + timedelta(hours=71), datetime.now(UTC).replace(microsecond=0) + timedelta(days=4)
    body: dict[str, object] = {"machines": [held["name"], machine(7)], "reason": "replace the fan"}
    for wrong, code in (
        ({}, "too_soon"),
        ({"starts_at": soon.isoformat()}, "too_soon"),
        ({"starts_at": "2020-01-01T00:00:00Z", "urgent": True}, "not_in_future"),
        ({"starts_at": "2999-01-01T00:00:00Z"}, "not_in_future"),
    ):
        refused = await admin.post("/v1/operator/hardware:maintenance", json=body | wrong)
        assert faults_of(refused) == [("/starts_at", code)]
    assert await operator_items(admin, "health-reports") == []
    changed = await order(admin, "maintenance", **body, starts_at=later.isoformat())
    assert [each["codes"] for each in changed] == [["drain"], ["drain"]]
    planned = later.strftime("%Y-%m-%dT%H:%M:%S.000000Z")
    assert {each["maintenance_at"] for each in await operator_items(admin, "health-reports")} == {planned}
    cluster = await api.world.cluster(bert)
    scheduled = cluster["scheduled_repair"]
    assert (cluster["state"], scheduled["reason"], scheduled["hardware"]) == ("active", "maintenance", [held["name"]])
    assert (scheduled["starts_at"], scheduled["latest_at"]) == (planned, planned)
    [event] = await api.world.column("SELECT data FROM events WHERE type = 'maintenance.announced'")
    assert (event["hardware"], event["urgent"]) == ([held["name"]], False)


async def test_urgent_maintenance_begins_now(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active(auto_repair=False)
    [held] = await operator_items(admin, "machines", cluster=str(bert))
    body = {"machines": [held["name"]], "reason": "smoke"}
    await order(admin, "maintenance", **body, urgent=True)
    await start_repairs(api.world.settings, replace_hardware, api.world.database)
    cluster = await api.world.cluster(bert)
    assert (cluster["state"], cluster["billing"]["credited_machines"]) == ("degraded", 1)
    await order(admin, "return-to-service", machines=[held["name"]])
    cluster = await api.world.cluster(bert)
    assert (cluster["state"], cluster["billing"]["credited_machines"]) == ("active", 0)


async def test_what_was_observed_between_two_clusters_is_found_by_machine_and_cluster(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    cluster = UUID((await api.make_cluster("bert"))["target"]["id"])
    await api.world.delete(cluster)
    await api.world.finish_delete(cluster)

    async def cleaned(**query: str) -> list[tuple[str, str]]:
        shown = await items(admin, "/v1/operator/cleanings", **query)
        return [(each["kind"], each["name"]) for each in shown]

    validations = await cleaned(cluster=str(cluster))
    assert sorted(kind for kind, _ in validations) == ["host", "machine"]
    machine = dict(validations)["machine"]
    assert await cleaned(machine=machine) == [("machine", machine)]
    assert await cleaned(host=machine) == await cleaned(region="amsterdam-1") == []


async def test_a_machine_is_kept_from_clusters_until_it_was_validated_or_that_is_withdrawn(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    await api.make_cluster("bert")
    pod = "luxembourg-2-m2000-pod-000"

    async def validated(**body: list[str]) -> httpx.Response:
        return await admin.post("/v1/operator/hardware:validate", json=body)

    changed = {each["name"]: each for each in (await validated(pods=[pod])).json()["items"]}
    assert len(changed) == 16
    held = {name for name, each in changed.items() if each["holder"]}
    assert {name for name, each in changed.items() if each["codes"] == ["not_validated"]} == changed.keys() - held
    problem(await validated(machines=sorted(held)), 409, "state_conflict")
    capacity = (await admin.get("/v1/operator/regions/luxembourg-2/capacity")).json()["types"][0]["states"]
    assert (capacity["free"], capacity["validating"], capacity["allocated"]) == (0, 15, 1)
    listed = await items(admin, "/v1/operator/validations", state="waiting", limit="1000")
    assert {each["machine"] for each in listed} == changed.keys() - held
    assert {(each["reason"], each["result"], each["name"]) for each in listed} == {("operator", None, None)}
    [machine, other, *_] = sorted(changed.keys() - held)
    await api.world.execute(
        "UPDATE hardware_validations SET name = 'val-1', started_at = app_now(), deadline_at = app_now()"
        " WHERE machine_id = (SELECT id FROM machines WHERE name = :name)",
        name=other,
    )
    for name, status in ((machine, 200), (other, 409)):
        [report] = await items(admin, "/v1/operator/health-reports", machine=name)
        cleared = await admin.post(f"/v1/operator/health-reports/{report['id']}:clear")
        assert cleared.status_code == status, cleared.text
    shown = (await admin.get(f"/v1/operator/machines/{machine}")).json()
    assert (shown["state"], shown["codes"]) == ("free", [])
    assert (await admin.get(f"/v1/operator/machines/{other}")).json()["state"] == "validating"
    [entry] = await items(admin, f"/v1/operator/machines/{machine}/history?type=validated")
    assert (entry["detail"], entry["actor"] is not None) == ("abandoned: an operator cleared the report", True)
