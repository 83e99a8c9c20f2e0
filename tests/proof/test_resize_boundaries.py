"""Requests at every boundary of a resize: a delete replaces it, a cancellation restores the former size.

One cluster of each pair grows where it is, the other moves to another block; half of them shrink.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ipucloud.clusters.operations.resize import RESIZE
from tests.proof.boundaries import Moment, Trial, all_right, differs, in_use, side_by_side
from tests.support.selection import Figures
from tests.support.site import SECURE
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 64, "options": SECURE}
BATCH = 10
REQUESTS = ("cancel", "delete", "resize")
SIZES = {"m2000-pod4": 1, "m2000-pod8": 2}
OTHER = {"m2000-pod4": "m2000-pod8", "m2000-pod8": "m2000-pod4"}


@dataclass
class Resize(Trial):
    """From its `former` flavor to the other one."""

    former: str

    async def ask(self) -> None:
        if self.request == "cancel":
            await super().ask()
        else:
            assert await self.world.resize(self.cluster, OTHER[self.former], if_match=1) == self.operation

    async def judge(self, end: tuple[str, str | None, str], cluster: Any, billed: Sequence[int]) -> Sequence[str]:
        held = await self.world.value(
            "SELECT count(machine_id) FROM allocations WHERE cluster_id = :id AND freed_at IS NULL", id=self.cluster
        )
        flavor = cluster.flavor if cluster.state == "active" else None
        former, latter = SIZES[self.former], SIZES[OTHER[self.former]]
        expected = {
            "delete": ("failed", "preempted", "deleted", None, 0, [former]),
            "cancel": ("cancelled", None, "active", self.former, former, [former, former]),
            "resize": ("succeeded", None, "active", OTHER[self.former], latter, [former, latter]),
        }[self.request]
        return differs((*end, flavor, held, billed), expected)


async def go_through(world: SiteWorld, cases: Sequence[tuple[str, Moment, str]]) -> list[str]:
    """All cases side by side."""
    flavors = [("m2000-pod4", "m2000-pod8", "m2000-pod4")[number % 3] for number, _ in enumerate(cases)]
    trials = []
    for cluster, former, case in zip(await in_use(world, flavors), flavors, cases, strict=True):
        trials.append(Resize(world, *case, await world.resize(cluster, OTHER[former]), former))
    return await side_by_side(world, trials)


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, full: bool, figures: Figures) -> None:
    cases = list(itertools.product([step.name for step in RESIZE.steps], Moment, REQUESTS))
    chosen = cases if full else cases[::11]
    wrong: list[str] = []
    for start in range(0, len(chosen), BATCH):
        wrong += await go_through(world, chosen[start : start + BATCH])
    figures(cases=len(chosen), of=len(cases))
    all_right(wrong)
