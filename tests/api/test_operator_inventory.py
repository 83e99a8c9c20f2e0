"""What operators expect of the hardware, what differs, and the history of machines and hosts."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ipucloud.inventory.expected.shown import Shown, write_shown
from ipucloud.inventory.health.codes import Code, Kind
from tests.api.support import Api, items, ok, operator_items, pointers_of, problem, walk
from tests.api.test_operator_hardware import machine, order

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"
EXPECTED = f"/v1/operator/regions/{REGION}/expected-inventory"


async def show(api: Api, *shown: Shown, kind: Kind = "machine") -> None:
    """A complete reading of the region."""
    async with api.world.database.begin() as connection:
        await write_shown(connection, REGION, kind, shown)
    await api.world.execute(
        "INSERT INTO observations (region, source, started_at, finished_at, stale_at, objects, answered)"
        " SELECT :region, source, app_now(), app_now(), app_now() + interval '1 day', 1, 1"
        " FROM unnest(ARRAY['bmc', 'host']) AS source ON CONFLICT DO NOTHING",
        region=REGION,
    )


def item(number: int, serial: str | None = None, /, **more: object) -> dict[str, object]:
    return {"kind": "machine", "name": machine(number), "serial": serial or f"GC{number}"} | more


async def put(admin: httpx.AsyncClient, *expected: dict[str, object], **query: str) -> dict[str, Any]:
    return ok(await admin.put(EXPECTED, json={"items": expected}, params=query))


async def findings(admin: httpx.AsyncClient, **query: str) -> set[tuple[str, str]]:
    return {(each["name"], each["code"]) for each in await operator_items(admin, "inventory-findings", **query)}


async def refused(admin: httpx.AsyncClient, *expected: object) -> list[str]:
    answer = await admin.put(EXPECTED, json={"items": expected})
    return [each["pointer"] for each in problem(answer, 422, "validation_failed")["errors"]]


async def test_everything_that_differs_is_a_finding(api: Api, admin: httpx.AsyncClient) -> None:
    await show(
        api,
        Shown(machine(0), "GC0", "IPU-M2000", "2.6.0", pod="p", slot=0),
        Shown(machine(1), "GC99", "Bow-2000", "2.6.0", pod="p", slot=4),
        Shown("m-unknown", "GC7"),
    )
    expected: dict[str, object] = {"model": "IPU-M2000", "firmware": "2.6.1", "pod": "p"}
    changed = await put(admin, item(0, slot=0, **expected), item(1, slot=1, **expected), item(2))
    assert (changed["added"], changed["changed"], changed["removed"], changed["dry_run"]) == (3, 0, 0, False)
    differences = {
        (machine(0), "firmware_differs"),
        (machine(1), "wrong_serial"),
        (machine(1), "wrong_model"),
        (machine(1), "firmware_differs"),
        (machine(1), "cabling"),
        (machine(2), "missing"),
        ("m-unknown", "surplus"),
    }
    assert await findings(admin) == differences
    counts = {"cabling": 1, "firmware_differs": 2, "missing": 1, "surplus": 1, "wrong_model": 1, "wrong_serial": 1}
    assert (changed["findings"], changed["withheld"]) == (counts, 1)
    assert await findings(admin, code="cabling", region=REGION) == {(machine(1), "cabling")}
    [cabling] = await operator_items(admin, "inventory-findings", code="cabling")
    assert (cabling["expected"], cabling["shown"]) == ("p slot 1", "p slot 4")
    [surplus] = await operator_items(admin, "inventory-findings", name="m-unknown")
    assert (surplus["registered"], surplus["prevents"]) == (False, False)
    assert await findings(admin, region="amsterdam-2") == set()


async def test_nothing_is_missing_in_a_region_that_was_never_observed(admin: httpx.AsyncClient) -> None:
    assert (await put(admin, item(0)))["findings"] == {}


async def test_a_dry_run_says_what_would_change_and_changes_nothing(api: Api, admin: httpx.AsyncClient) -> None:
    await show(api, Shown(machine(0), "GC0"), Shown(machine(1), "GC1"))
    await put(admin, item(0), item(1))
    before = await api.snapshot()
    planned = await put(admin, item(0, "GC5"), item(3), dry_run="true")
    assert (planned["dry_run"], planned["added"], planned["changed"], planned["removed"]) == (True, 1, 1, 1)
    assert planned["findings"] == {"missing": 1, "surplus": 1, "wrong_serial": 1}
    assert await api.snapshot() == before
    exported = await operator_items(admin, f"regions/{REGION}/expected-inventory")
    assert [(each["name"], each["serial"]) for each in exported] == [(machine(0), "GC0"), (machine(1), "GC1")]
    assert (await put(admin, *exported))["changed"] == 0


async def test_an_inventory_with_a_fault_is_refused_as_a_whole(api: Api, admin: httpx.AsyncClient) -> None:
    before = await api.snapshot()
    assert await refused(admin) == ["/items"]
    assert await refused(admin, item(0), item(1, "GC0")) == ["/items/0/serial", "/items/1/serial"]
    assert await refused(admin, item(0), item(0, "GC1")) == ["/items/0/name", "/items/1/name"]
    assert await refused(admin, item(0), {"kind": "robot", "name": "m1"}) == ["/items/1/kind"]
    assert await refused(admin, item(0, slot=16, pod="p")) == ["/items/0/slot"]
    assert await refused(admin, item(0, pod="p"), item(1, slot=1)) == ["/items/0/slot", "/items/1/pod"]
    assert await refused(admin, {"kind": "host", "name": "h0", "pod": "p", "slot": 0}) == ["/items/0/pod"]
    assert await refused(admin, item(0, colour="red")) == ["/items/0/colour"]
    assert len(await refused(admin, *[item(0)] * 30)) == 20
    elsewhere = "/v1/operator/regions/{}/expected-inventory"
    problem(await admin.put(elsewhere.format("atlantis"), json={"items": [item(0)]}), 404, "not_found")
    problem(await admin.get(elsewhere.format("atlantis")), 404, "not_found")
    problem(await admin.delete(EXPECTED), 404, "not_found")
    assert await api.snapshot() == before
    await put(admin, item(0))
    other = await admin.put(elsewhere.format("amsterdam-2"), json={"items": [item(5, "GC0")]})
    assert problem(other, 422, "validation_failed")["errors"][0]["pointer"] == "/items/0/serial"


async def test_a_large_inventory_is_one_request_and_a_larger_one_is_refused(api: Api, admin: httpx.AsyncClient) -> None:
    large = [item(number, pod=f"pod-{number // 16:04}", slot=number % 16) for number in range(16_384)]
    assert (await put(admin, *large))["added"] == 16_384
    problem(await admin.put(EXPECTED, json={"items": [{}] * 40_001}), 422, "validation_failed")
    nobody = api.client("not-a-token")
    problem(await nobody.put(EXPECTED, content=b"x" * 1_000_000), 401, "unauthenticated")
    problem(await admin.put(EXPECTED, content=b"x" * 17_000_000), 413, "body_too_large")


async def test_what_is_shown_can_be_accepted(api: Api, admin: httpx.AsyncClient) -> None:
    await show(api, Shown(machine(0), "GC9", pod="p", slot=0), Shown(machine(1), "GC1"), Shown("extra", "GC7"))
    await put(admin, item(0), item(1), item(2))
    body = {"machines": [machine(0), machine(2)], "reason": "main board exchanged"}
    changed = (await admin.post(f"{EXPECTED}:accept", json=body)).json()
    assert (changed["changed"], changed["removed"], changed["findings"]) == (1, 1, {"surplus": 1})
    assert pointers_of(await admin.post(f"{EXPECTED}:accept", json=body)) == ["/machines/0", "/machines/1"]
    for wrong in ({"reason": "none"}, {"everything": True, "hosts": ["h"], "reason": "both"}):
        problem(await admin.post(f"{EXPECTED}:accept", json=wrong), 422, "validation_failed")
    [entry] = await operator_items(admin, f"machines/{machine(0)}/history", type="accepted")
    assert entry["detail"] == "wrong_serial, expected GC0, shown GC9: main board exchanged"
    assert entry["actor"] == (await admin.get("/v1/whoami")).json()["token"]["id"]
    everything = {"everything": True, "reason": "tidy"}
    assert (await admin.post(f"{EXPECTED}:accept", json=everything)).json()["findings"] == {}
    assert (await admin.delete(EXPECTED)).status_code == 204
    assert await operator_items(admin, f"regions/{REGION}/expected-inventory") == []


async def test_the_first_inventory_can_be_what_the_site_shows(api: Api, admin: httpx.AsyncClient) -> None:
    everything = {"everything": True, "reason": "first inventory"}
    problem(await admin.post(f"{EXPECTED}:accept", json=everything), 409, "state_conflict")
    await show(api, *(Shown(machine(slot), f"GC{slot}", firmware="2.6.0", pod="p", slot=slot) for slot in range(16)))
    await show(api, Shown("h0", "H0"), kind="host")
    changed = (await admin.post(f"{EXPECTED}:accept", json=everything)).json()
    assert (changed["added"], changed["findings"], changed["withheld"]) == (17, {}, 0)
    first, *_ = await operator_items(admin, f"regions/{REGION}/expected-inventory")
    assert (first["kind"], first["firmware"]) == ("host", None)
    last = (await operator_items(admin, f"regions/{REGION}/expected-inventory"))[-1]
    assert (last["kind"], last["firmware"]) == ("machine", "2.6.0")
    await show(api, Shown(machine(0), "GC1"), Shown(machine(1), "GC0"))
    swapped = {"machines": [machine(0)], "reason": "one of two"}
    problem(await admin.post(f"{EXPECTED}:accept", json=swapped), 409, "state_conflict")
    swapped["machines"] = [machine(0), machine(1)]
    assert (await admin.post(f"{EXPECTED}:accept", json=swapped)).json()["changed"] == 2


async def test_a_machine_shows_what_it_is_and_is_found_by_its_serial_number(api: Api, admin: httpx.AsyncClient) -> None:
    await show(
        api, Shown(machine(3), "GC3", "IPU-M2000", "2.6.0", '{"bmc":"2.5.9"}', part_serials='{"ipu-1":"I\u00e9"}')
    )
    [row] = await operator_items(admin, "machines", serial="GC3")
    assert (row["name"], row["model"], row["firmware"]) == (machine(3), "IPU-M2000", "2.6.0")
    whole = (await admin.get(f"/v1/operator/machines/{machine(3)}")).json()
    assert (whole["parts"], whole["missing_since"]) == ({"bmc": "2.5.9"}, None)
    assert whole["part_serials"] == {"ipu-1": "I\u00e9"}
    assert [each["name"] for each in await operator_items(admin, "machines", serial="I\u00e9")] == [machine(3)]
    assert await operator_items(admin, "machines", serial="ipu-1") == []
    for serial in ("GC3", "I\u00e9"):
        [known] = await items(admin, f"/v1/operator/what-is/{serial}")
        assert (known["kind"], known["name"]) == ("machine", machine(3))
    await show(api)
    whole = (await admin.get(f"/v1/operator/machines/{machine(3)}")).json()
    assert (whole["serial"], whole["missing_since"] is None) == ("GC3", False)


@pytest.mark.acceptance("BFX02-03")
async def test_a_machines_history_is_one_ordered_list(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active()
    [name] = await api.world.column(
        "SELECT m.name FROM allocations a JOIN machines m ON m.id = a.machine_id WHERE a.cluster_id = :id", id=bert
    )
    report = await api.world.fail(bert, Code.BMC_CRITICAL)
    await api.world.work_again(bert, report)
    await api.world.execute(
        "INSERT INTO scheduled_repairs (id, project_id, cluster_id, reason, hardware, starts_at, latest_at)"
        " VALUES (gen_random_uuid(), :project, :cluster, 'fault', ARRAY[:name], app_now(), app_now())",
        project=api.world.project.id,
        cluster=bert,
        name=name,
    )
    await api.world.execute("UPDATE scheduled_repairs SET ended_at = app_now(), outcome = 'not_needed'")
    await show(api, Shown(name, "GC1"))
    await show(api, Shown(name, "GC2"))
    await order(admin, "drain", machines=[name], reason="replace the fan")
    await order(admin, "return-to-service", machines=[name])
    await api.world.delete(bert)
    await api.world.finish_delete(bert)
    path = f"machines/{name}/history"
    entries = await operator_items(admin, path)
    assert {each["type"] for each in entries[9:]} == {"cleaned", "freed"}
    assert [(each["type"], each["code"]) for each in entries[:9]] == [
        ("allocated", None),
        ("reported", "bmc_critical"),
        ("cleared", "bmc_critical"),
        ("repair_scheduled", None),
        ("repair_ended", None),
        ("serial_changed", None),
        ("reported", "drain"),
        ("cleared", "drain"),
        ("released", None),
    ]
    assert entries == sorted(entries, key=lambda each: str(each["at"]))
    tenant = {(each["project"], each["cluster"]) for each in entries if each["type"] in {"allocated", "freed"}}
    assert tenant == {(api.world.project.slug, str(bert))}
    assert await operator_items(admin, path, since=entries[5]["at"], type="serial_changed") == [entries[5]]
    assert await walk(admin, f"/v1/operator/{path}", limit=3) == entries
    problem(await admin.get("/v1/operator/machines/m99/history"), 404, "not_found")
    problem(await admin.get("/v1/operator/hosts/h99/history"), 404, "not_found")
    [event] = await operator_items(admin, "hardware-events", region=REGION, type="serial_changed")
    assert (event["name"], event["detail"]) == (name, "serial GC1 became GC2")
