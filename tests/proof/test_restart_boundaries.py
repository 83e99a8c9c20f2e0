"""Cancel and delete at every boundary of a reboot, in peace and in trouble: the cluster stays as it was."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ipucloud.clusters.operations.restart import REBOOT
from tests.proof.boundaries import Moment, Trial, all_right, differs, host_of, in_use, side_by_side, trouble
from tests.support.selection import Figures
from tests.support.site import SECURE
from tests.support.world import SiteWorld

pytestmark = pytest.mark.anyio

SITE = {"machines": 32, "options": SECURE}
REQUESTS = ("cancel", "delete")
CASES = (
    *itertools.product((step.name for step in REBOOT.steps), Moment, REQUESTS, ("none",)),
    *itertools.product(("reboot_servers",), (Moment.LOADED, Moment.ACTED), REQUESTS, ("lost", "refused")),
)


@dataclass
class Reboot(Trial):
    """`boot`: of its server, before."""

    boot: str

    async def judge(self, end: tuple[str, str | None, str], cluster: Any, billed: Sequence[int]) -> Sequence[str]:
        servers = await self.world.column(
            "SELECT state FROM poplar_servers WHERE cluster_id = :id AND boot_before IS NULL", id=self.cluster
        )
        expected = {
            "delete": ("failed", "preempted", "deleted", ["deleted"], [1]),
            "cancel": ("cancelled", None, "active", ["running"], [1]),
        }[self.request]
        wrong = differs((*end, servers, billed), expected)
        if self.step == "note_boots" and self.request == "cancel":
            wrong += differs((await host_of(self.world, self.cluster))["boot_id"], self.boot)
        return wrong


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, figures: Figures) -> None:
    trials = []
    clusters = await in_use(world, ["m2000-pod4"] * len(CASES))
    for cluster, (step, moment, request, what) in zip(clusters, CASES, strict=True):
        host = await host_of(world, cluster)
        trouble(world, what, "hosts.power", host["name"])
        trials.append(Reboot(world, step, moment, request, await world.restart(cluster), host["boot_id"]))
    wrong = await side_by_side(world, trials)
    figures(cases=len(CASES))
    all_right(wrong)
