"""Clusters as the API shows them: one statement authenticates, reads and writes the JSON."""

from __future__ import annotations

import json
from typing import Any

import orjson
import pytest

from ipucloud.clusters.queries import GET_CLUSTER, LIST_CLUSTERS, cluster_document
from ipucloud.contract.clusters import ClusterItemOut, ClusterList, ClusterOut, ClusterState
from ipucloud.contract.lists import NamedOrder
from ipucloud.db.documents import BY_NAME, NamedPlace, Place, list_parameters
from ipucloud.identity.roles import Role
from ipucloud.operations.store import Accepted
from tests.support.factories import make_project, make_token
from tests.support.shapes import assert_shape
from tests.support.world import World, authentication

pytestmark = pytest.mark.anyio


async def listed(
    world: World,
    order: NamedOrder = NamedOrder.NEWEST_FIRST,
    behind: Place | NamedPlace | None = None,
    tags: dict[str, str] | None = None,
    **filters: Any,
) -> Any:
    parameters = list_parameters(ClusterList(order=order, **filters), behind)
    parameters["tags"] = orjson.dumps(tags).decode() if tags else None
    return await world.one(LIST_CLUSTERS[order], authentication(world.project) | parameters)


async def names(world: World, order: NamedOrder = NamedOrder.NEWEST_FIRST, **query: Any) -> list[str]:
    return [cluster["name"] for cluster in orjson.loads((await listed(world, order, **query)).items)]


async def each_kind_of_cluster(world: World) -> list[Accepted]:
    """Being created, active, being deleted, deleted, broken."""
    clusters = [await world.create(name) for name in ("creating", "active", "deleting", "deleted", "broken")]
    _, active, deleting, deleted, broken = (accepted.target_id for accepted in clusters)
    for cluster_id in (active, deleting):
        await world.finish_create(cluster_id)
    for cluster_id in (deleting, deleted):
        await world.delete(cluster_id)
    await world.finish_delete(deleted)
    await world.fail_create(broken)
    return clusters


async def test_the_json_made_by_postgresql_is_the_documented_model_and_a_list_has_all_but_the_machines(
    world: World,
) -> None:
    clusters = await each_kind_of_cluster(world)
    row = await listed(world, state=list(ClusterState))
    items = {item["id"]: item for item in orjson.loads(row.items)}
    for accepted in clusters:
        item = items[str(accepted.target_id)]
        cluster = await world.cluster(accepted.target_id)
        assert_shape(ClusterOut, json.dumps(cluster))
        assert {name: value for name, value in cluster.items() if name not in {"machines", "billing"}} == {
            name: value for name, value in item.items() if name != "billing"
        }
        assert_shape(ClusterItemOut, json.dumps(item))


async def test_a_list_has_the_living_newest_first_and_deleted_ones_in_their_place_when_asked_for(world: World) -> None:
    await each_kind_of_cluster(world)
    assert await names(world) == ["broken", "deleting", "active", "creating"]
    assert await names(world, NamedOrder.OLDEST_FIRST) == ["creating", "active", "deleting", "broken"]
    assert await names(world, state=["deleted", "active"]) == ["deleted", "active"]
    assert await names(world, state=["deleted", "active"], limit=1) == ["deleted"]
    assert await names(world, state=list(ClusterState)) == ["broken", "deleted", "deleting", "active", "creating"]
    first_four = await names(world, NamedOrder.OLDEST_FIRST, state=list(ClusterState), limit=4)
    assert first_four == ["creating", "active", "deleting", "deleted"]


async def test_an_active_cluster_shows_how_to_log_in_and_its_partition(world: World) -> None:
    cluster = await world.cluster(await world.make_active())
    assert cluster["poplar_servers"][0]["ssh"] == {
        "host": "203.0.113.7",
        "port": 2201,
        "user": "ubuntu",
        "command": "ssh -p 2201 ubuntu@203.0.113.7",
        "host_key": "ssh-ed25519 AAAA",
        "host_key_fingerprint": "SHA256:abc",
    }
    external = (await world.column("SELECT external_name FROM clusters"))[0]
    assert cluster["partitions"] == [{"name": external, "ipus": 4, "reconfigurable": True}]
    assert (cluster["operation"], cluster["stage"], cluster["progress"]) == (None, None, 100)
    assert cluster["billing"]["status"] == "running"


async def test_a_deleted_cluster_holds_nothing(world: World) -> None:
    *_, deleted, _ = await each_kind_of_cluster(world)
    cluster = await world.cluster(deleted.target_id)
    assert (cluster["machines"], cluster["partitions"], cluster["price_per_minute"]) == ([], [], None)
    assert cluster["deleted_at"] is not None


