"""Projects and their overview, tokens and SSH keys through the API."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from ipucloud.inventory.health.codes import Code
from tests.api.support import PUBLIC_KEY, Api, cluster_id, items, pointers_of, problem, running
from tests.support.feed import settled
from tests.support.postgres import Database as Scratch
from tests.support.world import World

pytestmark = pytest.mark.anyio


async def test_a_project_from_its_making_to_its_end(api: Api, admin: httpx.AsyncClient) -> None:
    created = await admin.post("/v1/projects", json={"slug": "research", "name": "Research"})
    project = created.json()
    assert (created.status_code, created.headers["location"]) == (201, f"/v1/projects/{project['id']}")
    renamed = await admin.patch(
        created.headers["location"], json={"name": "Research & more"}, headers={"If-Match": created.headers["etag"]}
    )
    assert renamed.json() == project | {"name": "Research & more", "version": 2}
    token = await admin.post("/v1/projects/research/tokens", json={"name": "first", "role": "owner"})
    owner = api.client(token.json()["token"])
    assert (await owner.get("/v1/projects/research")).json() == renamed.json()
    assert (await owner.get("/v1/whoami")).json()["project"] == renamed.json()
    assert (await admin.delete("/v1/projects/research")).status_code == 204
    problem(await owner.get("/v1/whoami"), 401, "unauthenticated")
    problem(await admin.get("/v1/projects/research"), 404, "not_found")
    problem(await admin.post("/v1/projects", json={"slug": "research", "name": "Again"}), 409, "name_taken")
    events = await api.world.column("SELECT type FROM events WHERE project_id = :id ORDER BY id", id=project["id"])
    assert events == ["project.created", "project.updated", "token.created", "project.deleted"]


async def test_a_project_with_machines_stays(api: Api, admin: httpx.AsyncClient) -> None:
    cluster = cluster_id(await api.make_cluster())
    before = await api.snapshot()
    problem(await admin.delete(api.base), 409, "in_use")
    assert await api.snapshot() == before
    await api.owner.delete(f"{api.base}/clusters/{cluster}")
    problem(await admin.delete(api.base), 409, "in_use")  # its machines are not clean yet
    await api.world.finish_delete(cluster)
    assert (await admin.delete(api.base)).status_code == 204


@pytest.mark.parametrize(
    "body",
    [
        {"slug": "Research", "name": "x"},
        {"slug": "7up", "name": "x"},
        {"slug": "research-", "name": "x"},
        {"slug": "a1b2c3d4-a1b2-a1b2-a1b2-a1b2c3d4e5f6", "name": "x"},
        {"slug": "research", "name": ""},
        {"slug": "research", "name": "two\nlines"},
        {"slug": "research"},
        {"slug": "research", "name": "x", "number": 1},
    ],
)
async def test_a_project_needs_a_name_that_fits(api: Api, admin: httpx.AsyncClient, body: dict[str, object]) -> None:
    problem(await admin.post("/v1/projects", json=body), 422, "validation_failed")


async def test_a_token_is_shown_once_and_ends(api: Api) -> None:
    body = {"name": "ci", "role": "operator", "expires_at": "2999-01-01T00:00:00+01:00"}
    created = await api.owner.post(f"{api.base}/tokens", json=body)
    token = created.json()
    secret = token.pop("token")
    assert secret.startswith(token["display_prefix"])
    assert token["expires_at"] == "2998-12-31T23:00:00.000000Z"
    assert (await api.owner.get(created.headers["location"])).json() == token
    listed = await items(api.owner, f"{api.base}/tokens")
    assert token in listed
    assert secret not in repr(listed)
    for _ in range(2):  # revoking twice is revoking
        assert (await api.owner.delete(created.headers["location"])).status_code == 204
    ended = (await api.owner.get(created.headers["location"])).json()
    assert ended["revoked_at"] is not None
    assert await api.world.column("SELECT count(*) FROM events WHERE type = 'token.revoked'") == [1]


@pytest.mark.parametrize(
    "changes",
    [{"role": "admin"}, {"role": "support"}, {"role": "god"}, {"expires_at": "2020-01-01T00:00:00Z"}, {"name": ""}],
)
async def test_a_token_has_a_role_of_the_project(api: Api, changes: dict[str, str]) -> None:
    body = {"name": "ci", "role": "viewer"} | changes
    assert pointers_of(await api.owner.post(f"{api.base}/tokens", json=body)) == [f"/{name}" for name in changes]


async def test_when_a_token_was_used_is_known_to_the_hour(world: World, database: Scratch) -> None:
    async with running(world, database.app_url) as api:
        await api.owner.get("/v1/whoami")
        await api.client("ipu_dev_nonsense").get("/v1/whoami")
        assert await world.column("SELECT last_used_at FROM tokens") == [None]
    (first,) = await world.column("SELECT last_used_at FROM tokens")
    assert first is not None
    async with running(world, database.app_url) as api:
        await api.owner.get("/v1/whoami")
    assert await world.column("SELECT last_used_at FROM tokens") == [first]


async def test_a_key_is_written_anew(api: Api) -> None:
    created = await api.owner.post(f"{api.base}/ssh-keys", json={"name": "desk", "public_key": f"{PUBLIC_KEY}\n"})
    key = created.json()
    assert created.status_code == 201
    assert key["public_key"] == " ".join(PUBLIC_KEY.split()[:2])
    assert key["fingerprint"].startswith("SHA256:")
    assert (await api.owner.get(created.headers["location"])).json() == key
    again = await api.owner.post(f"{api.base}/ssh-keys", json={"name": "desk", "public_key": PUBLIC_KEY})
    problem(again, 409, "name_taken")
    other = await api.owner.post(f"{api.base}/ssh-keys", json={"name": "tower", "public_key": PUBLIC_KEY})
    assert problem(other, 409, "key_exists")["detail"].startswith("The project has this key already, as desk.")
    assert (await api.owner.delete(created.headers["location"])).status_code == 204
    problem(await api.owner.delete(created.headers["location"]), 404, "not_found")


async def test_of_requests_at_once_for_one_key_one_gives_it_its_name(api: Api) -> None:
    bodies = [{"name": f"desk-{number}", "public_key": PUBLIC_KEY} for number in range(8)]
    answers = await asyncio.gather(*(api.owner.post(f"{api.base}/ssh-keys", json=body) for body in bodies))
    [created] = [answer.json() for answer in answers if answer.status_code == 201]
    refused = [problem(answer, 409, "key_exists") for answer in answers if answer.status_code != 201]
    assert len(refused) == len(bodies) - 1
    assert {f"as {created['name']}" in each["detail"] for each in refused} == {True}
    keys = await items(api.owner, f"{api.base}/ssh-keys")
    assert [each for each in keys if each["fingerprint"] == created["fingerprint"]] == [created]


async def test_a_key_that_is_none_is_refused(api: Api) -> None:
    before = await api.snapshot()
    body = {"name": "desk", "public_key": f'command="id" {PUBLIC_KEY}'}
    refused = problem(await api.owner.post(f"{api.base}/ssh-keys", json=body), 422, "ssh_key_refused")
    assert refused["errors"][0]["pointer"] == "/public_key"
    assert await api.snapshot() == before


@pytest.mark.usefixtures("stopped_clock")
async def test_the_overview_says_what_the_lists_say(api: Api) -> None:
    building, degraded = await api.make_cluster("building"), await api.world.make_active("hurt", "m2000-pod16")
    await api.world.make_active("used")
    await api.world.fail(degraded, Code.BMC_CRITICAL)
    budget = {"name": "all", "amount": {"amount": "9", "currency": "EUR"}, "thresholds": [{"percent": 100}]}
    assert (await api.owner.post(f"{api.base}/budgets", json=budget)).status_code == 201
    await settled(api.world.database)
    overview = (await api.owner.get(f"{api.base}/overview")).json()
    by_state = {each["state"]: (each["clusters"], each["ipus"]) for each in overview["clusters"]}
    assert by_state == {"active": (1, 4), "creating": (1, 4), "degraded": (1, 16)}
    assert overview["ipus_in_use"] == 24
    assert overview["quotas"] == await items(api.owner, f"{api.base}/quotas")
    assert [(each["name"], each["state"]) for each in overview["attention"]] == [("hurt", "degraded")]
    assert (overview["attention_count"], overview["open_fault_reports"]) == (1, 0)
    assert [each["id"] for each in overview["operations"]] == [building["id"]]
    assert overview["operation_count"] == 1
    assert overview["events"] == await items(api.owner, f"{api.base}/events?limit=10")
    summary = (await api.owner.get(f"{api.base}/billing/summary")).json()
    assert overview["spending"] == {
        name: summary[name] for name in ("month", "accrued", "per_hour", "forecast", "budgets")
    }
