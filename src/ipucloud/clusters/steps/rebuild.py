"""The steps that write Poplar servers in use again, each at most once for an operation.

Each server's generation is counted up before anything is requested. A request names it, and the site refuses one that
is not above the server's. So it may be repeated after an unknown outcome, and a late copy does nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.step_objects import listed
from ipucloud.clusters.steps.build import check_ipus
from ipucloud.clusters.steps.faulty import silent
from ipucloud.clusters.steps.poplar_servers import ServerObservation, answering, keys_of, observed, server_spec
from ipucloud.contract.operations import OperationState
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site, SiteError
from ipucloud.site.vipu_ports import PartitionState
from ipucloud.wire.site import Host, HostState

SETTLED_AFTER = 900.0
"""Seconds that the end of a cancelled or failed rebuild waits for servers; then observation judges them."""
COUNTED_WITHIN = 300.0
"""Seconds that a server may take to count its IPUs; longer is not the rebuild's fault, which is done by then."""
_STARTING = frozenset({HostState.DEPLOYING, HostState.BOOTING})


@dataclass(frozen=True, slots=True)
class Settled(Achieved):
    """The end of a rebuild that was cancelled or failed: which servers were written, and how to log in to them."""

    written: tuple[int, ...]
    reachable: tuple[ServerObservation, ...]


async def check_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    """Nothing is requested yet: what cannot be written is found while the cluster is as it was."""
    chosen = _chosen(cluster)
    hosts = await asyncio.gather(*(site.hosts.get(host.name) for host in chosen.hosts), return_exceptions=True)
    unanswered = await silent(site, chosen, "host", zip((host.name for host in chosen.hosts), hosts, strict=True))
    if unanswered is not None:
        return unanswered
    for target, host in zip(chosen.hosts, hosts, strict=True):
        if isinstance(host, Host) and (fault := _fault(target, host)) is not None:
            return fault
    return Achieved()


async def rebuild_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    chosen = _chosen(cluster)
    rebuilding = (_rebuilt(site, chosen, host) for host in chosen.hosts)
    return await observed(site, chosen, await asyncio.gather(*rebuilding, return_exceptions=True))


async def _rebuilt(site: Site, cluster: ClusterInputs, target: HostInput) -> ServerObservation | StepResult:
    host = await site.hosts.get(target.name)
    if (fault := _fault(target, host)) is not None:
        return fault
    if cluster.rebuild is not None and not _is_written(target, host):
        host = await site.hosts.rebuild(target.name, server_spec(cluster, target), disk=cluster.rebuild.disk)
    if not _is_written(target, host):
        return Pending(f"waiting for host {target.name} to write the Poplar server")
    return await answering(site, target, host)


async def count_ipus(site: Site, cluster: ClusterInputs) -> StepResult:
    """As after a create, if the partition that the servers know is there; its customer may have removed it."""
    name = cluster.external_name
    if cluster.vipu is not None:
        status = await site.vipu.partition_status(name, name)
        if status is None or status.state is not PartitionState.ACTIVE:
            return Achieved(note="not counted: the partition that the servers know is not active")
    result = await check_ipus(site, replace(cluster, kept_partitions=None))
    if isinstance(result, Failed) or (isinstance(result, Pending) and _since(cluster) > COUNTED_WITHIN):
        return Achieved(note=f"the servers were written, but {result.detail}")
    return result


async def settle_rebuild(site: Site, cluster: ClusterInputs) -> StepResult:
    """Wait until no request can write a server any more, and those that are being written answer.

    A cancelled rebuild that has begun with one server goes on with the others: a cluster has one image.
    """
    chosen, begun = _chosen(cluster), cluster.rebuild is not None and cluster.rebuild.begun
    if not begun or not chosen.hosts:
        note = "all servers had been written already" if begun else "nothing was written"
        return Settled((), (), note=note)
    if _since(cluster) >= max(SETTLED_AFTER, cluster.request_life):
        return await _judged(site, cluster, chosen.hosts)
    hosts = await asyncio.gather(*(site.hosts.get(host.name) for host in chosen.hosts))
    written = [target for target, host in zip(chosen.hosts, hosts, strict=True) if _is_written(target, host)]
    if written and cluster.operation.state is OperationState.CANCELLING:
        finished = await rebuild_servers(site, cluster)
        if not isinstance(finished, Achieved):
            return finished
        hosts = await asyncio.gather(*(site.hosts.get(host.name) for host in chosen.hosts))
        written = list(chosen.hosts)
    elif len(written) < len(hosts) and _since(cluster) < cluster.request_life:
        return Pending("waiting until the hosts can no longer get an earlier request")
    elif starting := [host.name for host in hosts if host.state in _STARTING]:
        return Pending(f"waiting for the Poplar servers on {listed('host', starting)}")
    return _settled(cluster, chosen.hosts, hosts, written)


async def _judged(site: Site, cluster: ClusterInputs, targets: Sequence[HostInput]) -> Settled:
    """What is known when the time is over; hosts that do not answer are watched like any other."""
    answers = await asyncio.gather(*(site.hosts.get(host.name) for host in targets), return_exceptions=True)
    for answer in answers:
        if isinstance(answer, BaseException) and not isinstance(answer, SiteError):
            raise answer
    pairs = [(each, host) for each, host in zip(targets, answers, strict=True) if isinstance(host, Host)]
    written = [each for each, host in pairs if _is_written(each, host)]
    return _settled(cluster, [each for each, _ in pairs], [host for _, host in pairs], written)


def _settled(
    cluster: ClusterInputs, targets: Sequence[HostInput], hosts: Sequence[Host], written: Sequence[HostInput]
) -> Settled:
    reachable = tuple(
        ServerObservation(each.ordinal, host.ssh, () if host.server is None else keys_of(host.server))
        for each, host in zip(targets, hosts, strict=True)
        if host.ssh is not None and each in written
    )
    lost = "" if cluster.rebuild is None else f" (disk: {cluster.rebuild.disk})"
    names = ", ".join(each.server_name for each in written)
    note = f"rebuilt all the same{lost}: {names}" if written else "nothing was written"
    return Settled(tuple(each.ordinal for each in written), reachable, note=note)


def _fault(target: HostInput, host: Host) -> Failed | None:
    if host.server is None or host.server.name != target.server_name:
        return Failed(f"Poplar server {target.server_name} is no longer on host {target.name}", final=True)
    if host.state is HostState.FAILED:
        return Failed(f"host {target.name} failed; a rebuild does not help, a repair takes another", final=True)
    return None


def _is_written(target: HostInput, host: Host) -> bool:
    ours = host.server is not None and host.server.name == target.server_name
    return ours and host.server is not None and host.server.generation >= target.generation


def _since(cluster: ClusterInputs) -> float:
    return cluster.operation.step.running_for


def _chosen(cluster: ClusterInputs) -> ClusterInputs:
    return replace(cluster, hosts=tuple(host for host in cluster.hosts if host.rebuilding))
