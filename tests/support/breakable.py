"""Worlds that give back at their end what they took of a site that several tests use, and hardware that tests break."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tests.support.postgres import Database as Scratch
from tests.support.site import RunningSite
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world


@asynccontextmanager
async def open_emptied_world(scratch: Scratch, site: RunningSite, **changes: Any) -> AsyncIterator[SiteWorld]:
    """At the end every cluster is deleted, and nothing is left of any."""
    async with open_site_world(scratch, site, **changes) as world:
        yield world
        world.clear_faults()
        async with world.worker():
            await world.delete_all()
        await world.assert_nothing_left()


@asynccontextmanager
async def open_breakable_world(scratch: Scratch, site: RunningSite, **changes: Any) -> AsyncIterator[SiteWorld]:
    """At the end all hardware works again, every cluster is deleted, and nothing is left of any."""
    async with open_site_world(scratch, site, **changes) as world:
        yield world
        world.clear_faults()
        repair_everything(world)
        async with world.worker():
            await world.delete_all()
            await until(lambda: _is_clean(world), "workers have cleaned what was isolated")
        await world.assert_nothing_left()


async def _is_clean(world: SiteWorld) -> bool:
    """Hardware that did not answer when its cluster was deleted is cleaned once it answers."""
    return {host["state"] for host in world.http.get("/v1/hosts").json()["hosts"]} == {"clean"}


def repair_everything(world: SiteWorld) -> None:
    broken = world.http.get("/v1/broken").raise_for_status().json()
    paths = [f"machines/{name}" for name in broken["machines"]] + [f"hosts/{name}" for name in broken["hosts"]]
    paths += [f"machines/{link['machine']}/links/{link['kind']}" for link in broken["links"]]
    for path in paths:
        world.http.post(f"/v1/{path}:repair").raise_for_status()


async def held(world: SiteWorld, kind: str) -> list[str]:
    """The names of the machines or hosts that clusters hold."""
    return await world.column(
        f"SELECT o.name FROM {kind}s o JOIN allocations a ON a.{kind}_id = o.id"  # noqa: S608
        " WHERE a.freed_at IS NULL ORDER BY a.ordinal"
    )
