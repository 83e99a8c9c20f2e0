"""Snapshots over the API: what is refused says why and changes nothing; names, quota, money, projects."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import httpx
import pytest

from tests.api.support import Api, cluster_json, codes_of, faults_of, key, ok, problem
from tests.support.snapshots import make_image, make_snapshot, offer_snapshots, request_snapshot
from tests.support.volumes import make_volume, offer_volumes, volume_json
from tests.support.world import IMAGE

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
async def offered(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await offer_volumes(connection)
        await offer_snapshots(connection)


async def take(api: Api, volume: object, name: str = "before", **more: object) -> Any:
    body = {"name": name, "volume": str(volume)} | more
    return await api.owner.post(f"{api.base}/snapshots", json=body, headers=key())


async def restore(api: Api, source: object, **changes: object) -> Any:
    body = volume_json("restored", snapshot=str(source)) | changes
    return await api.owner.post(f"{api.base}/volumes", json=body, headers=key())


async def test_a_volume_of_another_project_is_not_found(api: Api) -> None:
    stranger = await api.other_project()
    foreign = await make_volume(api.world, stranger)
    assert codes_of(await take(api, foreign)) == ["unknown_volume"]
    snapshot = await make_snapshot(api.world, stranger)
    assert codes_of(await restore(api, snapshot)) == ["unknown_snapshot"]


async def test_what_its_site_still_makes_cannot_be_copied(api: Api) -> None:
    await api.owner.post(f"{api.base}/volumes", json=volume_json(), headers=key())
    volume = await make_volume(api.world, api.world.project, "whole")
    snapshot = await request_snapshot(api.world, api.world.project, volume)
    for answer in (await take(api, "data", "after"), await restore(api, snapshot)):
        assert "`creating`" in problem(answer, 409, "state_conflict")["detail"]


async def test_snapshots_count_in_the_quota_of_volumes(api: Api) -> None:
    await api.world.execute(
        "INSERT INTO volume_quotas (project_id, region, gib_limit) VALUES (:project, 'luxembourg-2', 25)",
        project=api.world.project.id,
    )
    volume = await make_volume(api.world, api.world.project)
    assert (await take(api, volume)).status_code == 202
    refused = problem(await take(api, volume, "after"), 409, "quota_exceeded")
    assert refused["why_not"]["numbers"] == {"wanted": 10, "limit": 25, "used": 20}
    problem(await api.owner.post(f"{api.base}/volumes", json=volume_json("more"), headers=key()), 409, "quota_exceeded")


async def test_a_volume_is_not_deleted_while_a_snapshot_of_it_is_taken(api: Api) -> None:
    volume = await make_volume(api.world, api.world.project)
    snapshot = await request_snapshot(api.world, api.world.project, volume)
    refused = problem(await api.owner.delete(f"{api.base}/volumes/{volume}"), 409, "in_use")
    assert "Snapshot before" in refused["detail"]
    assert (await api.owner.delete(f"{api.base}/snapshots/{snapshot}")).status_code == 202
    assert (await api.owner.delete(f"{api.base}/volumes/{volume}")).status_code == 202


async def test_a_volume_is_made_from_a_snapshot(api: Api) -> None:
    snapshot = await make_snapshot(api.world, api.world.project)
    answer = ok(await restore(api, "before", size_gib=20), 202)
    assert answer["snapshot"] == str(snapshot)
    refused = problem(await api.owner.delete(f"{api.base}/snapshots/before"), 409, "in_use")
    assert "Volume restored" in refused["detail"]
    empty = await api.owner.post(f"{api.base}/volumes", json=volume_json("empty"), headers=key())
    assert empty.json()["snapshot"] is None


@pytest.mark.parametrize(
    ("changes", "pointer", "code"),
    [
        ({"snapshot": "nothing"}, "/snapshot", "unknown_snapshot"),
        ({"region": "amsterdam-2"}, "/snapshot", "other_region"),
        ({"size_gib": 9}, "/size_gib", "too_small"),
    ],
)
async def test_a_volume_that_does_not_fit_its_snapshot_is_refused(
    api: Api, changes: dict[str, object], pointer: str, code: str
) -> None:
    await make_snapshot(api.world, api.world.project)
    await api.world.execute(
        "INSERT INTO prices (id, sku, region, currency, unit_price, valid_from, source)"
        " VALUES (gen_random_uuid(), 'volume-gib', 'amsterdam-2', 'EUR', 1, '2020-01-01', 'test')"
    )
    assert faults_of(await restore(api, "before", **changes)) == [(pointer, code)]
    assert await api.world.value("SELECT count(*) FROM volumes WHERE name = 'restored'") == 0


async def test_a_project_with_snapshots_is_not_deleted(api: Api, admin: httpx.AsyncClient) -> None:
    snapshot = await make_snapshot(api.world, api.world.project)
    await api.world.execute(
        "UPDATE volumes SET state = 'deleted', delete_requested_at = app_now(), deleted_at = app_now();"
        " UPDATE usage_intervals SET ended_at = greatest(started_at, date_trunc('second', app_now()))"
        "  WHERE sku = 'volume-gib' AND ended_at IS NULL"
    )
    refused = problem(await admin.delete(api.base), 409, "in_use")
    assert "snapshots" in refused["detail"]
    gone = await api.owner.delete(f"{api.base}/snapshots/{snapshot}")
    assert gone.json()["state"] == "deleting"
    again = await api.owner.delete(f"{api.base}/snapshots/{snapshot}")
    assert again.json()["state"] == "deleting"


async def test_a_snapshot_of_a_server_is_an_image_of_its_project(api: Api) -> None:
    cluster = await api.world.make_active("bert")
    body = {"name": "env", "cluster": str(cluster)}
    wrong = await api.owner.post(f"{api.base}/snapshots", json=body | {"poplar_server": "nobody"}, headers=key())
    assert codes_of(wrong) == ["unknown_poplar_server"]
    snapshot = ok(await api.owner.post(f"{api.base}/snapshots", json=body, headers=key()), 202)
    assert (snapshot["volume"], snapshot["cluster"], snapshot["cluster_name"]) == (None, str(cluster), "bert")
    assert (snapshot["image"], snapshot["size_gib"], snapshot["state"]) == (IMAGE, None, "creating")
    refused = problem(await create(api, "early", image="env"), 409, "state_conflict")
    assert "`creating`" in refused["detail"]


async def test_servers_are_made_from_a_snapshot_of_one(api: Api) -> None:
    bert = await api.world.make_active("bert")
    snapshot = await make_image(api.world, api.world.project, bert)
    ok(await api.owner.post(f"{api.base}/clusters:estimate", json=cluster_json("second", image="env")))
    for name, image in (("second", "env"), ("third", str(snapshot))):
        ok(await create(api, name, image=image), 202)
        assert (await api.owner.get(f"{api.base}/clusters/{name}")).json()["image"] == "env"
    sent = await api.world.column("SELECT image FROM clusters WHERE name IN ('second', 'third')")
    assert sent == [f"{snapshot}-1"] * 2
    refused = problem(await api.owner.delete(f"{api.base}/snapshots/env"), 409, "in_use")
    assert "servers that are made from snapshot env" in refused["detail"]
    again = await make_image(api.world, api.world.project, bert, "again")
    assert (await api.owner.delete(f"{api.base}/snapshots/{again}")).status_code == 202
    problem(await create(api, "late", image=str(again)), 409, "state_conflict")


async def test_a_copy_of_a_copy_has_the_image_of_the_first(api: Api) -> None:
    bert = await api.world.make_active("bert")
    await make_image(api.world, api.world.project, bert)
    second = UUID((await create(api, "second", image="env")).json()["target"]["id"])
    await api.world.finish_create(second)
    await make_image(api.world, api.world.project, second, "copied")
    assert (await api.owner.get(f"{api.base}/snapshots/copied")).json()["image"] == IMAGE


async def test_a_cluster_is_rebuilt_with_a_snapshot_and_keeps_it_until_then(api: Api) -> None:
    bert = await api.world.make_active("bert")
    snapshot = await make_image(api.world, api.world.project, bert)
    body = {"disk": "wipe", "image": "env"}
    ok(await api.owner.post(f"{api.base}/clusters/bert:rebuild", json=body, headers=key()), 202)
    assert await api.world.column("SELECT image FROM cluster_rebuilds") == [f"{snapshot}-1"]
    refused = problem(await api.owner.delete(f"{api.base}/snapshots/env"), 409, "in_use")
    assert "cluster bert are to be made" in refused["detail"]


@pytest.mark.parametrize("path", ["clusters", "clusters:estimate", "clusters/bert:rebuild"])
async def test_what_is_no_image_of_the_project_is_refused(api: Api, path: str) -> None:
    project = api.world.project
    bert = await api.world.make_active("bert")
    await make_snapshot(api.world, project)
    stranger = await api.other_project()
    foreign = (await api.world.customer(stranger).create("foreign")).target_id
    await api.world.finish_create(foreign)
    foreign_image = await make_image(api.world, stranger, foreign, "theirs")
    await make_image(api.world, project, bert)
    await api.world.execute("UPDATE snapshots SET region = 'amsterdam-2' WHERE name = 'env'")
    for image, code in (("before", "not_of_server"), (str(foreign_image), "unknown_image"), ("env", "not_in_region")):
        body = {"disk": "wipe", "image": image} if path.endswith("rebuild") else cluster_json("new", image=image)
        assert codes_of(await api.owner.post(f"{api.base}/{path}", json=body, headers=key())) == [code]


async def test_no_volume_is_made_from_a_snapshot_of_a_server(api: Api) -> None:
    bert = await api.world.make_active("bert")
    await make_image(api.world, api.world.project, bert)
    assert codes_of(await restore(api, "env")) == ["not_of_volume"]


async def create(api: Api, name: str, **more: object) -> Any:
    return await api.owner.post(f"{api.base}/clusters", json=cluster_json(name, **more), headers=key())
