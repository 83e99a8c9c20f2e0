"""Volumes of new clusters, and what only volumes can: what is refused says why and changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.api.support import Api, cluster_json, codes_of, faults_of, key, problem
from tests.support.volumes import make_volume, offer_volumes, volume_json

pytestmark = pytest.mark.anyio


async def test_a_volume_is_not_resized_before_it_is_there_nor_copied_without_a_price(api: Api) -> None:
    async with api.world.database.begin() as connection:
        await offer_volumes(connection)
    await api.owner.post(f"{api.base}/volumes", json=volume_json(), headers=key())
    grown = await api.owner.post(f"{api.base}/volumes/data:resize", json={"size_gib": 20}, headers=key())
    assert "creating" in problem(grown, 409, "state_conflict")["detail"]
    await make_volume(api.world, api.world.project, "made")
    copied = await api.owner.post(f"{api.base}/snapshots", json={"name": "before", "volume": "made"}, headers=key())
    assert codes_of(copied) == ["not_offered"]


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
    second = await estimate_and_create(api, cluster_json("second") | {"volumes": [{"volume": "data"}]})
    problem(second[1], 409, "state_conflict")


async def estimate_and_create(api: Api, body: Mapping[str, object]) -> tuple[Any, Any]:
    """What an estimate of a cluster is answered, and its create."""
    estimated = await api.owner.post(f"{api.base}/clusters:estimate", json=body)
    return estimated, await api.owner.post(f"{api.base}/clusters", json=body, headers=key())
