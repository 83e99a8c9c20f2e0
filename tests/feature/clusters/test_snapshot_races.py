"""Snapshots, and what is made from them, while others are deleted: the second waits for the first, and sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.operations.create import create as create_cluster
from ipucloud.clusters.operations.rebuild import rebuild
from ipucloud.clusters.volumes import store as volumes
from ipucloud.clusters.volumes.record import VOLUMES
from ipucloud.clusters.volumes.snapshots import store as snapshots
from ipucloud.clusters.volumes.snapshots.record import SNAPSHOTS
from ipucloud.contract.clusters import ClusterRebuild
from ipucloud.contract.snapshots import SnapshotCreate
from ipucloud.contract.volumes import VolumeCreate
from ipucloud.kernel.errors import IN_USE, STATE_CONFLICT, Problem
from tests.support.snapshots import make_image, make_snapshot, offer_snapshots
from tests.support.volumes import make_volume, volume_json
from tests.support.waiting import until
from tests.support.world import World, cluster_body

pytestmark = pytest.mark.anyio

Effect = Callable[[AsyncConnection], Awaitable[Any]]


async def race(world: World, first: Effect, second: Effect) -> Problem:
    """What the second is refused with, which begins before the first is committed."""
    async with world.database.begin() as holder:
        await first(holder)
        waiting = asyncio.create_task(_attempt(world, second))

        async def waits() -> bool:
            locked = await world.column("SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock'")
            return bool(locked) or waiting.done()

        await until(waits, "the second waits")
    problem = await waiting
    assert problem is not None, "the second one did not notice the first"
    return problem


async def _attempt(world: World, effect: Effect) -> Problem | None:
    try:
        async with world.database.begin() as connection:
            await effect(connection)
    except Problem as problem:
        return problem
    return None


def deleted(world: World, snapshot: UUID) -> Effect:
    return lambda on: SNAPSHOTS.delete(on, world.project.actor, snapshot)


def created(world: World) -> Effect:
    body = cluster_body("second", image="env")
    actor, catalogue, settings = world.project.actor, world.catalogue, world.settings
    return lambda on: create_cluster(on, actor, body, catalogue=catalogue, settings=settings)


def rebuilt(world: World, cluster: UUID) -> Effect:
    body = ClusterRebuild.model_validate({"disk": "wipe", "image": "env"})
    actor, catalogue, settings = world.project.actor, world.catalogue, world.settings
    return lambda on: rebuild(on, actor, cluster, body=body, catalogue=catalogue, if_match=None, settings=settings)


def restored(world: World) -> Effect:
    body = VolumeCreate.model_validate(volume_json("restored", snapshot="before"))
    actor, catalogue, settings = world.project.actor, world.catalogue, world.settings
    return lambda on: volumes.create(on, actor, body, catalogue=catalogue, settings=settings)


@pytest.mark.parametrize("how", ["create", "rebuild"])
async def test_an_image_is_not_deleted_under_servers_that_are_to_be_made_from_it(world: World, how: str) -> None:
    bert = await world.make_active("bert")
    image = await make_image(world, world.project, bert)
    uses = created(world) if how == "create" else rebuilt(world, bert)
    assert (await race(world, uses, deleted(world, image))).kind is IN_USE
    assert await world.value("SELECT state FROM snapshots") == "available"


@pytest.mark.parametrize("how", ["create", "rebuild"])
async def test_no_server_is_made_from_an_image_that_is_being_deleted(world: World, how: str) -> None:
    bert = await world.make_active("bert")
    image = await make_image(world, world.project, bert)
    uses = created(world) if how == "create" else rebuilt(world, bert)
    assert (await race(world, deleted(world, image), uses)).kind is STATE_CONFLICT
    assert await world.value("SELECT count(*) FROM clusters WHERE image LIKE '%-1'") == 0


async def test_a_snapshot_is_not_deleted_under_a_volume_that_is_made_from_it(world: World) -> None:
    snapshot = await make_snapshot(world, world.project)
    assert (await race(world, restored(world), deleted(world, snapshot))).kind is IN_USE


async def test_no_volume_is_made_from_a_snapshot_that_is_being_deleted(world: World) -> None:
    snapshot = await make_snapshot(world, world.project)
    assert (await race(world, deleted(world, snapshot), restored(world))).kind is STATE_CONFLICT


async def test_a_volume_is_not_deleted_under_a_snapshot_that_is_requested(world: World) -> None:
    volume, actor = await make_volume(world, world.project), world.project.actor
    async with world.database.begin() as connection:
        await offer_snapshots(connection)
    body = SnapshotCreate(name="before", volume="data")
    refused = await race(
        world,
        lambda on: snapshots.create(on, actor, body, settings=world.settings),
        lambda on: VOLUMES.delete(on, actor, volume),
    )
    assert refused.kind is IN_USE


async def test_no_snapshot_is_taken_of_a_volume_that_is_being_deleted(world: World) -> None:
    volume, actor = await make_volume(world, world.project), world.project.actor
    async with world.database.begin() as connection:
        await offer_snapshots(connection)
    body = SnapshotCreate(name="before", volume="data")
    refused = await race(
        world,
        lambda on: VOLUMES.delete(on, actor, volume),
        lambda on: snapshots.create(on, actor, body, settings=world.settings),
    )
    assert refused.kind is STATE_CONFLICT
