"""Volumes over the API: what is refused says why and changes nothing; names, quota, money, projects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ipucloud.identity.roles import Role
from tests.api.support import Api, cluster_json, codes_of, faults_of, key, problem
from tests.support.volumes import make_volume, offer_volumes, volume_json

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
async def offered(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await offer_volumes(connection)


async def post(api: Api, path: str, body: Mapping[str, object] | None = None) -> Any:
    return await api.owner.post(f"{api.base}/volumes{path}", json=body, headers=key())


async def test_a_volume_is_made_found_by_its_name_changed_and_listed(api: Api) -> None:
    answer = await post(api, "", volume_json(tags={"team": "nlp"}))
    assert answer.status_code == 202, answer.text
    volume = answer.json()
    assert answer.headers["location"].endswith(volume["id"])
    assert (volume["state"], volume["size_gib"], volume["tags"]) == ("creating", 10, {"team": "nlp"})
    read = (await api.owner.get(f"{api.base}/volumes/data")).json()
    assert read == volume
    problem(await post(api, "", volume_json(size_gib=20)), 409, "name_taken")
    changed = await api.owner.patch(f"{api.base}/volumes/data", json={"name": "weights"}, headers=key())
    assert changed.json()["name"] == "weights"
    problem(await api.owner.get(f"{api.base}/volumes/data"), 404, "not_found")
    assert (await api.owner.delete(f"{api.base}/volumes/weights")).json()["state"] == "deleting"
    listed = (await api.owner.get(f"{api.base}/volumes", params={"state": "deleting"})).json()["items"]
    assert [each["name"] for each in listed] == ["weights"]


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"size_gib": 0}, "greater_than_equal"),
        ({"size_gib": "10"}, "int_type"),
        ({"size_gib": 1_000_000}, "less_than_equal"),
        ({"name": "../data"}, "string_pattern_mismatch"),
        ({"region": "nowhere"}, "unknown_region"),
        ({"region": "amsterdam-2"}, "not_offered"),
        ({"colour": "red"}, "extra_forbidden"),
    ],
)
async def test_what_cannot_be_is_refused(api: Api, changes: dict[str, object], code: str) -> None:
    assert codes_of(await post(api, "", volume_json() | changes)) == [code]
    assert await api.world.value("SELECT count(*) FROM volumes") == 0


async def test_without_a_price_snapshots_are_not_offered(api: Api) -> None:
    await make_volume(api.world, api.world.project)
    body = {"name": "before", "volume": "data"}
    assert codes_of(await api.owner.post(f"{api.base}/snapshots", json=body, headers=key())) == ["not_offered"]


async def test_the_quota_is_of_all_volumes_of_a_region(api: Api) -> None:
    assert (await post(api, "", volume_json(size_gib=10_000))).status_code == 202
    refused = problem(await post(api, "", volume_json("more", size_gib=241)), 409, "quota_exceeded")
    assert refused["why_not"]["numbers"] == {"wanted": 241, "limit": 10_240, "used": 10_000}
    assert "ipucloud quotas request luxembourg-2 volume-gib 10241" in refused["detail"]
    assert (await post(api, "", volume_json("more", size_gib=240))).status_code == 202


async def test_an_operator_sets_the_quota_of_a_project_and_region(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    ours = "SELECT * FROM quotas WHERE project_id = :project ORDER BY region, machine_type"
    assert (await post(api, "", volume_json(size_gib=100))).status_code == 202
    assert await quota_of_volumes(api) == {"unit": "gib", "limit": 10_240, "used": 100}

    async def put(*limits: int) -> Any:
        answer = await admin.get(f"{api.base}/quotas")
        others = [each for each in answer.json()["items"] if each["unit"] == "machine"]
        of_volumes = [{"region": "luxembourg-2", "machine_type": "volume-gib", "limit": limit} for limit in limits]
        items = [{key: each[key] for key in ("region", "machine_type", "limit")} for each in others] + of_volumes
        return await admin.put(
            f"{api.base}/quotas", json={"items": items}, headers={"If-Match": answer.headers["etag"]} | key()
        )

    refused = problem(await put(99), 409, "state_conflict")
    assert "have 100 GiB" in refused["detail"]
    assert (await quota_of_volumes(api))["limit"] == 10_240
    machines = await api.world.rows(ours, project=api.world.project.id)
    assert (await put(150)).status_code == 200
    assert await quota_of_volumes(api) == {"unit": "gib", "limit": 150, "used": 100}
    problem(await post(api, "", volume_json("more", size_gib=51)), 409, "quota_exceeded")
    grown = problem(await post(api, "/data:resize", {"size_gib": 151}), 409, "state_conflict")
    assert "creating" in grown["detail"]
    assert (await post(api, "", volume_json("more", size_gib=50))).status_code == 202
    other = await api.other_project()
    of_other = (await admin.get(f"/v1/projects/{other.slug}/quotas")).json()["items"]
    assert [each["limit"] for each in of_other if each["unit"] == "gib"] == [10_240], "another project has the default"
    problem(await put(0), 409, "state_conflict")
    assert (await put()).status_code == 200, "the default again"
    assert await quota_of_volumes(api) == {"unit": "gib", "limit": 10_240, "used": 150}
    assert await api.world.rows(ours, project=api.world.project.id) == machines


async def test_a_project_asks_for_a_higher_quota_of_volumes(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    path = f"{api.base}/quota-requests"
    body = {"region": "luxembourg-2", "machine_type": "volume-gib", "limit": 10_240, "reason": "Checkpoints"}
    problem(await api.owner.post(path, json=body, headers=key()), 422, "validation_failed")
    answer = await api.owner.post(path, json=body | {"limit": 20_000}, headers=key())
    assert answer.status_code == 201, answer.text
    one = f"/v1/operator/quota-requests/{answer.json()['id']}"
    request = (await admin.get(one)).json()
    assert (request["present_limit"], request["used"]) == (10_240, 0)
    assert (await admin.get("/v1/operator/quota-requests")).json()["items"] == [request]
    granted = (await admin.post(f"{one}:grant", json={"limit": 15_000}, headers=key())).json()
    assert (granted["granted_limit"], granted["present_limit"]) == (15_000, 15_000)
    assert (await post(api, "", volume_json(size_gib=15_000))).status_code == 202
    assert await quota_of_volumes(api) == {"unit": "gib", "limit": 15_000, "used": 15_000}


async def quota_of_volumes(api: Api) -> dict[str, object]:
    """As the project reads it."""
    items = (await api.owner.get(f"{api.base}/quotas")).json()["items"]
    [row] = [each for each in items if each["machine_type"] == "volume-gib" and each["region"] == "luxembourg-2"]
    return {name: row[name] for name in ("unit", "limit", "used")}


async def test_a_volume_is_attached_to_clusters_of_its_project_and_region_in_use(api: Api) -> None:
    project = api.world.project
    volume = await make_volume(api.world, project)
    elsewhere = await api.world.make_active("there", "bow-pod4", region="amsterdam-2")
    starting = (await api.world.create("starting")).target_id
    stranger = await api.other_project()
    foreign = (await api.world.customer(stranger).create("foreign")).target_id
    await api.world.finish_create(foreign)
    for cluster, status, code, words in (
        (elsewhere, 409, "state_conflict", "amsterdam-2"),
        (starting, 409, "state_conflict", "in use"),
        (foreign, 404, "not_found", f"no cluster {foreign}"),
    ):
        refused = problem(await post(api, f"/{volume}:attach", {"cluster": str(cluster)}), status, code)
        assert words in refused["detail"]
    here = await api.world.make_active("here")
    wrong = {"cluster": str(here), "poplar_server": "nobody"}
    problem(await post(api, f"/{volume}:attach", wrong), 422, "validation_failed")
    answer = await post(api, f"/{volume}:attach", {"cluster": str(here)})
    assert (answer.status_code, answer.json()["state"]) == (202, "attaching")
    assert answer.json()["mount_path"] == "/volumes/data"
    assert (answer.json()["cluster"], answer.json()["cluster_name"]) == (str(here), "here")
    [listed] = (await api.owner.get(f"{api.base}/volumes")).json()["items"]
    assert listed == answer.json()
    assert (await post(api, f"/{volume}:attach", {"cluster": str(here)})).json() == answer.json(), "asked again"
    other = await api.world.make_active("other")
    problem(await post(api, f"/{volume}:attach", {"cluster": str(other)}), 409, "state_conflict")
    problem(await api.owner.delete(f"{api.base}/volumes/{volume}"), 409, "in_use")
    renamed = await api.owner.patch(f"{api.base}/volumes/{volume}", json={"name": "weights"}, headers=key())
    problem(renamed, 409, "state_conflict")
    # The end of the cluster is not that of the volume.
    await api.world.delete(here)
    assert await api.world.value("SELECT state FROM volumes") == "detaching"


async def test_a_new_cluster_gets_available_volumes_of_its_project_and_region(api: Api) -> None:
    volume = await make_volume(api.world, api.world.project)
    other = await api.world.make_active("other")
    busy = await make_volume(api.world, api.world.project, "busy", attached_to=other)
    held = await api.world.value("SELECT sum(used) FROM quotas")
    await make_volume(api.world, await api.other_project(), "foreign")
    cluster_body = cluster_json("bert")
    elsewhere = cluster_json("there", flavor="bow-pod4", region="amsterdam-2")
    for body, volumes, faults in (
        (cluster_body, [{"volume": "sea"}], [("/volumes/0/volume", "unknown_volume")]),
        (cluster_body, [{"volume": "foreign"}], [("/volumes/0/volume", "unknown_volume")]),
        (cluster_body, [{"volume": "data"}, {"volume": str(volume)}], [("/volumes/1/volume", "duplicate")]),
        (cluster_body, [{"volume": "data", "server": 1}], [("/volumes/0/server", "unknown_poplar_server")]),
        (cluster_body, [{"volume": "data", "server": -1}], [("/volumes/0/server", "greater_than_equal")]),
        (cluster_body, [{"volume": "data"}] * 17, [("/volumes", "too_long")]),
        (cluster_body, ["data"], [("/volumes/0", "model_type")]),
        (elsewhere, [{"volume": "data"}], [("/volumes/0/volume", "other_region")]),
    ):
        for answer in await estimate_and_create(api, body | {"volumes": volumes}):
            assert faults_of(answer) == faults
    for answer in await estimate_and_create(api, cluster_body | {"volumes": [{"volume": "data"}, {"volume": "busy"}]}):
        assert "busy is `attached`" in problem(answer, 409, "state_conflict")["detail"]
    assert await api.world.column("SELECT state FROM volumes WHERE id <> :busy", busy=busy) == ["available"] * 2
    assert await api.world.column("SELECT name FROM clusters") == ["other"]
    assert await api.world.value("SELECT sum(used) FROM quotas") == held

    estimated, created = await estimate_and_create(api, cluster_body | {"volumes": [{"volume": "data"}]})
    assert (estimated.status_code, created.status_code) == (200, 202), created.text
    shown = (await api.owner.get(f"{api.base}/volumes/data")).json()
    assert (shown["state"], shown["cluster_name"]) == ("attaching", "bert")
    problem(
        (await estimate_and_create(api, cluster_json("second") | {"volumes": [{"volume": "data"}]}))[1],
        409,
        "state_conflict",
    )


async def estimate_and_create(api: Api, body: Mapping[str, object]) -> tuple[Any, Any]:
    """What an estimate of a cluster is answered, and its create."""
    estimated = await api.owner.post(f"{api.base}/clusters:estimate", json=body)
    return estimated, await api.owner.post(f"{api.base}/clusters", json=body, headers=key())


async def test_a_project_with_volumes_is_not_deleted(api: Api) -> None:
    project = await api.other_project()
    await make_volume(api.world, project)
    refused = problem(await (await api.caller(Role.ADMIN)).delete(f"/v1/projects/{project.slug}"), 409, "in_use")
    assert "volumes" in refused["detail"]
