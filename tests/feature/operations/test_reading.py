"""Operations as the API shows them."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from ipucloud.contract.lists import Order
from ipucloud.contract.operations import OperationList, OperationOut
from ipucloud.db.documents import Place, list_parameters
from ipucloud.identity.access import authenticated
from ipucloud.operations.queries import GET_OPERATION, LIST_OPERATIONS
from tests.support.cloud import Cloud, authentication
from tests.support.factories import make_project
from tests.support.shapes import assert_shape

pytestmark = pytest.mark.anyio

GET = authenticated(GET_OPERATION)
LISTS = {order: authenticated(text) for order, text in LIST_OPERATIONS.items()}


async def ids(cloud: Cloud, behind: Place | None = None, **filters: Any) -> list[str]:
    query = OperationList(**filters)
    row = await cloud.one(LISTS[query.order], authentication(cloud.project) | list_parameters(query, behind))
    return [operation["id"] for operation in orjson.loads(row.items)]


async def test_the_json_made_by_postgresql_is_the_documented_model(cloud: Cloud) -> None:
    created = await cloud.create()
    gone = await cloud.delete(created.target_id)
    await cloud.execute(
        "UPDATE operation_steps SET state = 'running', started_at = app_now(), detail = 'x'"
        " WHERE operation_id = :id AND ordinal = 1",
        id=gone.operation_id,
    )
    for operation_id in (created.operation_id, gone.operation_id):
        row = await cloud.one(GET, authentication(cloud.project) | {"operation_id": operation_id})
        assert_shape(OperationOut, row.document)


async def test_steps_come_in_their_order(cloud: Cloud) -> None:
    created = await cloud.create()
    steps = (await cloud.operation(created.operation_id))["steps"]
    assert [step["name"] for step in steps][:2] == ["attach_network", "power_on_machines"]
    # The region's controller is not secure.
    assert [step["name"] for step in steps if step["state"] != "pending"] == ["create_vipu_user"]


async def test_only_a_create_that_runs_can_be_cancelled(cloud: Cloud) -> None:
    created = await cloud.create()

    async def cancellable() -> bool:
        return bool((await cloud.operation(created.operation_id))["cancellable"])

    assert await cancellable()
    await cloud.execute("UPDATE operations SET state = 'running'")
    assert await cancellable()
    await cloud.execute("UPDATE operations SET undoing = true")
    assert not await cancellable()
    await cloud.execute("UPDATE operations SET undoing = false, state = 'cancelling'")
    assert not await cancellable()


async def test_lists_by_state_kind_and_cluster(cloud: Cloud) -> None:
    first, second = await cloud.create("first"), await cloud.create("second")
    gone = await cloud.delete(first.target_id)
    one, two, three = (str(accepted.operation_id) for accepted in (first, second, gone))
    assert await ids(cloud) == [three, two, one]
    assert await ids(cloud, order=Order.OLDEST_FIRST) == [one, two, three]
    assert await ids(cloud, state=["failed"]) == [one]
    assert await ids(cloud, kind="cluster.delete") == [three]
    assert await ids(cloud, cluster=first.target_id) == [three, one]
    assert await ids(cloud, kind="cluster.delete", cluster=second.target_id) == []


async def test_pages_put_together_are_the_list(cloud: Cloud) -> None:
    for index in range(5):
        await cloud.create(f"c{index}")
    parameters = authentication(cloud.project) | list_parameters(OperationList(limit=3))
    page = await cloud.one(LISTS[Order.NEWEST_FIRST], parameters)
    rest = await ids(cloud, limit=3, behind=Place(page.next_created_at, page.next_id))
    assert [operation["id"] for operation in orjson.loads(page.items)] + rest == await ids(cloud)


async def test_an_operation_of_another_project_does_not_exist(cloud: Cloud) -> None:
    created = await cloud.create()
    async with cloud.database.begin() as connection:
        stranger = await make_project(connection)
    row = await cloud.one(GET, authentication(stranger) | {"operation_id": created.operation_id})
    assert (row.project_id, row.document) == (stranger.id, None)
