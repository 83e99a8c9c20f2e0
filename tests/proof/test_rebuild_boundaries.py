"""Cancel and delete at every boundary of a rebuild, in peace and in trouble: as it was or as asked, never between."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest

from ipucloud.clusters.operations.rebuild import REBUILD
from tests.proof.boundaries import Moment, Trial, all_right, differs, host_of, in_use, side_by_side, trouble
from tests.support.catalogues import OTHER_IMAGE, with_other_image
from tests.support.selection import Figures
from tests.support.site import SECURE
from tests.support.world import IMAGE, SiteWorld
from tests.support.world.customer import REGION

pytestmark = pytest.mark.anyio

SITE = {"machines": 32, "options": SECURE}
REQUESTS = ("cancel", "delete")
CASES = (
    *itertools.product((step.name for step in REBUILD.steps), Moment, REQUESTS, ("none",)),
    *itertools.product(("rebuild_servers",), (Moment.LOADED, Moment.ACTED), REQUESTS, ("lost", "refused")),
)


@dataclass
class Rebuild(Trial):
    """`boot`: of its server, before."""

    boot: str

    async def judge(self, end: tuple[str, str | None, str], cluster: Any, billed: Sequence[int]) -> Sequence[str]:
        servers = await self.world.column("SELECT state FROM poplar_servers WHERE cluster_id = :id", id=self.cluster)
        expected = {
            "delete": ("failed", "preempted", "deleted", ["deleted"], [1]),
            "cancel": ("cancelled", None, "active", ["running"], [1, 1]),
        }[self.request]
        wrong = differs((*end, servers, billed), expected)
        return wrong + await self._between(cluster.image) if self.request == "cancel" else wrong

    async def _between(self, image: str) -> list[str]:
        """The server is as it was, or as asked; and so is what the cluster says of it."""
        host = await host_of(self.world, self.cluster)
        written = host["boot_id"] != self.boot
        if host["state"] != "running" or host["server"]["image"] != image:
            return [f"the cluster has {image}, and its server {host['server']['image']} is {host['state']}"]
        return [] if image == (OTHER_IMAGE if written else IMAGE) else [f"{image}, and written: {written}"]


@pytest.mark.sample(3)
async def test_every_boundary(world: SiteWorld, figures: Figures) -> None:
    world.catalogue = with_other_image(world.catalogue, REGION)
    trials = []
    clusters = await in_use(world, ["m2000-pod4"] * len(CASES))
    for cluster, (step, moment, request, what) in zip(clusters, CASES, strict=True):
        host = await host_of(world, cluster)
        trouble(world, what, "hosts.rebuild", host["name"])
        rebuild = await world.rebuild(cluster, image=OTHER_IMAGE)
        trials.append(Rebuild(world, step, moment, request, rebuild, host["boot_id"]))
    wrong = await side_by_side(world, trials)
    figures(cases=len(CASES))
    all_right(wrong)
