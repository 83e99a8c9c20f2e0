"""Cancel and delete at every boundary of a wait for capacity, of a create, a resize and a resume.

While the queue is served, before and after, and when the time of the wait is over: it ends as it was or as asked, holds
nothing, and is billed for what was used.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import pytest

from ipucloud.clusters.operations.waiting import MayWait
from ipucloud.inventory.health.codes import Code
from ipucloud.operations.store import Accepted
from ipucloud.policies.waiting import serve_waiting
from tests.proof.boundaries import Boundary, watched_worker
from tests.proof.boundaries import Moment as Step
from tests.proof.interrupted import Act, Moment, interrupted
from tests.proof.operators import clear_reports
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

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


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=32, options=SECURE) as site:
        yield site


@dataclass
class Trial:
    """One cluster that waits, and what is requested where."""

    world: SiteWorld
    kind: Kind
    request: Request
    place: Place
    waits: Accepted
    used: int
    """Usage intervals before the wait."""
    done: bool = False

    async def act(self) -> None:
        self.done = True
        if self.request == "delete":
            await self.world.delete(self.waits.target_id)
        else:
            assert await self.world.cancel(self.waits)

    async def wrong(self) -> list[str]:
        world, cluster = self.world, self.waits.target_id
        ended = await world.finished(self.waits)
        for deletion in await world.column(
            "SELECT id FROM operations WHERE cluster_id = :id AND kind = 'cluster.delete'", id=cluster
        ):
            await world.succeeded(deletion)
        state = await world.value("SELECT state FROM clusters WHERE id = :id", id=cluster)
        held = "SELECT count(machine_id) FROM allocations WHERE cluster_id = :id AND freed_at IS NULL"
        counted = "count(*), count(*) FILTER (WHERE ended_at IS NULL)"
        billed = f"SELECT {counted} FROM usage_intervals WHERE resource_id = :id"  # noqa: S608  # our own text
        actual = (
            ended.state,
            (ended.error or {}).get("code"),
            state,
            await world.value(held, id=cluster),
            *await world.one(billed, id=cluster),
        )
        expected = self._expected()
        wrong = [] if actual in expected else [f"{self}: {actual}, not one of {expected}"]
        return wrong if self.done else [*wrong, f"{self}: it was never reached"]

    def __str__(self) -> str:
        place = self.place.value if isinstance(self.place, Moment) else " ".join(self.place)
        return f"{self.kind}: {self.request} {place}"

    def _expected(self) -> list[tuple[object, ...]]:
        """The ends it may have: of the operation, its error, of the cluster; machines held; usage in all, and open."""
        if self.request == "delete":
            return [("failed", "preempted", "deleted", 0, self.used, 0)]
        cancelled = {"create": "deleted", "resize": "active", "resume": "suspended"}[self.kind]
        held, opened = (1, 1) if self.kind == "resize" else (0, 0)
        # A resize pauses billing when it has been served, and its undo begins to bill the cluster again.
        again = self.used + (self.kind == "resize" and self.began)
        return [("cancelled", None, cancelled, held, again, opened)]

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


async def begin(world: SiteWorld, place: Place) -> list[Trial]:
    """Clusters that wait, because nobody may have the machines that no cluster uses."""
    cases = list(itertools.product(KINDS, REQUESTS))
    clusters: list[UUID | None] = [None for _ in cases]
    async with watched_worker(world, {}):
        for number, (kind, _) in enumerate(cases):
            if kind != "create":
                clusters[number] = await world.build(f"{kind}-{number}")
        for (kind, _), built in zip(cases, clusters, strict=True):
            if kind == "resume" and built is not None:
                await world.succeeded(await world.suspend(built))
    await world.impair(
        Code.MAINTENANCE,
        "id NOT IN (SELECT machine_id FROM allocations WHERE machine_id IS NOT NULL AND freed_at IS NULL)",
    )
    trials = []
    for number, ((kind, request), cluster) in enumerate(zip(cases, clusters, strict=True)):
        waits = await wait(world, kind, cluster, f"create-{number}")
        trials.append(Trial(world, kind, request, place, waits, used=0 if kind == "create" else 1))
    return trials


async def go_through(world: SiteWorld, place: Place) -> list[str]:
    """All kinds and requests at one place, side by side."""
    trials = await begin(world, place)
    plans: dict[UUID, dict[Boundary, Act]] = {}
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
    if isinstance(place, tuple):
        plans = {trial.waits.target_id: {(STEP, place[1]): trial.act} for trial in trials}
    async with watched_worker(world, plans):
        wrong = [line for lines in await asyncio.gather(*(trial.wrong() for trial in trials)) for line in lines]
        used = await world.value("SELECT coalesce(sum(used), 0) FROM quotas")
        held = await world.value("SELECT count(machine_id) FROM allocations WHERE freed_at IS NULL")
        if used != held:
            wrong.append(f"{place}: the quota says {used}, the clusters hold {held}")
        await world.delete_all()
    await clear_reports(world, Code.MAINTENANCE)
    await world.assert_nothing_left()
    return wrong


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, full: bool, figures: Callable[..., None]) -> None:
    chosen: Sequence[Place] = PLACES if full else PLACES[2::4]
    wrong = [line for place in chosen for line in await go_through(world, place)]
    figures(cases=len(chosen) * len(KINDS) * len(REQUESTS), of=len(PLACES) * len(KINDS) * len(REQUESTS))
    if wrong:
        pytest.fail("\n".join(wrong))
