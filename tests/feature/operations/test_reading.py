"""Operations as the API shows them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from prometheus_client import REGISTRY

from ipucloud.contract.lists import Order
from ipucloud.contract.operations import OperationList, OperationOut
from ipucloud.db.documents import DocumentPage, OneDocument, Place, list_parameters
from ipucloud.identity.access import authenticated
from ipucloud.operations.queries import GET_OPERATION, LIST_OPERATIONS
from tests.support.factories import make_project
from tests.support.shapes import assert_shape
from tests.support.world import World, authentication

pytestmark = pytest.mark.anyio

GET = authenticated(GET_OPERATION, OneDocument)
LISTS = {order: authenticated(text, DocumentPage) for order, text in LIST_OPERATIONS.items()}


def failed(cause: str) -> float:
    labels = {"kind": "cluster.create", "cause": cause}
    return REGISTRY.get_sample_value("operations_failed_total", labels) or 0.0


async def ids(world: World, behind: Place | None = None, **filters: Any) -> list[str]:
    query = OperationList(**filters)
    row = await world.one(LISTS[query.order], authentication(world.project) | list_parameters(query, behind))
    return [operation["id"] for operation in orjson.loads(row.items)]


async def test_the_json_made_by_postgresql_is_the_documented_model(world: World) -> None:
    created = await world.create()
    gone = await world.delete(created.target_id)
    await world.execute(
        "UPDATE operation_steps SET state = 'running', started_at = app_now(), detail = 'x'"
        " WHERE operation_id = :id AND ordinal = 1",
        id=gone.operation_id,
    )
    for operation_id in (created.operation_id, gone.operation_id):
        row = await world.one(GET, authentication(world.project) | {"operation_id": operation_id})
        assert_shape(OperationOut, row.document)


async def test_only_a_create_that_runs_can_be_cancelled(world: World) -> None:
    created = await world.create()

    async def cancellable() -> bool:
        return bool((await world.operation(created.operation_id))["cancellable"])

    assert await cancellable()
    await world.execute("UPDATE operations SET state = 'running'")
    assert await cancellable()
    await world.execute("UPDATE operations SET undoing = true")
    assert not await cancellable()
    await world.execute("UPDATE operations SET undoing = false, state = 'cancelling'")
    assert not await cancellable()


async def test_steps_come_in_their_order_and_a_failed_create_is_counted_by_its_cause(world: World) -> None:
    created = await world.create()
    steps = (await world.operation(created.operation_id))["steps"]
    assert [step["name"] for step in steps][:2] == ["attach_network", "power_on_machines"]
    # The region's controller is not secure.
    assert [step["name"] for step in steps if step["state"] != "pending"] == ["create_vipu_user"]
    before = [failed(cause) for cause in ("provisioning_failed", "preempted")]
    await world.fail_create(created.target_id)
    await world.delete((await world.create("second")).target_id)
    assert [failed(cause) for cause in ("provisioning_failed", "preempted")] == [count + 1 for count in before]


async def test_lists_by_state_kind_and_cluster(world: World) -> None:
    first, second = await world.create("first"), await world.create("second")
    gone = await world.delete(first.target_id)
    one, two, three = (str(accepted.operation_id) for accepted in (first, second, gone))
    assert await ids(world) == [three, two, one]
    assert await ids(world, order=Order.OLDEST_FIRST) == [one, two, three]
    assert await ids(world, state=["failed"]) == [one]
    assert await ids(world, kind="cluster.delete") == [three]
    assert await ids(world, cluster=first.target_id) == [three, one]
    assert await ids(world, kind="cluster.delete", cluster=second.target_id) == []


async def test_pages_put_together_are_the_list(world: World) -> None:
    for index in range(5):
        await world.create(f"c{index}")
    parameters = authentication(world.project) | list_parameters(OperationList(limit=3))
    page = await world.one(LISTS[Order.NEWEST_FIRST], parameters)
    rest = await ids(world, limit=3, behind=Place(page.next_created_at, page.next_id))
    assert [operation["id"] for operation in orjson.loads(page.items)] + rest == await ids(world)


async def test_an_operation_of_another_project_does_not_exist(world: World) -> None:
    created = await world.create()
    async with world.database.begin() as connection:
        stranger = await make_project(connection)
    row = await world.one(GET, authentication(stranger) | {"operation_id": created.operation_id})
    assert (row.project_id, row.document) == (stranger.id, None)
