"""A change of a cluster's own data: only what was sent, only if nobody changed it meanwhile."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from ipucloud.kernel.errors import Problem
from tests.support.world import World

pytestmark = pytest.mark.anyio


async def test_only_the_fields_sent_change(world: World) -> None:
    created = await world.create(tags={"team": "nlp"})
    expiry = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    version = await world.update(created.target_id, name="renamed", expires_at=expiry)
    cluster = await world.cluster(created.target_id)
    assert (cluster["name"], cluster["tags"], cluster["version"]) == ("renamed", {"team": "nlp"}, version)
    assert datetime.fromisoformat(cluster["expires_at"]) == expiry
    await world.update(created.target_id, tags={}, expires_at=None)
    cluster = await world.cluster(created.target_id)
    assert (cluster["name"], cluster["tags"], cluster["expires_at"]) == ("renamed", {}, None)


async def test_the_event_names_the_changed_fields_and_a_change_to_what_is_there_already_is_none(world: World) -> None:
    created = await world.create()
    assert await world.update(created.target_id, name="bert", tags={}) == 1
    assert await world.update(created.target_id) == 1
    await world.update(created.target_id, name="renamed", delete_protection=False)
    assert await world.column("SELECT data FROM events WHERE type = 'cluster.updated'") == [{"fields": ["name"]}]


async def test_of_two_changes_based_on_the_same_version_the_second_is_refused(world: World) -> None:
    created = await world.create()
    assert await world.update(created.target_id, if_match=1, name="first") == 2
    with pytest.raises(Problem, match="precondition_failed"):
        await world.update(created.target_id, if_match=1, name="second")
    assert (await world.cluster(created.target_id))["name"] == "first"


async def test_a_name_in_use_and_an_expiry_in_the_past_are_refused(world: World) -> None:
    await world.create("taken")
    created = await world.create()
    with pytest.raises(Problem, match="name_taken"):
        await world.update(created.target_id, name="taken")
    with pytest.raises(Problem) as raised:
        await world.update(created.target_id, expires_at=datetime(2020, 1, 1, tzinfo=UTC))
    assert [fault.pointer for fault in raised.value.errors] == ["/expires_at"]


async def test_a_deleted_cluster_is_not_changed_any_more(world: World) -> None:
    created = await world.create()
    await world.delete(created.target_id)
    await world.update(created.target_id, tags={"why": "old"})
    await world.finish_delete(created.target_id)
    with pytest.raises(Problem, match="state_conflict"):
        await world.update(created.target_id, tags={})
    with pytest.raises(Problem, match="not_found"):
        await world.update(uuid4(), tags={})
