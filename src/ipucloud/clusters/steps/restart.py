"""The steps that restart Poplar servers in use, each at most once for an operation.

The boot of each server is recorded before anything is requested. A request names it, and the site refuses it after
another start; so it may be repeated after an unknown outcome, and a late copy does nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ipucloud.clusters.inputs import ClusterInputs, HostInput
from ipucloud.clusters.steps.faulty import silent
from ipucloud.clusters.steps.poplar_servers import ServerObservation, answering, observed
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.site.ports import Site, SiteError
from ipucloud.wire.site import Host, HostState

SETTLED_AFTER = 900.0
"""Seconds that the end of a cancelled or failed restart waits for servers that start; then observation judges them."""


@dataclass(frozen=True, slots=True)
class Boots(Achieved):
    """The boot of each server that is to be restarted, by its number."""

    ids: Mapping[int, str]


async def note_boots(site: Site, cluster: ClusterInputs) -> StepResult:
    chosen = _chosen(cluster)
    hosts = await asyncio.gather(*(site.hosts.get(host.name) for host in chosen.hosts), return_exceptions=True)
    unanswered = await silent(site, chosen, "host", zip((host.name for host in chosen.hosts), hosts, strict=True))
    if unanswered is not None:
        return unanswered
    boots: dict[int, str] = {}
    for target, host in zip(chosen.hosts, hosts, strict=True):
        if not isinstance(host, Host):
            continue
        if host.server is None or host.server.name != target.server_name:
            return Failed(f"Poplar server {target.server_name} is no longer on host {target.name}", final=True)
        if host.state is HostState.FAILED:
            return Failed(f"host {target.name} failed; a restart does not help, a repair takes another", final=True)
        if host.boot_id is None:
            return Failed(f"host {target.name} does not show its boots: it could be restarted twice", final=True)
        boots[target.ordinal] = host.boot_id
    return Boots(boots)


async def reboot_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    return await _restart_all(site, cluster, hard=False)


async def power_cycle_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    return await _restart_all(site, cluster, hard=True)


async def _restart_all(site: Site, cluster: ClusterInputs, *, hard: bool) -> StepResult:
    chosen = _chosen(cluster)
    restarting = (_restarted(site, chosen, host, hard=hard) for host in chosen.hosts)
    return await observed(site, chosen, await asyncio.gather(*restarting, return_exceptions=True))


async def _restarted(
    site: Site, cluster: ClusterInputs, target: HostInput, *, hard: bool
) -> ServerObservation | StepResult:
    host = await site.hosts.get(target.name)
    if host.server is None or host.server.name != target.server_name:
        return Failed(f"Poplar server {target.server_name} is no longer on host {target.name}", final=True)
    if target.boot_before is None:
        return Failed(f"the boot of Poplar server {target.server_name} was not recorded", final=True)
    if host.boot_id == target.boot_before and host.state is not HostState.FAILED:
        host = await site.hosts.restart(
            target.name, target.server_name, cluster.external_name, boot_id=target.boot_before, hard=hard
        )
    if host.boot_id == target.boot_before and host.state is not HostState.FAILED:
        return Pending(f"waiting for host {target.name} to restart")
    return await answering(site, target, host)


async def settle_servers(site: Site, cluster: ClusterInputs) -> StepResult:
    """Wait until no request can restart a server any more, and those that start have started."""
    since = cluster.operation.step.running_for
    for target in _chosen(cluster).hosts:
        if target.boot_before is None:
            continue
        try:
            host = await site.hosts.get(target.name)
        except SiteError:
            if since < max(SETTLED_AFTER, cluster.request_life):
                raise
            continue  # it is watched like the server of any other host that does not answer
        if host.boot_id == target.boot_before and since < cluster.request_life:
            return Pending(f"waiting until host {target.name} can no longer get an earlier request")
        if host.state is HostState.BOOTING and since < SETTLED_AFTER:
            return Pending(f"booting the Poplar server on host {target.name}")
    return Achieved()


def _chosen(cluster: ClusterInputs) -> ClusterInputs:
    return replace(cluster, hosts=tuple(host for host in cluster.hosts if host.restarting))
