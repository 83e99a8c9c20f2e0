"""Bugs in repairs by other hardware."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.operations import replace as repairs
from ipucloud.clusters.steps import build, poplar_servers
from ipucloud.clusters.steps.cleaning import Progress
from ipucloud.site.ports import Site
from ipucloud.site.vipu_ports import PartitionRequest
from tests.sim import swarm
from tests.sim.mutants.planting import mutant, replace


def _repaired(stack: ExitStack) -> None:
    """By every customer who uses a cluster, so that few histories are needed."""
    replace(stack, swarm, "REPAIRED", (1.0,))


async def _nothing(*_: object, **__: object) -> None:
    return None


@mutant("a cluster is billed while it is repaired")
def repair_is_billed(stack: ExitStack) -> None:
    _repaired(stack)
    replace(stack, repairs, "end_billing", _nothing)


@mutant("a repair makes one partition with all IPUs, whatever the customer had")
def repair_loses_partitions(stack: ExitStack) -> None:
    _repaired(stack)
    honest = build._partitions

    def whole(cluster: ClusterInputs) -> list[PartitionRequest]:
        return honest(dataclasses.replace(cluster, kept_partitions=None))

    replace(stack, build, "_partitions", whole)


@mutant("a host that a repair replaces is given back with the server's disk")
def replaced_host_not_wiped(stack: ExitStack) -> None:
    _repaired(stack)

    async def off(site: Site, host: HostInput) -> Progress:
        observed = await site.hosts.get(host.name)
        return Progress(observed.server is None or observed.state in poplar_servers._OFF)

    replace(stack, poplar_servers, "_wiped", off)
