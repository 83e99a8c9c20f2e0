"""What addresses, volumes and snapshots have alike: their lives, quotas, clusters, and refusals that change nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.api.support import Api, codes_of, items, key, ok, problem
from tests.support.addresses import IP, address_json, make_address, offer_addresses
from tests.support.snapshots import make_snapshot, offer_snapshots
from tests.support.volumes import make_volume, offer_volumes, volume_json

pytestmark = pytest.mark.anyio

REGION = "luxembourg-2"
SOME_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b11"


@dataclass(frozen=True)
class Kind:
    """`shown`: of a new one; `machine_type`, `unit`, `limit`: of its quota; `attached`: shown of one with a cluster."""

    noun: str
    path: str
    body: Callable[..., dict[str, object]]
    make: Callable[..., Awaitable[UUID]]
    shown: dict[str, object]
    machine_type: str = ""
    unit: str = ""
    limit: int = 0
    attached: dict[str, object] = field(default_factory=dict)

    def __repr__(self) -> str:
        return self.path


def snapshot_json(name: str = "before", **changes: object) -> dict[str, object]:
    return {"name": name, "volume": "data"} | changes


ASKED: dict[str, object] = {"ip": None, "observed_at": None}
ADDRESSES = Kind("address", "addresses", address_json, make_address, ASKED, "address", "address", 5, {"command": None})
SIZED: dict[str, object] = {"size_gib": 10}
MOUNTED: dict[str, object] = {"mount_path": "/volumes/data"}
VOLUMES = Kind("volume", "volumes", volume_json, make_volume, SIZED, "volume-gib", "gib", 10_240, MOUNTED)
COPIED: dict[str, object] = {"volume_name": "data", "size_gib": 10, "sku": "snapshot-gib"}
SNAPSHOTS = Kind("snapshot", "snapshots", snapshot_json, make_snapshot, COPIED)
ATTACHABLE = pytest.mark.parametrize("kind", [ADDRESSES, VOLUMES], ids=str)


@pytest.fixture(autouse=True)
async def offered(api: Api) -> None:
    async with api.world.database.begin() as connection:
        for offer in (offer_addresses, offer_volumes, offer_snapshots):
            await offer(connection)


async def post(api: Api, kind: Kind, body: object, path: str = "") -> httpx.Response:
    return await api.owner.post(f"{api.base}/{kind.path}{path}", json=body, headers=key())


async def take(api: Api, kind: Kind, amount: int, name: str = "some") -> list[int]:
    """Ask for so much of the quota: the statuses."""
    if kind is VOLUMES:
        return [(await post(api, kind, volume_json(name, size_gib=amount))).status_code]
    return [(await post(api, kind, kind.body(f"{name}-{number}"))).status_code for number in range(amount)]


async def quota(api: Api, kind: Kind) -> tuple[str, int, int]:
    """Unit, limit and use, as the project reads them."""
    [row] = await items(api.owner, f"{api.base}/quotas", region=REGION, machine_type=kind.machine_type)
    return row["unit"], row["limit"], row["used"]


@pytest.mark.parametrize("kind", [ADDRESSES, VOLUMES, SNAPSHOTS], ids=str)
async def test_it_is_made_found_by_its_name_changed_and_listed(api: Api, kind: Kind) -> None:
    if kind is SNAPSHOTS:
        await make_volume(api.world, api.world.project)
    answer = await post(api, kind, kind.body(tags={"team": "nlp"}))
    created, path = ok(answer, 202), f"{api.base}/{kind.path}"
    assert answer.headers["location"].endswith(created["id"])
    assert created | kind.shown | {"state": "creating", "tags": {"team": "nlp"}} == created
    assert ok(await api.owner.get(f"{path}/{created['name']}")) == created
    problem(await post(api, kind, kind.body()), 409, "name_taken")
    changed = await api.owner.patch(f"{path}/{created['name']}", json={"name": "other"}, headers=key())
    assert changed.json()["name"] == "other"
    problem(await api.owner.get(f"{path}/{created['name']}"), 404, "not_found")
    assert (await api.owner.delete(f"{path}/other")).json()["state"] == "deleting"
    assert [each["name"] for each in await items(api.owner, path, state="deleting")] == ["other"]
    events = await api.world.column("SELECT type || ' ' || region FROM events WHERE subject_id = :id", id=created["id"])
    assert sorted(events) == [f"{kind.noun}.{verb} {REGION}" for verb in ("created", "updated")]


@pytest.mark.parametrize(
    ("kind", "changes", "code"),
    [
        (ADDRESSES, {"name": "../door"}, "string_pattern_mismatch"),
        (ADDRESSES, {"region": "nowhere"}, "unknown_region"),
        (ADDRESSES, {"region": "amsterdam-2"}, "not_offered"),
        (ADDRESSES, {"ip": IP}, "extra_forbidden"),
        (VOLUMES, {"size_gib": 0}, "greater_than_equal"),
        (VOLUMES, {"size_gib": "10"}, "int_type"),
        (VOLUMES, {"size_gib": 1_000_000}, "less_than_equal"),
        (VOLUMES, {"name": "../data"}, "string_pattern_mismatch"),
        (VOLUMES, {"region": "nowhere"}, "unknown_region"),
        (VOLUMES, {"region": "amsterdam-2"}, "not_offered"),
        (SNAPSHOTS, {"name": "../data"}, "string_pattern_mismatch"),
        (SNAPSHOTS, {"volume": ""}, "string_too_short"),
        (SNAPSHOTS, {"volume": "nothing"}, "unknown_volume"),
        (SNAPSHOTS, {"size_gib": 10}, "extra_forbidden"),
        (SNAPSHOTS, {"volume": None}, "one_source"),
        (SNAPSHOTS, {"cluster": SOME_ID}, "one_source"),
        (SNAPSHOTS, {"volume": None, "cluster": SOME_ID}, "unknown_cluster"),
        (SNAPSHOTS, {"volume": None, "cluster": "bert"}, "uuid_parsing"),
        (SNAPSHOTS, {"poplar_server": "bert-p0"}, "no_cluster"),
    ],
)
async def test_what_cannot_be_is_refused(api: Api, kind: Kind, changes: dict[str, object], code: str) -> None:
    if kind is SNAPSHOTS:
        await make_volume(api.world, api.world.project)
    assert codes_of(await post(api, kind, kind.body() | changes)) == [code]
    assert await api.count(kind.path) == 0


@ATTACHABLE
async def test_a_region_has_a_quota_until_more_is_granted(api: Api, admin: httpx.AsyncClient, kind: Kind) -> None:
    limit, path = kind.limit, f"{api.base}/quota-requests"
    assert {*await take(api, kind, limit)} == {202}
    least = kind.body("more", **({"size_gib": 1} if kind is VOLUMES else {}))
    refused = problem(await post(api, kind, least), 409, "quota_exceeded")
    assert refused["why_not"]["numbers"] == {"wanted": 1, "limit": limit, "used": limit}
    assert f"ipucloud quotas request luxembourg-2 {kind.machine_type} {limit + 1}" in refused["detail"]
    body = {"region": REGION, "machine_type": kind.machine_type, "limit": limit, "reason": "More"}
    problem(await api.owner.post(path, json=body, headers=key()), 422, "validation_failed")
    asked = ok(await api.owner.post(path, json=body | {"limit": limit + 4}, headers=key()), 201)
    one = f"/v1/operator/quota-requests/{asked['id']}"
    request = (await admin.get(one)).json()
    assert (request["present_limit"], request["used"]) == (limit, limit)
    assert await items(admin, "/v1/operator/quota-requests") == [request]
    granted = (await admin.post(f"{one}:grant", json={"limit": limit + 1}, headers=key())).json()
    assert (granted["granted_limit"], granted["present_limit"]) == (limit + 1, limit + 1)
    assert [await take(api, kind, 1, name) for name in ("last", "over")] == [[202], [409]]
    assert await quota(api, kind) == (kind.unit, limit + 1, limit + 1)
    name = "last" if kind is VOLUMES else "last-0"
    await api.owner.delete(f"{api.base}/{kind.path}/{name}")  # which makes room
    assert await quota(api, kind) == (kind.unit, limit + 1, limit)


@ATTACHABLE
async def test_an_operator_sets_its_quota_beside_that_of_machines(
    api: Api, admin: httpx.AsyncClient, kind: Kind
) -> None:
    machines = "SELECT * FROM quotas WHERE project_id = :project ORDER BY region, machine_type"
    before = await api.world.rows(machines, project=api.world.project.id)
    assert {*await take(api, kind, 2)} == {202}

    async def put(*limits: int) -> httpx.Response:
        read = await admin.get(f"{api.base}/quotas")
        rows = [each for each in read.json()["items"] if each["unit"] == "machine"]
        rows += [{"region": REGION, "machine_type": kind.machine_type, "limit": limit} for limit in limits]
        body = {"items": [{name: each[name] for name in ("region", "machine_type", "limit")} for each in rows]}
        return await admin.put(f"{api.base}/quotas", json=body, headers={"If-Match": read.headers["etag"]} | key())

    refused = problem(await put(1), 409, "state_conflict")
    assert ("have 2 GiB" if kind is VOLUMES else "has 2 addresses in") in refused["detail"]
    assert await quota(api, kind) == (kind.unit, kind.limit, 2)
    assert (await put(3)).status_code == 200
    assert await quota(api, kind) == (kind.unit, 3, 2)
    assert [await take(api, kind, 1, name) for name in ("last", "over")] == [[202], [409]]
    other = await items(
        admin, f"/v1/projects/{(await api.other_project()).slug}/quotas", machine_type=kind.machine_type
    )
    assert {each["limit"] for each in other} == {kind.limit}, "another project has the default"
    assert (await put()).status_code == 200, "the default again"
    assert await quota(api, kind) == (kind.unit, kind.limit, 3)
    assert await api.world.rows(machines, project=api.world.project.id) == before


@ATTACHABLE
async def test_it_is_attached_to_clusters_of_its_project_and_region_in_use(api: Api, kind: Kind) -> None:
    resource = await kind.make(api.world, api.world.project)
    path = f"{api.base}/{kind.path}/{resource}"
    elsewhere = await api.world.make_active("there", "bow-pod4", region="amsterdam-2")
    starting = (await api.world.create("starting")).target_id
    foreign = (await api.world.customer(await api.other_project()).create("foreign")).target_id
    await api.world.finish_create(foreign)

    async def attach(cluster: UUID, **more: object) -> httpx.Response:
        return await post(api, kind, {"cluster": str(cluster)} | more, f"/{resource}:attach")

    for cluster, status, code, words in (
        (elsewhere, 409, "state_conflict", "amsterdam-2"),
        (starting, 409, "state_conflict", "in use"),
        (foreign, 404, "not_found", f"no cluster {foreign}"),
    ):
        assert words in problem(await attach(cluster), status, code)["detail"]
    here = await api.world.make_active("here")
    problem(await attach(here, poplar_server="nobody"), 422, "validation_failed")
    shown = ok(await attach(here), 202)
    assert shown | {"state": "attaching", "cluster": str(here), "cluster_name": "here"} | kind.attached == shown
    assert await items(api.owner, f"{api.base}/{kind.path}") == [shown]
    assert (await attach(here)).json() == shown, "asked again"
    problem(await attach(await api.world.make_active("other")), 409, "state_conflict")
    assert "Detach it" in problem(await api.owner.delete(path), 409, "in_use")["detail"]
    if kind is VOLUMES:  # its name is its folder at the server
        problem(await api.owner.patch(path, json={"name": "weights"}, headers=key()), 409, "state_conflict")
    await api.world.delete(here)  # whose end is not that of what it has
    assert (await api.owner.get(path)).json()["state"] == "detaching"


@ATTACHABLE
async def test_it_is_billed_until_its_deletion_is_accepted(api: Api, kind: Kind) -> None:
    resource = await kind.make(api.world, api.world.project)
    billed = "SELECT ended_at IS NULL FROM usage_intervals WHERE resource_id = :id"
    assert await api.world.column(billed, id=resource) == [True]
    for _ in range(2):
        assert ok(await api.owner.delete(f"{api.base}/{kind.path}/{resource}"), 202)["state"] == "deleting"
    assert await api.world.column(billed, id=resource) == [False]


@ATTACHABLE
async def test_a_project_that_has_some_is_not_deleted(api: Api, admin: httpx.AsyncClient, kind: Kind) -> None:
    project = await api.other_project()
    await kind.make(api.world, project)
    assert kind.path in problem(await admin.delete(f"/v1/projects/{project.slug}"), 409, "in_use")["detail"]


async def test_a_cluster_shows_its_addresses_with_the_command_that_logs_in(api: Api) -> None:
    cluster = await api.world.make_active("bert")
    address = await make_address(api.world, api.world.project, attached_to=cluster)
    await make_address(api.world, api.world.project, "spare")
    shown = (await api.owner.get(f"{api.base}/clusters/bert")).json()
    server = shown["poplar_servers"][0]
    command = f"ssh -p 22 {server['ssh']['user']}@{IP}"
    known: dict[str, Any] = {"id": str(address), "name": "frontdoor", "state": "attached", "ip": IP, "port": 22}
    assert shown["addresses"] == [known | {"poplar_server": server["name"], "command": command}]
    assert (await api.owner.get(f"{api.base}/addresses/frontdoor")).json()["command"] == command
    detached = (await post(api, ADDRESSES, None, "/frontdoor:detach")).json()
    assert (detached["state"], detached["command"]) == ("detaching", None)
