"""Bugs in restarts and rebuilds of Poplar servers, and in changes of their keys."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.operations import rebuild as operation
from ipucloud.clusters.steps import rebuild, restart
from ipucloud.clusters.steps.poplar_servers import KeysAnswer
from ipucloud.operations.results import Achieved, StepResult
from ipucloud.site.ports import Site
from tests.sim import swarm
from tests.sim.faults import SiteFault
from tests.sim.mutants.planting import Mutant, answers

_restarting = partial(Mutant, weather={"RESTARTED": (1.0,)})
_REBUILT: dict[str, object] = {"REBUILT": (1.0,)}
_rebuilding = partial(Mutant, weather=_REBUILT)


@_restarting("a restart is sent again after an unknown outcome, for whatever boot the server is in by then").wraps(
    restart, "_restarted"
)
async def restarted_again(honest: Any, site: Site, cluster: ClusterInputs, host: HostInput, *, hard: bool) -> Any:
    if cluster.operation.step.attempts and host.boot_before is not None:
        host = dataclasses.replace(host, boot_before=(await site.hosts.get(host.name)).boot_id)
    return await honest(site, cluster, host, hard=hard)


@_restarting("a cancelled restart ends while its request can still take effect").acts("settle_servers")
async def cancelled_too_early(site: Site, cluster: ClusterInputs) -> StepResult:
    return await restart.settle_servers(site, dataclasses.replace(cluster, request_life=0.0))


restarts_for_ever = _restarting("a server whose restart was cancelled is said to restart for ever").step(
    "settle_servers", on_success=None
)


@_rebuilding("a rebuild is sent again after an unknown outcome, under the next generation").wraps(rebuild, "_rebuilt")
async def rebuilt_again(honest: Any, site: Site, cluster: ClusterInputs, host: HostInput) -> Any:
    if cluster.operation.step.attempts:
        server = (await site.hosts.get(host.name)).server
        present = host.generation if server is None else server.generation
        host = dataclasses.replace(host, generation=present + 1)
    return await honest(site, cluster, host)


_MANY_ARRIVE_LATE: dict[str, object] = {"_CHANGES": swarm._CHANGES | {SiteFault.GHOST: 0.6}}
"""A request that arrives after its cancellation is rare."""


@Mutant("a cancelled rebuild ends while its request can still take effect", weather=_REBUILT | _MANY_ARRIVE_LATE).acts(
    "settle_rebuild"
)
async def rebuild_cancelled_too_early(site: Site, cluster: ClusterInputs) -> StepResult:
    return await rebuild.settle_rebuild(site, dataclasses.replace(cluster, request_life=0.0))


rebuilds_for_ever = _rebuilding("a server whose rebuild was cancelled is said to be written for ever").step(
    "settle_rebuild", on_success=None
)


@_rebuilding("a rebuild wipes disks that were to be kept").wraps(rebuild, "_rebuilt")
async def kept_disk_wiped(honest: Any, site: Site, cluster: ClusterInputs, host: HostInput) -> Any:
    if cluster.rebuild is not None:
        cluster = dataclasses.replace(cluster, rebuild=dataclasses.replace(cluster.rebuild, disk="wipe"))
    return await honest(site, cluster, host)


rebuilt_and_billed = _rebuilding("a cluster is billed while all of its servers are written").replace(
    operation, "end_billing", answers(None)
)

generation_not_counted = _rebuilding("a rebuild is said to be done that was never requested").rewrite(
    operation, "_BEGIN", ("generation + 1", "generation")
)


async def _forget_image(connection: AsyncConnection, cluster: ClusterInputs, _: Achieved) -> None:
    await connection.execute(operation._SETTLE, operation._ids(cluster))


image_from_before = Mutant(
    "after a cancelled rebuild that was finished, the cluster has the image from before",
    "tests/proof/test_rebuild_boundaries.py",
).step("settle_rebuild", on_success=_forget_image)


@_rebuilding("keys are said to be on the servers before they are").acts("exchange_ssh_keys")
async def keys_not_sent(site: Site, cluster: ClusterInputs) -> StepResult:
    return KeysAnswer(tuple(host.ordinal for host in cluster.hosts))
