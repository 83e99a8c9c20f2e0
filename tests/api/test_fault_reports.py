"""Faults that customers report: what they send, what the operator answers, and what follows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.inventory.health.codes import Code
from tests.api.support import Api, faults_of, items, ok, pointers_of, problem

pytestmark = pytest.mark.anyio

REPORT = {"description": "IPU 3 hangs in every run.\nThe other three work.", "category": "ipu"}
ALL = "/v1/operator/fault-reports"


async def report_fault(api: Api, cluster: UUID, **changes: object) -> dict[str, Any]:
    machine = await api.world.machine_of(cluster)
    answer = await api.owner.post(
        f"{api.base}/clusters/{cluster}/machines/{machine}:report-fault", json=REPORT | changes
    )
    assert answer.status_code == 201, answer.text
    report: dict[str, Any] = answer.json()
    assert answer.headers["location"] == f"/v1/projects/{api.world.project.id}/fault-reports/{report['id']}"
    return report


async def read(api: Api, fault: dict[str, Any]) -> dict[str, Any]:
    return ok(await api.owner.get(f"{api.base}/fault-reports/{fault['id']}"))


async def events(api: Api, fault: dict[str, Any]) -> list[str]:
    log = await items(api.owner, f"{api.base}/events", subject=fault["id"])
    return [each["type"].partition(".")[2] for each in reversed(log)]


async def listed(caller: httpx.AsyncClient, path: str, **query: str) -> list[str]:
    return [each["id"] for each in await items(caller, path, **query)]


async def test_a_customers_word_alone_changes_nothing(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active()
    fault = await report_fault(api, bert, since="2026-01-01T00:00:00Z")
    assert (fault["state"], fault["kind"], fault["answer"], fault["report_id"]) == ("open", "machine", None, None)
    shown = (await api.owner.get(f"{api.base}/clusters/{bert}")).json()
    assert (shown["state"], shown["faults"], shown["billing"]["credited_machines"]) == ("active", [], 0)
    assert await read(api, fault) == fault
    assert await listed(api.owner, f"{api.base}/fault-reports", cluster=str(bert), state="open") == [fault["id"]]
    assert await listed(api.owner, f"{api.base}/fault-reports", state="confirmed") == []
    assert await listed(api.owner, f"{api.base}/fault-reports", cluster=fault["id"]) == []
    report = (await admin.get(f"{ALL}/{fault['id']}")).json()
    assert {name: report[name] for name in fault} == fault
    assert (report["project"], report["cluster_name"], report["held"]) == (api.world.project.slug, "bert", True)
    assert await listed(admin, ALL, state="open", region="luxembourg-2", hardware=fault["name"]) == [fault["id"]]
    assert await listed(admin, ALL, project="nobody") == []
    assert await events(api, fault) == ["opened"]


async def test_a_confirmed_fault_is_degraded_credited_and_ended_by_return_to_service(
    api: Api, admin: httpx.AsyncClient
) -> None:
    bert = await api.world.make_active()
    fault = await report_fault(api, bert)
    ok(await admin.post(f"{ALL}/{fault['id']}:confirm", json={"answer": "its tile memory has errors"}))
    confirmed = await read(api, fault)
    assert (confirmed["state"], confirmed["answer"]) == ("confirmed", "its tile memory has errors")
    [health] = (await admin.get("/v1/operator/health-reports")).json()["items"]
    assert (health["id"], health["source"], health["code"]) == (confirmed["report_id"], "operator", "bmc_critical")
    shown = (await api.owner.get(f"{api.base}/clusters/{bert}")).json()
    assert (shown["state"], [each["code"] for each in shown["faults"]]) == ("degraded", ["bmc_critical"])
    assert shown["billing"]["credited_machines"] == 1
    problem(await admin.post(f"{ALL}/{fault['id']}:dismiss", json={"reason": "late"}), 409, "state_conflict")
    again = f"{api.base}/clusters/{bert}/machines/{fault['name']}:report-fault"
    assert problem(await api.owner.post(again, json=REPORT), 409, "state_conflict")["fault_report"] == fault["id"]
    body = {"machines": [fault["name"]]}
    assert (await admin.post("/v1/operator/hardware:return-to-service", json=body)).status_code == 200
    repaired = await read(api, fault)
    assert (repaired["state"], repaired["repaired_at"] is None) == ("repaired", False)
    assert (await api.owner.get(f"{api.base}/clusters/{bert}")).json()["state"] == "active"
    assert await events(api, fault) == ["opened", "confirmed", "repaired"]
    assert (await report_fault(api, bert))["state"] == "open"


async def test_a_cleared_report_is_repaired(api: Api, admin: httpx.AsyncClient) -> None:
    fault = await report_fault(api, await api.world.make_active())
    await admin.post(f"{ALL}/{fault['id']}:confirm", json={"answer": "a cable is loose", "code": "link_down"})
    report = (await read(api, fault))["report_id"]
    assert (await admin.post(f"/v1/operator/health-reports/{report}:clear")).status_code == 200
    assert (await read(api, fault))["state"] == "repaired"


async def test_the_credit_begins_with_the_operators_evidence(api: Api, admin: httpx.AsyncClient) -> None:
    """Not before the cluster existed, and not in the future."""
    bert = await api.world.make_active()
    fault = await report_fault(api, bert)
    path, now = f"{ALL}/{fault['id']}:confirm", datetime.now(UTC)
    for observed_at, code in ((now + timedelta(days=1), "in_future"), (now - timedelta(days=9), "too_early")):
        refused = await admin.post(path, json={"answer": "it has", "observed_at": observed_at.isoformat()})
        assert faults_of(refused) == [("/observed_at", code)]
    created = (await api.owner.get(f"{api.base}/clusters/{bert}")).json()["created_at"]
    ok(await admin.post(path, json={"answer": "it has", "observed_at": created}))
    [shown] = (await api.owner.get(f"{api.base}/clusters/{bert}")).json()["faults"]
    assert shown["since"] == created


async def test_a_dismissed_report_says_why(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active()
    fault = await report_fault(api, bert)
    problem(await admin.post(f"{ALL}/{fault['id']}:dismiss", json={}), 422, "validation_failed")
    await admin.post(f"{ALL}/{fault['id']}:dismiss", json={"reason": "every test passes"})
    dismissed = await read(api, fault)
    assert (dismissed["state"], dismissed["answer"], dismissed["report_id"]) == ("dismissed", "every test passes", None)
    assert (await api.owner.get(f"{api.base}/clusters/{bert}")).json()["state"] == "active"
    problem(await admin.post(f"{ALL}/{fault['id']}:confirm", json={"answer": "late"}), 409, "state_conflict")
    assert await events(api, fault) == ["opened", "dismissed"]


async def test_a_poplar_server_is_reported_by_name_or_id(api: Api, admin: httpx.AsyncClient) -> None:
    bert = await api.world.make_active()
    [server] = (await api.owner.get(f"{api.base}/clusters/{bert}/poplar-servers")).json()["items"]
    path = f"{api.base}/clusters/bert/poplar-servers"
    fault = (await api.owner.post(f"{path}/{server['name']}:report-fault", json=REPORT)).json()
    assert (fault["kind"], fault["name"]) == ("poplar_server", server["name"])
    problem(await api.owner.post(f"{path}/{server['id']}:report-fault", json=REPORT), 409, "state_conflict")
    confirm = f"{ALL}/{fault['id']}:confirm"
    wrong = {"answer": "its link is down", "code": "link_down"}
    assert pointers_of(await admin.post(confirm, json=wrong)) == ["/code"]
    assert (await admin.post(confirm, json={"answer": "its disk is broken"})).status_code == 200
    [shown] = (await api.owner.get(f"{api.base}/clusters/{bert}")).json()["faults"]
    assert (shown["kind"], shown["code"]) == ("poplar_server", "host_failed")


async def test_only_hardware_of_the_cluster_can_be_reported(api: Api) -> None:
    bert, ernie = await api.world.make_active("bert"), await api.world.make_active("ernie")
    other = await api.world.machine_of(ernie)
    for machine in (other, "nothing-m00", str(ernie)):
        path = f"{api.base}/clusters/{bert}/machines/{machine}:report-fault"
        problem(await api.owner.post(path, json=REPORT), 404, "not_found")
    refused = await api.owner.post(f"{api.base}/clusters/{bert}/poplar-servers/x-p0:report-fault", json=REPORT)
    problem(refused, 404, "not_found")
    path = f"{api.base}/clusters/{ernie}/machines/{other}:report-fault"
    later = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    for wrong in (
        {},
        {"description": ""},
        REPORT | {"category": "noise"},
        REPORT | {"since": later},
        REPORT | {"code": "x"},
    ):
        problem(await api.owner.post(path, json=wrong), 422, "validation_failed")
    assert await listed(api.owner, f"{api.base}/fault-reports") == []


async def test_a_confirmed_report_is_closed_with_its_cluster_and_its_hardware_stays_out_of_service(
    api: Api, admin: httpx.AsyncClient
) -> None:
    bert = await api.world.make_active()
    fault = await report_fault(api, bert)
    await admin.post(f"{ALL}/{fault['id']}:confirm", json={"answer": "its tile memory has errors"})
    await api.world.delete(bert)
    await api.world.finish_delete(bert)
    closed = await read(api, fault)
    assert (closed["state"], closed["repaired_at"], closed["closed_at"] is None) == ("closed", None, False)
    assert await events(api, fault) == ["opened", "confirmed", "closed"]
    machine = (await admin.get(f"/v1/operator/machines/{fault['name']}")).json()
    assert [each["id"] for each in machine["reports"]] == [closed["report_id"]], machine


async def test_a_suspension_closes_what_was_confirmed_of_machines_that_it_gives_back(
    api: Api, admin: httpx.AsyncClient
) -> None:
    bert = await api.world.make_active()
    fault = await report_fault(api, bert)
    await admin.post(f"{ALL}/{fault['id']}:confirm", json={"answer": "its tile memory has errors"})
    [server] = (await api.owner.get(f"{api.base}/clusters/{bert}/poplar-servers")).json()["items"]
    path = f"{api.base}/clusters/bert/poplar-servers/{server['name']}:report-fault"
    kept = (await api.owner.post(path, json=REPORT)).json()
    await admin.post(f"{ALL}/{kept['id']}:confirm", json={"answer": "its disk is broken"})
    await api.world.suspend(bert)
    await api.world.finish_suspend(bert)
    assert [(await read(api, each))["state"] for each in (fault, kept)] == ["closed", "confirmed"]


async def test_a_report_about_hardware_that_was_given_to_another_cluster_is_still_answered(
    api: Api, admin: httpx.AsyncClient
) -> None:
    bert = await api.world.make_active()
    fault = await report_fault(api, bert)
    await api.world.delete(bert)
    await api.world.finish_delete(bert)
    ernie = await api.world.make_active("ernie")
    assert await api.world.machine_of(ernie) == fault["name"]
    report = (await admin.post(f"{ALL}/{fault['id']}:confirm", json={"answer": "it has errors"})).json()
    assert (report["state"], report["held"], report["closed_at"] is None) == ("closed", False, False)
    assert await events(api, fault) == ["opened", "confirmed", "closed"]
    assert (await api.owner.get(f"{api.base}/clusters/{ernie}")).json()["state"] == "degraded"
    assert Code.BMC_CRITICAL in {
        each["code"] for each in (await api.owner.get(f"{api.base}/clusters/{ernie}")).json()["faults"]
    }
