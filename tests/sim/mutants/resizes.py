"""Bugs in resizes of clusters."""

from __future__ import annotations

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.operations import resize
from ipucloud.inventory import resizing
from ipucloud.inventory.release import free
from ipucloud.inventory.resizing import ResizePart
from ipucloud.quotas import store as quotas
from tests.sim import swarm
from tests.sim.mutants.planting import mutant, replace


def _resized(stack: ExitStack) -> None:
    """By every customer who uses a cluster, so that few histories are needed."""
    replace(stack, swarm, "RESIZED", (1.0,))


@mutant(
    "a resize gives the machines of the former size back before the new size works",
    directed="tests/proof/test_resize_boundaries.py",
)
def resize_gives_back_too_early(stack: ExitStack) -> None:
    honest = resizing.number_machines

    async def early(connection: AsyncConnection, idle: ResizePart, *, project_id: UUID, cluster_id: UUID) -> None:
        await honest(connection, idle, project_id=project_id, cluster_id=cluster_id)
        if idle is ResizePart.LEAVES:
            await free(connection, project_id=project_id, cluster_id=cluster_id, validated=False)

    replace(stack, resize, "number_machines", early)


@mutant("a cluster is billed while it is resized")
def resize_is_billed(stack: ExitStack) -> None:
    _resized(stack)

    async def goes_on(_: AsyncConnection, __: LockedCluster) -> None:
        return None

    replace(stack, resize, "end_billing", goes_on)


@mutant("a resize forgets what the quota counted for its other size")
def resize_keeps_the_quota(stack: ExitStack) -> None:
    _resized(stack)

    async def nothing(*_: Any, **__: Any) -> None:
        return None

    replace(stack, resize, "quotas", SimpleNamespace(take=quotas.take, give_back=nothing))


@mutant(
    "a resize that is undone leaves the cluster with the flavor of its new size",
    directed="tests/worker/test_resize.py -k restores_the_former_size",
)
def undone_resize_changes_the_size(stack: ExitStack) -> None:
    replace(stack, resize, "_BACK", sa.text("SELECT :project_id, :operation_id"))