async def test_filters_narrow_a_list(world: World) -> None:
    await each_kind_of_cluster(world)
    await world.create("far", region="amsterdam-2", flavor="bow-pod4", tags={"team": "nlp", "env": "prod"})
    assert await names(world, state=["deleted"]) == ["deleted"]
    assert await names(world, state=["active", "deleting"]) == ["deleting", "active"]
    assert await names(world, region="amsterdam-2") == ["far"]
    assert await names(world, flavor="bow-pod4") == ["far"]
    assert await names(world, name="active") == ["active"]
    assert await names(world, q="ing") == ["deleting", "creating"]
    assert await names(world, tags={"team": "nlp"}) == ["far"]
    assert await names(world, tags={"team": "nlp", "env": "test"}) == []
    assert await names(world, q="%") == []


@pytest.mark.parametrize("order", list(NamedOrder))
async def test_pages_put_together_are_the_list(world: World, order: NamedOrder) -> None:
    for index in range(7):
        await world.create(f"c{index}")
    pages: list[list[str]] = []
    place: Place | NamedPlace | None = None
    while True:
        row = await listed(world, order, limit=3, behind=place)
        pages.append([cluster["name"] for cluster in orjson.loads(row.items)])
        if row.next_id is None:
            break
        named = order in BY_NAME
        place = NamedPlace(row.next_name, row.next_id) if named else Place(row.next_created_at, row.next_id)
    assert [len(page) for page in pages] == [3, 3, 1]
    assert [name for page in pages for name in page] == await names(world, order)


async def test_by_name_a_deleted_cluster_and_its_successor_of_the_same_name_are_both_there(world: World) -> None:
    for name in ("b", "a", "b", "c"):
        accepted = await world.create(name)
        if name == "b":
            await world.finish_create(accepted.target_id)
            await world.delete(accepted.target_id)
            await world.finish_delete(accepted.target_id)
    query = ClusterList(order=NamedOrder.BY_NAME, limit=1, state=[ClusterState.CREATING, ClusterState.DELETED])
    clusters, place = [], None
    for _ in range(4):
        parameters = list_parameters(query, place) | {"tags": None}
        row = await world.one(LIST_CLUSTERS[query.order], authentication(world.project) | parameters)
        clusters += [(each["name"], each["state"]) for each in orjson.loads(row.items)]
        place = None if row.next_id is None else NamedPlace(row.next_name, row.next_id)
    assert place is None
    assert clusters == [("a", "creating"), ("b", "deleted"), ("b", "deleted"), ("c", "creating")]


async def test_an_empty_list_is_an_empty_array_and_a_full_last_page_leads_nowhere(world: World) -> None:
    row = await listed(world)
    assert (row.items, row.next_id, row.rights, row.project_id) == ("[]", None, "owner", world.project.id)
    for index in range(3):
        await world.create(f"c{index}")
    assert (await listed(world, limit=3)).next_id is None
    assert (await listed(world, limit=1000)).next_id is None


async def test_a_stranger_sees_neither_project_nor_cluster(world: World) -> None:
    created = await world.create()
    async with world.database.begin() as connection:
        stranger = await make_project(connection)
        admin = await make_token(connection, None, Role.ADMIN)
    key = {"cluster_id": created.target_id}
    at_home = await world.one(GET_CLUSTER, authentication(stranger) | key)
    assert (at_home.project_id, at_home.document) == (stranger.id, None)
    abroad = await world.one(GET_CLUSTER, authentication(world.project) | {"token_hash": stranger.token.hash} | key)
    assert (abroad.rights, abroad.project_id, abroad.document) == ("owner", None, None)
    nobody = await world.one(GET_CLUSTER, authentication(world.project) | {"token_hash": b"x" * 32} | key)
    assert (nobody.rights, nobody.project_id, nobody.document) == (None, None, None)
    platform = await world.one(GET_CLUSTER, authentication(world.project) | {"token_hash": admin.hash} | key)
    assert (platform.rights, platform.version) == ("admin", 1)
    assert platform.document is not None
    parameters = list_parameters(ClusterList()) | {"tags": None, "token_hash": stranger.token.hash}
    row = await world.one(LIST_CLUSTERS[NamedOrder.NEWEST_FIRST], authentication(world.project) | parameters)
    assert (row.project_id, row.items) == (None, "[]")


async def test_the_document_inside_a_transaction_is_the_same(world: World) -> None:
    created = await world.create()
    async with world.database.begin() as connection:
        text = await cluster_document(connection, project_id=world.project.id, cluster_id=created.target_id)
    assert json.loads(text) == await world.cluster(created.target_id)
