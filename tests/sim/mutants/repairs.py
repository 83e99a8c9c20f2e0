"""Bugs in repairs by other hardware, and in resizes of clusters."""

from __future__ import annotations

import dataclasses
from functools import partial
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.operations import replace as repairs
from ipucloud.clusters.operations import resize
from ipucloud.clusters.steps import build, poplar_servers
from ipucloud.clusters.steps.cleaning import Progress
from ipucloud.inventory.release import free
from ipucloud.inventory.resizing import ResizePart
from ipucloud.quotas import store as quotas
from ipucloud.site.ports import Site
from tests.sim.mutants.planting import Mutant, answers

_repairing = partial(Mutant, weather={"REPAIRED": (1.0,)})
_resizing = partial(Mutant, weather={"RESIZED": (1.0,)})

repair_is_billed = _repairing("a cluster is billed while it is repaired").replace(repairs, "end_billing", answers(None))


@_repairing("a repair makes one partition with all IPUs, whatever the customer had").wraps(build, "_partitions")
def repair_loses_partitions(honest: Any, cluster: ClusterInputs) -> Any:
    return honest(dataclasses.replace(cluster, kept_partitions=None))


@_repairing("a host that a repair replaces is given back with the server's disk").wraps(poplar_servers, "_wiped")
async def replaced_host_not_wiped(_honest: object, site: Site, host: HostInput) -> Progress:
    observed = await site.hosts.get(host.name)
    return Progress(observed.server is None or observed.state in poplar_servers._OFF)


@Mutant(
    "a resize gives the machines of the former size back before the new size works",
    "tests/proof/test_resize_boundaries.py",
).wraps(resize, "number_machines")
async def resize_gives_back_too_early(
    honest: Any, connection: AsyncConnection, idle: ResizePart, *, project_id: UUID, cluster_id: UUID
) -> None:
    await honest(connection, idle, project_id=project_id, cluster_id=cluster_id)
    if idle is ResizePart.LEAVES:
        await free(connection, project_id=project_id, cluster_id=cluster_id, validated=False)


resize_is_billed = _resizing("a cluster is billed while it is resized").replace(resize, "end_billing", answers(None))

resize_keeps_the_quota = _resizing("a resize forgets what the quota counted for its other size").replace(
    resize, "quotas", SimpleNamespace(take=quotas.consume, give_back=answers(None))
)

undone_resize_changes_the_size = Mutant(
    "a resize that is undone leaves the cluster with the flavor of its new size",
    "tests/worker/test_resize.py -k restores_the_former_size",
).replace(resize, "_BACK", sa.text("SELECT :project_id, :operation_id"))
