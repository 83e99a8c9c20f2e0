"""Bugs in restarts of Poplar servers."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack
from unittest import mock

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.operations.restart import POWER_CYCLE, REBOOT
from ipucloud.clusters.steps import restart
from ipucloud.clusters.steps.poplar_servers import ServerObservation
from ipucloud.operations.results import StepResult
from ipucloud.site.ports import Site
from tests.sim import swarm
from tests.sim.mutants.clusters import step_does
from tests.sim.mutants.planting import mutant, replace


def _restarted(stack: ExitStack) -> None:
    """By every customer who uses a cluster, so that few histories are needed."""
    replace(stack, swarm, "RESTARTED", (1.0,))


@mutant("a restart is sent again after an unknown outcome, for whatever boot the server is in by then")
def restarted_again(stack: ExitStack) -> None:
    _restarted(stack)
    honest = restart._restarted

    async def again(
        site: Site, cluster: ClusterInputs, host: HostInput, *, hard: bool
    ) -> ServerObservation | StepResult:
        if cluster.operation.step.attempts and host.boot_before is not None:
            host = dataclasses.replace(host, boot_before=(await site.hosts.get(host.name)).boot_id)
        return await honest(site, cluster, host, hard=hard)

    replace(stack, restart, "_restarted", again)


@mutant("a cancelled restart ends while its request can still take effect")
def cancelled_too_early(stack: ExitStack) -> None:
    _restarted(stack)
    honest = restart.settle_servers

    async def at_once(site: Site, cluster: ClusterInputs) -> StepResult:
        return await honest(site, dataclasses.replace(cluster, request_life=0.0))

    step_does(stack, "settle_servers", at_once)


@mutant("a server whose restart was cancelled is said to restart for ever")
def restarts_for_ever(stack: ExitStack) -> None:
    _restarted(stack)
    for kind in (REBOOT, POWER_CYCLE):
        key = (True, "settle_servers")
        forgetful = dataclasses.replace(kind._by_name[key], on_success=None)
        stack.enter_context(mock.patch.dict(kind._by_name, {key: forgetful}))
