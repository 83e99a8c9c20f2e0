"""What operators freeze, force and break, and what they list across projects."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Role
from ipucloud.worker.duties import end_expired_freezes
from tests.api.support import Api, items, key, ok, operator_items, pointers_of, problem, walk
from tests.support.feed import settled
from tests.support.postgres import Database
from tests.support.world.clock import shift_clock, start_clock

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"
FAR = "2126-01-01T00:00:00.000000Z"
FREEZE = {"region": REGION, "reason": "the site shows another rack", "expires_at": FAR}


async def start(caller: httpx.AsyncClient, **changes: object) -> dict[str, Any]:
    return ok(await caller.post("/v1/operator/freezes", json=FREEZE | changes), 201)


async def test_a_freeze_has_a_reason_an_end_and_an_author(
    api: Api, admin: httpx.AsyncClient, database: Database
) -> None:
    first = await start(admin)
    assert {name: first[name] for name in FREEZE} == FREEZE
    assert (first["state"], first["ended_at"]) == ("live", None)
    everywhere = await start(admin, region=None)
    second = await start(admin, reason="it still does")
    live = [each["id"] for each in await operator_items(admin, "freezes", state="live")]
    assert live == [everywhere["id"], second["id"]]
    [ended] = await operator_items(admin, "freezes", state="ended")
    assert (ended["id"], ended["end_reason"]) == (first["id"], "another one took its place")
    assert len(await operator_items(admin, "freezes", region="amsterdam-2")) == 1
    path = f"/v1/operator/freezes/{second['id']}:end"
    answer = ok(await admin.post(path, json={"reason": "it is right again"}))
    end = {"state": "ended", "end_reason": "it is right again", "ended_by": first["created_by"]}
    assert answer | end == answer
    problem(await admin.post(path, json={"reason": "twice"}), 409, "state_conflict")
    unknown = f"/v1/operator/freezes/{api.world.project.id}:end"
    problem(await admin.post(unknown, json={"reason": "none"}), 404, "not_found")
    shift_clock(database.owner_url, "120 years")
    [expired] = await operator_items(admin, "freezes", state="expired")
    await end_expired_freezes(api.world.database)
    await end_expired_freezes(api.world.database)
    [kept] = await operator_items(admin, "freezes", state="expired")
    assert kept == expired | {"ended_at": FAR, "end_reason": "it expired"}
    await settled(api.world.database)
    ends = await operator_items(admin, "events", type="freeze.ended")
    assert [(each["subject_id"], each["data"]["reason"]) for each in reversed(ends)] == [
        (first["id"], "another one took its place"),
        (second["id"], "it is right again"),
        (everywhere["id"], "it expired"),
    ]
    start_clock(database.owner_url)


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        (FREEZE | {"region": "nowhere-1"}, "/region"),
        (FREEZE | {"expires_at": "2020-01-01T00:00:00Z"}, "/expires_at"),
        ({"reason": "for ever"}, "/expires_at"),
        (FREEZE | {"reason": ""}, "/reason"),
        (FREEZE | {"minutes": 5}, "/minutes"),
    ],
)
async def test_a_freeze_that_makes_no_sense_is_refused(
    admin: httpx.AsyncClient, body: dict[str, object], pointer: str
) -> None:
    assert pointers_of(await admin.post("/v1/operator/freezes", json=body)) == [pointer]
    assert await operator_items(admin, "freezes") == []


async def test_a_protected_cluster_is_deleted_by_force_and_its_customer_reads_why(
    api: Api, admin: httpx.AsyncClient
) -> None:
    created = await api.make_cluster("bert", delete_protection=True)
    cluster = created["target"]["id"]
    path = f"/v1/operator/clusters/{cluster}:force-delete"
    answer = await admin.post(path, json={"reason": "its rack is gone"}, headers=key())
    assert answer.status_code == 202, answer.text
    operation = answer.json()
    assert answer.headers["location"] == f"/v1/projects/{api.world.project.id}/operations/{operation['id']}"
    shown = (await api.owner.get(f"{api.base}/clusters/{cluster}")).json()
    assert (shown["state"], shown["state_reason"]) == ("deleting", "The operator deletes the cluster: its rack is gone")
    again = (await admin.post(path, json={"reason": "its rack is still gone"})).json()
    assert again["id"] == operation["id"]
    await settled(api.world.database)
    events = await items(api.owner, f"{api.base}/events", type="cluster.delete_forced")
    assert [each["data"]["reason"] for each in events] == ["its rack is still gone", "its rack is gone"]
    [listed] = await operator_items(admin, "operations", kind="cluster.delete", state="queued", region=REGION)
    assert (listed["id"], listed["name"], listed["project"]) == (operation["id"], "bert", api.world.project.slug)
    assert listed["forced_reason"] == "its rack is still gone"
    await api.world.finish_delete(cluster)
    problem(await admin.post(path, json={"reason": "its rack is gone"}), 404, "not_found")
    unknown = f"/v1/operator/clusters/{operation['id']}:force-delete"
    problem(await admin.post(unknown, json={"reason": "none"}), 404, "not_found")
    problem(await admin.post(path, json={}), 422, "validation_failed")


async def test_what_sweeps_find_is_listed_with_why_it_was_left(api: Api, admin: httpx.AsyncClient) -> None:
    await api.world.execute(
        "INSERT INTO site_findings (rule, region, object_id, project_id, detail, left_because)"
        " VALUES ('a_rule', :region, 'x-1', :project, 'it is there', 'It was.'),"
        " ('b_rule', 'r', 'y', NULL, 'so', NULL)",
        region=REGION,
        project=api.world.project.id,
    )
    [finding] = await operator_items(admin, "site-findings", region=REGION)
    assert (finding["object"], finding["host"], finding["project"]) == ("x-1", None, api.world.project.slug)
    assert (finding["sightings"], finding["repair"], finding["left_because"]) == (1, None, "It was.")
    assert [each["left_because"] for each in await operator_items(admin, "site-findings")] == ["It was.", None]
    assert await operator_items(admin, "site-findings", rule="c_rule") == []


async def test_operations_of_all_projects_are_listed_newest_first(api: Api, admin: httpx.AsyncClient) -> None:
    operations = [await api.make_cluster(name) for name in ("bert", "ernie", "oscar")]
    listed = await operator_items(admin, "operations")
    assert [each["id"] for each in listed] == [each["id"] for each in reversed(operations)]
    assert await walk(admin, "/v1/operator/operations", limit=2) == listed
    oldest = await operator_items(admin, "operations", order="created_at", limit="1")
    assert [each["id"] for each in oldest] == [operations[0]["id"]]
    for filters in ({"project": "nobody"}, {"region": "amsterdam-2"}, {"state": "failed"}, {"kind": "cluster.delete"}):
        assert await operator_items(admin, "operations", **filters) == []
    assert len(await operator_items(admin, "operations", project=api.world.project.slug)) == 3
    problem(await admin.get("/v1/operator/operations", params={"state": "lost"}), 422, "validation_failed")


async def test_pods_are_listed_with_their_masks(api: Api, admin: httpx.AsyncClient) -> None:
    await api.make_cluster("bert", flavor="m2000-pod8")
    [pod] = await operator_items(admin, "pods", region=REGION, machine_type="m2000")
    assert (pod["machines"], pod["largest_block"], pod["health"]) == (16, 8, {"silent": 16})
    assert pod["masks"]["allocated"].bit_count() == 2
    assert sum(mask.bit_count() for mask in pod["masks"].values()) == 16
    assert await operator_items(admin, "pods", rack="nowhere") == []


async def test_moves_are_proposed_that_make_room(api: Api, admin: httpx.AsyncClient) -> None:
    """One pod: a cluster of four machines in its lower half, one of a single machine in its upper half."""
    path = f"/v1/operator/regions/{REGION}/defragmentation"

    async def proposed(flavor: str) -> dict[str, Any]:
        return ok(await admin.get(path, params={"flavor": flavor}))

    async def gone(cluster: UUID) -> None:
        await api.world.delete(cluster)
        await api.world.finish_delete(cluster)

    assert (await proposed("m2000-pod64"))["result"] == "fits"
    half = await api.world.make_active("half", "m2000-pod32")
    single = await api.world.make_active("single", "m2000-pod4")
    await gone(half)
    quarter = await api.world.make_active("quarter", "m2000-pod16")
    await api.world.make_active("lower", "m2000-pod16")
    await gone(quarter)
    proposal = await proposed("m2000-pod32")
    [move] = proposal["moves"]
    pod = proposal["target"][0]["pod"]
    assert (proposal["result"], proposal["target"]) == ("possible", [{"pod": pod, "slots": [*range(8, 16)]}])
    assert (move["cluster"], move["machines"]) == (str(single), 1)
    assert (move["since"], move["to"]) == ([{"pod": pod, "slots": [8]}], [{"pod": pod, "slots": [4]}])
    assert move["minutes"] == pytest.approx(620 / 60, abs=0.1)
    assert float(move["not_billed"]["amount"]) > 0
    assert (await proposed("m2000-pod64"))["result"] == "impossible"
    for flavor in ("m2000-pod7", ""):
        problem(await admin.get(path, params={"flavor": flavor}), 422, "validation_failed")
    problem(await admin.get(path), 422, "validation_failed")
    nowhere = "/v1/operator/regions/nowhere-1/defragmentation"
    problem(await admin.get(nowhere, params={"flavor": "m2000-pod64"}), 404, "not_found")


PATH = "/v1/operator/simulated-faults"
HOST = {"kind": "host", "name": "luxembourg-2-m2000-host-000"}


async def test_a_fault_is_asked_for_listed_and_ended(api: Api, admin: httpx.AsyncClient) -> None:
    problem(await admin.post(PATH, json=HOST), 409, "state_conflict")
    await api.world.execute("UPDATE site_regions SET simulated = true WHERE region = 'luxembourg-2'")
    assert (await admin.get("/v1/operator/regions/luxembourg-2/capacity")).json()["simulated"] is True
    answer = await admin.post(PATH, json=HOST)
    fault = answer.json()
    assert (answer.status_code, fault["state"], fault["region"]) == (202, "requested", "luxembourg-2")
    assert fault["id"] in problem(await admin.post(PATH, json=HOST), 409, "state_conflict")["detail"]
    for _ in range(2):
        ending = await admin.post(f"{PATH}/{fault['id']}:end", json={})
        assert (ending.status_code, ending.json()["state"]) == (202, "ending")
    assert [each["id"] for each in await items(admin, PATH, ended="false")] == [fault["id"]]
    assert await items(admin, PATH, ended="true") == []
    assert await items(admin, PATH, region="amsterdam-2") == []
    await api.world.execute("UPDATE simulated_faults SET state = 'ended'")
    problem(await admin.post(f"{PATH}/{fault['id']}:end", json={}), 409, "state_conflict")


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"kind": "host", "name": "nowhere"}, "/name"),
        ({"kind": "flood", "name": "luxembourg-2"}, "/kind"),
        (HOST | {"link": "next"}, "/link"),
        (HOST | {"link": "usb"}, "/link"),
        ({"kind": "host"}, "/name"),
    ],
)
async def test_only_what_makes_sense_is_asked_for(api: Api, body: dict[str, str], pointer: str) -> None:
    admin = await api.caller(Role.ADMIN)
    assert pointers_of(await admin.post(PATH, json=body)) == [pointer]
    assert await api.world.value("SELECT count(*) FROM simulated_faults") == 0
