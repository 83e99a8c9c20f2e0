"""Cancel and delete at every boundary of a reboot, in peace and in trouble: the cluster stays as it was."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

import pytest

from ipucloud.clusters.operations.restart import REBOOT
from ipucloud.operations.store import Accepted
from tests.proof.boundaries import Boundary, Moment, watched_worker
from tests.support.site import SECURE, RunningSite, running_site
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

Request = Literal["cancel", "delete"]
Trouble = Literal["none", "lost", "refused"]
Case = tuple[str, Moment, Request, Trouble]
REQUESTS: tuple[Request, ...] = ("cancel", "delete")
PEACE: tuple[Trouble, ...] = ("none",)
TROUBLES: tuple[Trouble, ...] = ("lost", "refused")
CASES: tuple[Case, ...] = (
    *itertools.product((step.name for step in REBOOT.steps), Moment, REQUESTS, PEACE),
    *itertools.product(("reboot_servers",), (Moment.LOADED, Moment.ACTED), REQUESTS, TROUBLES),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=32, options=SECURE) as site:
        yield site


@dataclass
class Trial:
    """One cluster, and what is requested at which boundary of its reboot."""

    world: SiteWorld
    request: Request
    cluster: UUID
    host: str
    boot: str
    reboot: Accepted
    done: bool = False

    async def act(self) -> None:
        self.done = True
        if self.request == "delete":
            await self.world.delete(self.cluster)
        else:
            assert await self.world.cancel(self.reboot)

    async def wrong(self, case: Case) -> list[str]:
        ended = await self.world.finished(self.reboot)
        deletions = await self.world.column(
            "SELECT id FROM operations WHERE cluster_id = :id AND kind = 'cluster.delete'", id=self.cluster
        )
        for deletion in deletions:
            await self.world.succeeded(deletion)
        state = await self.world.value("SELECT state FROM clusters WHERE id = :id", id=self.cluster)
        servers = await self.world.column(
            "SELECT state FROM poplar_servers WHERE cluster_id = :id AND boot_before IS NULL", id=self.cluster
        )
        billed = "SELECT count(*) FROM usage_intervals WHERE resource_id = :id"
        minutes = await self.world.value(billed, id=self.cluster)
        actual = (ended.state, (ended.error or {}).get("code"), state, list(servers), minutes, self.done)
        expected = {
            "delete": ("failed", "preempted", "deleted", ["deleted"], 1, True),
            "cancel": ("cancelled", None, "active", ["running"], 1, True),
        }[self.request]
        wrong = [] if actual == expected else [f"{case}: {actual}, not {expected}"]
        if case[0] == "note_boots" and self.request == "cancel" and boot_of(self.world, self.host) != self.boot:
            wrong.append(f"{case}: the server was restarted")
        return wrong


def boot_of(world: SiteWorld, host: str) -> str:
    boot: str = world.http.get(f"/v1/hosts/{host}").json()["boot_id"]
    return boot


async def begin(world: SiteWorld, cluster: UUID, case: Case) -> Trial:
    _, _, request, trouble = case
    host = await world.value(
        "SELECT h.name FROM hosts h JOIN allocations a ON a.host_id = h.id WHERE a.cluster_id = :id", id=cluster
    )
    if trouble == "lost":
        world.fault(call="hosts.power", target=host, action="drop_answer", times=1)
    elif trouble == "refused":
        world.fault(call="hosts.power", target=host, action="status", status=422, times=1)
    return Trial(world, request, cluster, host, boot_of(world, host), await world.restart(cluster))


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
