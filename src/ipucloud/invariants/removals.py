"""Repairs that remove an object at a site. Each can be repeated, and returns whether the object is gone."""

from __future__ import annotations

from ipucloud.invariants.rules import Refused, SiteRemoval, Violation
from ipucloud.site.ports import Site
from ipucloud.wire.site import HostState


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


remove_allocation = SiteRemoval("removes the V-IPU allocation and its partitions", _allocation)
remove_network = SiteRemoval("removes the tenant network", _network)
remove_server = SiteRemoval("wipes the server from its host", _server)
