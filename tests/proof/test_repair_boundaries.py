"""Requests at every boundary of a repair: a delete replaces it, a cancellation is refused, another repair joins it.

A machine that is drained meanwhile is kept by the cluster, and afterwards from every other one.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import pytest

from ipucloud.clusters.operations.replace import REPLACE
from ipucloud.inventory.health.codes import Code
from ipucloud.operations.store import Accepted
from tests.proof.boundaries import Boundary, Moment, watched_worker
from tests.proof.operators import clear_reports, drain
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

BATCH = 12
Request = Literal["delete", "cancel", "repair", "drain"]
REQUESTS: tuple[Request, ...] = ("delete", "cancel", "repair", "drain")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=64, options=SECURE) as site:
        yield site


@dataclass
class Trial:
    """One cluster, whose machine and server are replaced, and what is requested at which boundary."""

    world: SiteWorld
    step: str
    moment: Moment
    request: Request
    cluster: UUID
    repair: Accepted
    done: bool = False
    drained: UUID | None = None

    async def act(self) -> None:
        self.done = True
        if self.request == "delete":
            await self.world.delete(self.cluster)
        elif self.request == "drain":
            self.drained = await drain(self.world, self.cluster)
        elif self.request == "cancel":
            assert not await self.world.cancel(self.repair)
        else:
            assert await self.world.replace_hardware(self.cluster, if_match=1) == self.repair

    async def wrong(self) -> list[str]:
        ended = await self.world.finished(self.repair)
        for deletion in await self.world.column(
            "SELECT id FROM operations WHERE cluster_id = :id AND kind = 'cluster.delete'", id=self.cluster
        ):
            await self.world.succeeded(deletion)
        intervals = await self.world.value(
            "SELECT count(*) FROM usage_intervals WHERE resource_id = :id", id=self.cluster
        )
        state = await self.world.value("SELECT state FROM clusters WHERE id = :id", id=self.cluster)
        if await self.world.column("SELECT id FROM machines WHERE id = :id AND allocatable", id=self.drained):
            return [f"{self.request} {self.moment} {self.step}: the machine that was drained is offered"]
        actual = (ended.state, (ended.error or {}).get("code"), state, intervals, self.done)
        expected = {"delete": ("failed", "preempted", "deleted", 1, True)}.get(
            self.request, ("succeeded", None, "active", 2, True)
        )
        return [] if actual == expected else [f"{self.request} {self.moment} {self.step}: {actual}, not {expected}"]


async def begin(world: SiteWorld, step: str, moment: Moment, request: Request, cluster: UUID) -> Trial:
    names = await world.column(
        "SELECT m.name FROM machines m JOIN allocations ON machine_id = m.id"
        " WHERE cluster_id = :id AND freed_at IS NULL"
        " UNION ALL SELECT name FROM poplar_servers WHERE cluster_id = :id",
        id=cluster,
    )
    return Trial(world, step, moment, request, cluster, await world.replace_hardware(cluster, *names))


async def go_through(world: SiteWorld, cases: Sequence[tuple[str, Moment, Request]]) -> list[str]:
    """All cases side by side."""
    creations = [await world.create(f"c{number}") for number, _ in enumerate(cases)]
    async with watched_worker(world, {}):
        for each in creations:
            await world.succeeded(each)
    trials = [await begin(world, *case, each.target_id) for case, each in zip(cases, creations, strict=True)]
    plans: dict[UUID, dict[Boundary, Callable[[], Awaitable[None]]]] = {
        trial.cluster: {(trial.step, trial.moment): trial.act} for trial in trials
    }
    async with watched_worker(world, plans):
        wrong = [line for lines in await asyncio.gather(*(trial.wrong() for trial in trials)) for line in lines]
        await world.delete_all()
    await world.assert_nothing_left()
    await clear_reports(world, Code.REPLACED, Code.DRAIN)
    return wrong


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, full: bool, figures: Callable[..., None]) -> None:
    cases = list(itertools.product([step.name for step in REPLACE.steps], Moment, REQUESTS))
    chosen = cases if full else cases[::17]
    wrong: list[str] = []
    for start in range(0, len(chosen), BATCH):
        wrong += await go_through(world, chosen[start : start + BATCH])
    figures(cases=len(chosen), of=len(cases))
    if wrong:
        pytest.fail("\n".join(wrong))
