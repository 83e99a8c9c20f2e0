"""Requests at every boundary of a repair: a delete replaces it, a cancellation is refused, another repair joins it.

A machine that is drained meanwhile is kept by the cluster, and afterwards from every other one.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from ipucloud.clusters.operations.replace import REPLACE
from ipucloud.inventory.health.codes import Code
from tests.proof.boundaries import Moment, Trial, all_right, differs, in_use, side_by_side
from tests.proof.operators import drain
from tests.support.selection import Figures
from tests.support.site import SECURE
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 64, "options": SECURE}
BATCH = 12
REQUESTS = ("delete", "cancel", "repair", "drain")
HARDWARE = """
SELECT m.name FROM machines m JOIN allocations ON machine_id = m.id WHERE cluster_id = :id AND freed_at IS NULL
UNION ALL SELECT name FROM poplar_servers WHERE cluster_id = :id
"""


class Repair(Trial):
    """Its machine and server are replaced."""

    drained: UUID | None = None

    async def ask(self) -> None:
        if self.request == "drain":
            self.drained = await drain(self.world, self.cluster)
        elif self.request == "cancel":
            assert not await self.world.cancel(self.operation)
        else:
            assert await self.world.replace_hardware(self.cluster, if_match=1) == self.operation

    async def judge(self, end: tuple[str, str | None, str], cluster: Any, billed: Sequence[int]) -> Sequence[str]:
        if await self.world.column("SELECT id FROM machines WHERE id = :id AND allocatable", id=self.drained):
            return ["the machine that was drained is offered"]
        deleted, repaired = ("failed", "preempted", "deleted", [1]), ("succeeded", None, "active", [1, 1])
        return differs((*end, billed), deleted if self.request == "delete" else repaired)


async def go_through(world: SiteWorld, cases: Sequence[tuple[str, Moment, str]]) -> list[str]:
    """All cases side by side."""
    trials = []
    for cluster, case in zip(await in_use(world, ["m2000-pod4"] * len(cases)), cases, strict=True):
        names = await world.column(HARDWARE, id=cluster)
        trials.append(Repair(world, *case, await world.replace_hardware(cluster, *names)))
    return await side_by_side(world, trials, Code.REPLACED, Code.DRAIN)


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, full: bool, figures: Figures) -> None:
    cases = list(itertools.product([step.name for step in REPLACE.steps], Moment, REQUESTS))
    chosen = cases if full else cases[::17]
    wrong: list[str] = []
    for start in range(0, len(chosen), BATCH):
        wrong += await go_through(world, chosen[start : start + BATCH])
    figures(cases=len(chosen), of=len(cases))
    all_right(wrong)
