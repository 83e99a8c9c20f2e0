"""Cancel and delete at every boundary of a wait for capacity, of a create, a resize and a resume.

While the queue is served, before and after, and when the time of the wait is over: it ends as it was or as asked, holds
nothing, and is billed for what was used.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import pytest

from ipucloud.clusters.operations.waiting import MayWait
from ipucloud.inventory.health.codes import Code
from ipucloud.operations.store import Accepted
from ipucloud.policies.waiting import serve_waiting
from tests.proof.boundaries import Moment as Step
from tests.proof.boundaries import Trial, all_right, differs, side_by_side, watched_worker
from tests.proof.interrupted import Moment, interrupted
from tests.proof.operators import clear_reports
from tests.support.selection import Figures
from tests.support.site import SECURE
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 32, "options": SECURE}
STEP = "wait_for_capacity"
WAITS = MayWait(for_capacity=True)
Kind = Literal["create", "resize", "resume"]
Request = Literal["cancel", "delete"]
Stage = Literal["waits", "served", "over"]
KINDS: tuple[Kind, ...] = ("create", "resize", "resume")
REQUESTS: tuple[Request, ...] = ("cancel", "delete")
STAGES: tuple[Stage, ...] = ("waits", "served", "over")
Place = tuple[Stage, Step] | Moment
"""At a step of the wait, at this stage of it; or in relation to the transaction that gives it its machines."""
PLACES: tuple[Place, ...] = (*itertools.product(STAGES, Step), *Moment)
_OVER = "UPDATE capacity_waits SET since = app_now() - interval '2 hours', until = app_now() - interval '1 second'"


@dataclass
class Waiting(Trial):
    """One cluster that waits, and what is requested where. `used`: usage intervals before the wait."""

    kind: Kind
    place: Place
    used: int

    def __str__(self) -> str:
        place = self.place.value if isinstance(self.place, Moment) else " ".join(self.place)
        return f"{self.kind}: {self.request} {place}"

    async def judge(self, end: tuple[str, str | None, str], cluster: Any, billed: Sequence[int]) -> Sequence[str]:
        held = "SELECT count(machine_id) FROM allocations WHERE cluster_id = :id AND freed_at IS NULL"
        opened = "SELECT count(*) FROM usage_intervals WHERE resource_id = :id AND ended_at IS NULL"
        counts = [await self.world.value(each, id=self.cluster) for each in (held, opened)]
        return differs((*end, *counts, len(billed)), self._expected())

    def _expected(self) -> tuple[object, ...]:
        """The end of the operation, its error, of the cluster; machines held; usage open, and in all."""
        if self.request == "delete":
            return "failed", "preempted", "deleted", 0, 0, self.used
        cancelled = {"create": "deleted", "resize": "active", "resume": "suspended"}[self.kind]
        held, opened = (1, 1) if self.kind == "resize" else (0, 0)
        # A resize pauses billing when it has been served, and its undo begins to bill the cluster again.
        again = self.used + (self.kind == "resize" and self.began)
        return "cancelled", None, cancelled, held, opened, again

    @property
    def began(self) -> bool:
        """Whether it had its machines when it was cancelled."""
        return self.place is Moment.INSIDE or (isinstance(self.place, tuple) and self.place[0] == "served")


async def wait(world: SiteWorld, kind: Kind, cluster: UUID | None, name: str) -> Accepted:
    if cluster is None:
        return await world.create(name, wait_for_capacity=True)
    if kind == "resize":
        return await world.resize(cluster, "m2000-pod8", may_wait=WAITS)
    return await world.resume(cluster, may_wait=WAITS)


async def begin(world: SiteWorld, place: Place) -> list[Waiting]:
    """Clusters that wait, because nobody may have the machines that no cluster uses."""
    clusters: dict[tuple[Kind, Request], UUID] = {}
    cases = list(itertools.product(KINDS, REQUESTS))
    async with watched_worker(world, {}):
        for kind, request in cases[len(REQUESTS) :]:  # all but creates
            clusters[kind, request] = await world.build(f"{kind}-{request}")
        for request in REQUESTS:
            await world.succeeded(await world.suspend(clusters["resume", request]))
    await world.impair(
        Code.MAINTENANCE,
        "id NOT IN (SELECT machine_id FROM allocations WHERE machine_id IS NOT NULL AND freed_at IS NULL)",
    )
    # What comes in the transaction that gives it its machines comes at no step.
    step, moment = (STEP, place[1]) if isinstance(place, tuple) else ("", Step.BETWEEN)
    trials = []
    for kind, request in cases:
        waits = await wait(world, kind, clusters.get((kind, request)), f"create-{request}")
        trials.append(Waiting(world, step, moment, request, waits, kind, place, used=0 if kind == "create" else 1))
    return trials


async def go_through(world: SiteWorld, place: Place) -> list[str]:
    """All kinds and requests at one place, side by side."""
    trials = await begin(world, place)
    if isinstance(place, Moment) or place[0] == "served":
        await clear_reports(world, Code.MAINTENANCE)
        # The queue has them in this order, and each is served in a transaction of its own.
        acts = (
            {(number, place): trial.act for number, trial in enumerate(trials, 1)} if isinstance(place, Moment) else {}
        )
        async with interrupted(world, acts) as database:
            await serve_waiting(world.settings, database)
        assert database.begun == len(trials)
    elif place[0] == "over":
        await world.execute(_OVER)
    return await side_by_side(world, trials, Code.MAINTENANCE)


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, full: bool, figures: Figures) -> None:
    chosen: Sequence[Place] = PLACES if full else PLACES[2::4]
    wrong = [line for place in chosen for line in await go_through(world, place)]
    figures(cases=len(chosen) * len(KINDS) * len(REQUESTS), of=len(PLACES) * len(KINDS) * len(REQUESTS))
    all_right(wrong)
