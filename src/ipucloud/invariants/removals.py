"""Repairs that remove an object at a site. Each can be repeated, and returns whether the object is gone."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.invariants.rules import Refused, SiteRemoval, Violation
from ipucloud.site.ports import Site, Sites, VipuAddress
from ipucloud.wire.site import HostState


async def remove(
    sites: Sites, controllers: Sequence[VipuAddress], removal: SiteRemoval, violation: Violation, *, call_timeout: float
) -> bool:
    """Apply a removal in a region with these controllers; what one of them does not have is gone there at once."""
    at_each = [sites.at(each, lambda: call_timeout) for each in controllers or (None,)]
    return all([await removal.run(site, violation) for site in at_each])


async def _allocation(site: Site, violation: Violation) -> bool:
    name = violation.object_id
    if await site.vipu.list_partitions(name):
        await site.vipu.remove_partitions(name)
        if await site.vipu.list_partitions(name):
            return False
    await site.vipu.remove_allocation(name)
    return await site.vipu.allocation(name) is None


async def _network(site: Site, violation: Violation) -> bool:
    await site.networks.delete(violation.object_id)
    return await site.networks.get(violation.object_id) is None


async def _server(site: Site, violation: Violation) -> bool:
    if violation.host is None:
        raise Refused("The host of the server is unknown.")
    host = await site.hosts.get(violation.host)
    if host.server is None:
        return host.state is HostState.CLEAN
    if host.server.name != violation.object_id:
        raise Refused("The host has another server now.")
    if host.state is not HostState.WIPING:
        await site.hosts.delete_server(violation.host, violation.object_id)
        host = await site.hosts.get(violation.host)
    return host.server is None and host.state is HostState.CLEAN


async def _switched_off(site: Site, violation: Violation) -> bool:
    """The network of the name that the server has is gone while its cluster is suspended; a resume makes another."""
    if violation.host is None:
        raise Refused("The host of the server is unknown.")
    host = await site.hosts.get(violation.host)
    if host.server is None or host.server.name != violation.object_id:
        raise Refused("The host has another server now.")
    if host.state not in _OFF:
        if await site.networks.get(host.server.network) is not None:
            raise Refused("Its cluster is in use again.")
        host = await site.hosts.switch_off(violation.host, violation.object_id, host.server.network)
    return host.state in _OFF


_OFF = frozenset({HostState.OFF, HostState.FAILED})
remove_allocation = SiteRemoval("removes the V-IPU allocation and its partitions", _allocation)
remove_network = SiteRemoval("removes the tenant network", _network)
remove_server = SiteRemoval("wipes the server from its host", _server)
switch_off_server = SiteRemoval("switches the server off", _switched_off)
