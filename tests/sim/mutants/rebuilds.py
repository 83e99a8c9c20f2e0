"""Bugs in rebuilds of Poplar servers, and in changes of their keys."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from unittest import mock

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.operations import rebuild as operation
from ipucloud.clusters.operations.rebuild import REBUILD
from ipucloud.clusters.steps import rebuild
from ipucloud.clusters.steps.poplar_servers import KeysAnswer, ServerObservation
from ipucloud.operations.results import Achieved, StepResult
from ipucloud.site.ports import Site
from tests.sim import swarm
from tests.sim.faults import SiteFault
from tests.sim.mutants.clusters import step_does
from tests.sim.mutants.planting import mutant, replace, rewrite


def _rebuilt(stack: ExitStack) -> None:
    """By every customer who uses a cluster, so that few histories are needed."""
    replace(stack, swarm, "REBUILT", (1.0,))


@mutant("a rebuild is sent again after an unknown outcome, under the next generation")
def rebuilt_again(stack: ExitStack) -> None:
    _rebuilt(stack)
    honest = rebuild._rebuilt

    async def again(site: Site, cluster: ClusterInputs, host: HostInput) -> ServerObservation | StepResult:
        if cluster.operation.step.attempts:
            server = (await site.hosts.get(host.name)).server
            present = host.generation if server is None else server.generation
            host = dataclasses.replace(host, generation=present + 1)
        return await honest(site, cluster, host)

    replace(stack, rebuild, "_rebuilt", again)


@mutant("a cancelled rebuild ends while its request can still take effect")
def rebuild_cancelled_too_early(stack: ExitStack) -> None:
    _rebuilt(stack)
    # A request that arrives after its cancellation is rare.
    replace(stack, swarm, "_CHANGES", swarm._CHANGES | {SiteFault.GHOST: 0.6})
    honest = rebuild.settle_rebuild

    async def at_once(site: Site, cluster: ClusterInputs) -> StepResult:
        return await honest(site, dataclasses.replace(cluster, request_life=0.0))

    step_does(stack, "settle_rebuild", at_once)


@mutant("a server whose rebuild was cancelled is said to be written for ever")
def rebuilds_for_ever(stack: ExitStack) -> None:
    _rebuilt(stack)
    key = (True, "settle_rebuild")
    forgetful = dataclasses.replace(REBUILD._by_name[key], on_success=None)
    stack.enter_context(mock.patch.dict(REBUILD._by_name, {key: forgetful}))


@mutant("a rebuild wipes disks that were to be kept")
def kept_disk_wiped(stack: ExitStack) -> None:
    _rebuilt(stack)
    honest = rebuild._rebuilt

    async def wiping(site: Site, cluster: ClusterInputs, host: HostInput) -> ServerObservation | StepResult:
        if cluster.rebuild is not None:
            cluster = dataclasses.replace(cluster, rebuild=dataclasses.replace(cluster.rebuild, disk="wipe"))
        return await honest(site, cluster, host)

    replace(stack, rebuild, "_rebuilt", wiping)


@mutant("a cluster is billed while all of its servers are written")
def rebuilt_and_billed(stack: ExitStack) -> None:
    _rebuilt(stack)

    async def not_ended(connection: AsyncConnection, cluster: LockedCluster) -> None:
        """Billing goes on."""

    replace(stack, operation, "end_billing", not_ended)


@mutant("a rebuild is said to be done that was never requested")
def generation_not_counted(stack: ExitStack) -> None:
    _rebuilt(stack)
    rewrite(stack, operation, "_BEGIN", ("generation + 1", "generation"))


@mutant(
    "after a cancelled rebuild that was finished, the cluster has the image from before",
    directed="tests/proof/test_rebuild_boundaries.py",
)
def image_from_before(stack: ExitStack) -> None:
    key = (True, "settle_rebuild")

    async def forgetful(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
        await connection.execute(operation._SETTLE, operation._ids(cluster))

    changed = dataclasses.replace(REBUILD._by_name[key], on_success=forgetful)
    stack.enter_context(mock.patch.dict(REBUILD._by_name, {key: changed}))


@mutant("keys are said to be on the servers before they are")
def keys_not_sent(stack: ExitStack) -> None:
    _rebuilt(stack)

    async def believed(site: Site, cluster: ClusterInputs) -> StepResult:  # every step's signature
        return KeysAnswer(tuple(host.ordinal for host in cluster.hosts))

    step_does(stack, "exchange_ssh_keys", believed)
