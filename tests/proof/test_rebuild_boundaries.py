"""Cancel and delete at every boundary of a rebuild, in peace and in trouble: as it was or as asked, never between."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

import pytest

from ipucloud.clusters.operations.rebuild import REBUILD
from ipucloud.operations.store import Accepted
from tests.proof.boundaries import Boundary, Moment, watched_worker
from tests.support.catalogues import OTHER_IMAGE, with_other_image
from tests.support.postgres import Database as Scratch
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.world import IMAGE, SiteWorld, open_site_world
from tests.support.world.customer import REGION

pytestmark = pytest.mark.anyio

Request = Literal["cancel", "delete"]
Trouble = Literal["none", "lost", "refused"]
Case = tuple[str, Moment, Request, Trouble]
REQUESTS: tuple[Request, ...] = ("cancel", "delete")
PEACE: tuple[Trouble, ...] = ("none",)
TROUBLES: tuple[Trouble, ...] = ("lost", "refused")
CASES: tuple[Case, ...] = (
    *itertools.product((step.name for step in REBUILD.steps), Moment, REQUESTS, PEACE),
    *itertools.product(("rebuild_servers",), (Moment.LOADED, Moment.ACTED), REQUESTS, TROUBLES),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=32, options=SECURE) as site:
        yield site


@pytest.fixture
async def world(database: Scratch, site: RunningSite) -> AsyncIterator[SiteWorld]:
    async with open_site_world(database, site) as world:
        world.catalogue = with_other_image(world.catalogue, REGION)
        yield world


@dataclass
class Trial:
    """One cluster, and what is requested at which boundary of its rebuild."""

    world: SiteWorld
    request: Request
    cluster: UUID
    host: str
    boot: str
    rebuild: Accepted
    done: bool = False

    async def act(self) -> None:
        self.done = True
        if self.request == "delete":
            await self.world.delete(self.cluster)
        else:
            assert await self.world.cancel(self.rebuild)

    async def wrong(self, case: Case) -> list[str]:
        ended = await self.world.finished(self.rebuild)
        deletions = await self.world.column(
            "SELECT id FROM operations WHERE cluster_id = :id AND kind = 'cluster.delete'", id=self.cluster
        )
        for deletion in deletions:
            await self.world.succeeded(deletion)
        row = await self.world.one("SELECT state, image FROM clusters WHERE id = :id", id=self.cluster)
        servers = await self.world.column("SELECT state FROM poplar_servers WHERE cluster_id = :id", id=self.cluster)
        billed = "SELECT count(*) FROM usage_intervals WHERE resource_id = :id"
        minutes = await self.world.value(billed, id=self.cluster)
        actual = (ended.state, (ended.error or {}).get("code"), row.state, list(servers), minutes, self.done)
        expected = {
            "delete": ("failed", "preempted", "deleted", ["deleted"], 1, True),
            "cancel": ("cancelled", None, "active", ["running"], 2, True),
        }[self.request]
        wrong = [] if actual == expected else [f"{case}: {actual}, not {expected}"]
        if self.request == "cancel":
            wrong += [f"{case}: {each}" for each in self._between(row.image)]
        return wrong

    def _between(self, image: str) -> Sequence[str]:
        """The server is as it was, or as asked; and so is what the cluster says of it."""
        host = host_of(self.world, self.host)
        written = host["boot_id"] != self.boot
        if host["state"] != "running" or host["server"]["image"] != image:
            return [f"the cluster has {image}, and its server {host['server']['image']} is {host['state']}"]
        return [] if image == (OTHER_IMAGE if written else IMAGE) else [f"{image}, and written: {written}"]


def host_of(world: SiteWorld, host: str) -> dict[str, Any]:
    document: dict[str, Any] = world.http.get(f"/v1/hosts/{host}").json()
    return document


async def begin(world: SiteWorld, cluster: UUID, case: Case) -> Trial:
    _, _, request, trouble = case
    host = await world.value(
        "SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id WHERE a.cluster_id = :id", id=cluster
    )
    if trouble == "lost":
        world.fault(call="hosts.rebuild", target=host, action="drop_answer", times=1)
    elif trouble == "refused":
        world.fault(call="hosts.rebuild", target=host, action="status", status=422, times=1)
    boot = host_of(world, host)["boot_id"]
    return Trial(world, request, cluster, host, boot, await world.rebuild(cluster, image=OTHER_IMAGE))


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, figures: Callable[..., None]) -> None:
    creations: Sequence[Accepted] = [await world.create(f"c{number}") for number, _ in enumerate(CASES)]
    async with watched_worker(world, {}):
        for each in creations:
            await world.succeeded(each)
    trials = [await begin(world, each.target_id, case) for case, each in zip(CASES, creations, strict=True)]
    plans: dict[UUID, dict[Boundary, Callable[[], Awaitable[None]]]] = {
        trial.cluster: {(step, moment): trial.act} for trial, (step, moment, *_) in zip(trials, CASES, strict=True)
    }
    async with watched_worker(world, plans):
        results = await asyncio.gather(*(trial.wrong(case) for trial, case in zip(trials, CASES, strict=True)))
        world.clear_faults()
        await world.delete_all()
    await world.assert_nothing_left()
    figures(cases=len(CASES))
    wrong = [line for lines in results for line in lines]
    if wrong:
        pytest.fail("\n".join(wrong))
