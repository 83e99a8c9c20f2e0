"""Lists: pages that fit together, cursors that belong to one list, filters that combine."""

from __future__ import annotations

from typing import Any

import pytest

from tests.api.support import Api, problem, public_key, walk
from tests.support.feed import settled

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("path", ["clusters", "operations", "ssh-keys", "tokens", "events"])
@pytest.mark.parametrize("order", ["created_at", "-created_at", "name", "-name"])
async def test_pages_fit_together(api: Api, path: str, order: str) -> None:
    if order.endswith("name") and path in {"operations", "events"}:
        problem(await api.owner.get(f"{api.base}/{path}", params={"order": order}), 422, "validation_failed")
        return
    for number in (3, 0, 4, 1, 2):
        await api.make_cluster(f"bert-{number}")
        await api.owner.post(
            f"{api.base}/ssh-keys", json={"name": f"key-{number}", "public_key": public_key(number + 1)}
        )
        await api.owner.post(f"{api.base}/tokens", json={"name": f"token-{number}", "role": "viewer"})
    await settled(api.world.database)
    paged = await walk(api.owner, f"{api.base}/{path}", limit=2, order=order)
    whole = await walk(api.owner, f"{api.base}/{path}", limit=1000, order=order)
    assert paged == whole
    if order == "name":
        assert [item["name"] for item in paged] == sorted(item["name"] for item in paged)
    assert len({item["id"] for item in paged}) == len(paged) >= 5
    opposite = order.removeprefix("-") if order.startswith("-") else f"-{order}"
    backwards = await walk(api.owner, f"{api.base}/{path}", limit=1000, order=opposite)
    assert [item["id"] for item in backwards] == [item["id"] for item in reversed(whole)]


async def test_an_item_that_comes_or_goes_shifts_nothing(api: Api) -> None:
    for number in range(4):
        await api.make_cluster(f"bert-{number}")
    first = (await api.owner.get(f"{api.base}/clusters", params={"limit": "2"})).json()
    await api.make_cluster("newcomer")
    rest = (await api.owner.get(f"{api.base}/clusters", params={"limit": "2", "cursor": first["next_cursor"]})).json()
    assert [item["name"] for item in first["items"] + rest["items"]] == ["bert-3", "bert-2", "bert-1", "bert-0"]


@pytest.mark.parametrize(
    ("limit", "number"), [("0", 1), ("-5", 1), ("1", 1), ("3", 3), ("4", 3), ("999999999999", 3), (None, 3)]
)
async def test_a_limit_is_brought_into_bounds(api: Api, limit: str | None, number: int) -> None:
    for name in ("a", "b", "c"):
        await api.make_cluster(name)
    query = {} if limit is None else {"limit": limit}
    assert len((await api.owner.get(f"{api.base}/clusters", params=query)).json()["items"]) == number


async def test_a_cursor_is_good_for_the_list_that_gave_it(api: Api) -> None:
    for name in ("a", "b", "c"):
        await api.make_cluster(name, tags={"team": "nlp"})
    query = {"limit": "1", "region": "luxembourg-2", "tag.team": "nlp"}
    cursor = (await api.owner.get(f"{api.base}/clusters", params=query)).json()["next_cursor"]
    good = await api.owner.get(f"{api.base}/clusters", params=query | {"cursor": cursor, "limit": "7"})
    assert [item["name"] for item in good.json()["items"]] == ["b", "a"]
    for path, other in (
        ("clusters", {"region": "amsterdam-2"}),
        ("clusters", {"order": "created_at"}),
        ("clusters", {"order": "name"}),
        ("clusters", {"tag.team": "vision"}),
        ("clusters", {"tag.group": "nlp"}),
        ("clusters", {"cursor": cursor[:-2]}),
        ("clusters", {"cursor": "!"}),
        ("clusters", {"cursor": ""}),
        ("clusters", {"cursor": "caf\xe9"}),
    ):
        answer = await api.owner.get(f"{api.base}/{path}", params={**query, "cursor": cursor, **other})
        problem(answer, 400, "invalid_cursor")
    for path in ("operations", "ssh-keys", "events"):
        problem(await api.owner.get(f"{api.base}/{path}", params={"cursor": cursor}), 400, "invalid_cursor")


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ({"region": "luxembourg-2"}, {"bert", "ernie"}),
        ({"region": "amsterdam-2"}, {"oscar"}),
        ({"flavor": "m2000-pod8"}, {"ernie"}),
        ({"name": "ernie"}, {"ernie"}),
        ({"q": "er"}, {"bert", "ernie"}),
        ({"tag.team": "nlp"}, {"bert", "oscar"}),
        ({"tag.team": "nlp", "tag.stage": "test"}, {"oscar"}),
        ({"tag.team": "nlp", "region": "luxembourg-2"}, {"bert"}),
        ({"state": "creating"}, {"bert", "oscar"}),
        ({"state": ["creating", "deleting"]}, {"bert", "ernie", "oscar"}),
        ({"state": "active"}, set()),
        ({"name": "nobody"}, set()),
    ],
)
async def test_filters_combine(api: Api, query: dict[str, Any], names: set[str]) -> None:
    await api.make_cluster("bert", tags={"team": "nlp"})
    ernie = await api.make_cluster("ernie", flavor="m2000-pod8")
    await api.make_cluster("oscar", region="amsterdam-2", flavor="bow-pod4", tags={"team": "nlp", "stage": "test"})
    await api.owner.delete(f"{api.base}/clusters/{ernie['target']['id']}")
    items = (await api.owner.get(f"{api.base}/clusters", params=query)).json()["items"]
    assert {cluster["name"] for cluster in items} == names


async def test_a_reader_of_events_goes_on_from_the_last_one(api: Api) -> None:
    await api.make_cluster("bert")
    await settled(api.world.database)
    first = (await api.owner.get(f"{api.base}/events", params={"order": "created_at"})).json()["items"]
    operation = await api.make_cluster("ernie")
    await settled(api.world.database)
    query = {"order": "created_at", "after": first[-1]["id"]}
    news = (await api.owner.get(f"{api.base}/events", params=query)).json()["items"]
    assert [event["type"] for event in news] == ["cluster.created", "operation.created"]
    only = {"subject": operation["target"]["id"], "type": "cluster.created"}
    about = (await api.owner.get(f"{api.base}/events", params=only)).json()["items"]
    assert [event["subject_id"] for event in about] == [operation["target"]["id"]]
