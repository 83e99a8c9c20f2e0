"""Requests at every boundary of a resize: a delete replaces it, a cancellation restores the former size.

One cluster of each pair grows where it is, the other moves to another block; half of them shrink.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import pytest

from ipucloud.clusters.operations.resize import RESIZE
from ipucloud.operations.store import Accepted
from tests.proof.boundaries import Boundary, Moment, watched_worker
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

BATCH = 10
Request = Literal["delete", "cancel", "resize"]
REQUESTS: tuple[Request, ...] = ("cancel", "delete", "resize")
SIZES = {"m2000-pod4": 1, "m2000-pod8": 2}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=64, options=SECURE) as site:
        yield site


@dataclass
class Trial:
    """One cluster that is resized, and what is requested at which boundary."""

    world: SiteWorld
    step: str
    moment: Moment
    request: Request
    cluster: UUID
    former: str
    flavor: str
    resize: Accepted
    done: bool = False

    async def act(self) -> None:
        self.done = True
        if self.request == "delete":
            await self.world.delete(self.cluster)
        elif self.request == "cancel":
            assert await self.world.cancel(self.resize)
        else:
            assert await self.world.resize(self.cluster, self.flavor, if_match=1) == self.resize

    async def wrong(self) -> list[str]:
        ended = await self.world.finished(self.resize)
        for deletion in await self.world.column(
            "SELECT id FROM operations WHERE cluster_id = :id AND kind = 'cluster.delete'", id=self.cluster
        ):
            await self.world.succeeded(deletion)
        cluster = await self.world.one("SELECT state, flavor FROM clusters WHERE id = :id", id=self.cluster)
        held = await self.world.value(
            "SELECT count(machine_id) FROM allocations WHERE cluster_id = :id AND freed_at IS NULL", id=self.cluster
        )
        billed = await self.world.column(
            "SELECT quantity FROM usage_intervals WHERE resource_id = :id ORDER BY started_at", id=self.cluster
        )
        flavor = cluster.flavor if cluster.state == "active" else None
        actual = (ended.state, (ended.error or {}).get("code"), cluster.state, flavor, held, billed, self.done)
        former, latter = SIZES[self.former], SIZES[self.flavor]
        expected = {
            "delete": ("failed", "preempted", "deleted", None, 0, [former], True),
            "cancel": ("cancelled", None, "active", self.former, former, [former, former], True),
            "resize": ("succeeded", None, "active", self.flavor, latter, [former, latter], True),
        }[self.request]
        return [] if actual == expected else [f"{self.request} {self.moment} {self.step}: {actual}, not {expected}"]


async def begin(world: SiteWorld, step: str, moment: Moment, request: Request, cluster: UUID) -> Trial:
    former, flavor = (
        SIZES
        if await world.value("SELECT machines = 1 FROM clusters WHERE id = :id", id=cluster)
        else (reversed(SIZES))
    )
    return Trial(world, step, moment, request, cluster, former, flavor, await world.resize(cluster, flavor))


async def go_through(world: SiteWorld, cases: Sequence[tuple[str, Moment, Request]]) -> list[str]:
    """All cases side by side."""
    flavors = itertools.cycle(["m2000-pod4", "m2000-pod8", "m2000-pod4"])
    creations = [await world.create(f"c{number}", flavor=next(flavors)) for number, _ in enumerate(cases)]
    async with watched_worker(world, {}):
        for each in creations:
            await world.succeeded(each)
    trials = [await begin(world, *case, each.target_id) for case, each in zip(cases, creations, strict=True)]
    plans: dict[UUID, dict[Boundary, Callable[[], Awaitable[None]]]] = {
        trial.cluster: {(trial.step, trial.moment): trial.act} for trial in trials
    }
    async with watched_worker(world, plans):
        wrong = [line for lines in await asyncio.gather(*(trial.wrong() for trial in trials)) for line in lines]
        used = await world.value("SELECT coalesce(sum(used), 0) FROM quotas")
        held = await world.value("SELECT count(machine_id) FROM allocations WHERE freed_at IS NULL")
        if used != held:
            wrong.append(f"the quota says {used}, the clusters hold {held}")
        await world.delete_all()
    await world.assert_nothing_left()
    return wrong


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, full: bool, figures: Callable[..., None]) -> None:
    cases = list(itertools.product([step.name for step in RESIZE.steps], Moment, REQUESTS))
    chosen = cases if full else cases[::11]
    wrong: list[str] = []
    for start in range(0, len(chosen), BATCH):
        wrong += await go_through(world, chosen[start : start + BATCH])
    figures(cases=len(chosen), of=len(cases))
    if wrong:
        pytest.fail("\n".join(wrong))
