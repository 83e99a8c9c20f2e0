"""What exists at the sites."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from ipucloud.site.ports import Allocation, Partition, Sites, VipuAddress
from ipucloud.site.users import users_with_allocation
from ipucloud.wire.site import Host, Network


@dataclass(frozen=True)
class RegionCensus:
    """Everything that a site has built in one region, by name, and the names of the hardware that it lists there.

    Partitions are by allocation and id. `users`: those who see the allocation of their name; None: the region's
    controllers have no users.
    """

    region: str
    allocations: Mapping[str, Allocation]
    users: frozenset[str] | None
    partitions: Mapping[tuple[str, str], Partition]
    networks: Mapping[str, Network]
    hosts: Mapping[str, Host]
    hardware: frozenset[str]

    @cached_property
    def occupied(self) -> frozenset[str]:
        """The allocations that have partitions."""
        return frozenset(allocation for allocation, _ in self.partitions)


async def take_census(
    sites: Sites, regions: Mapping[str, Sequence[VipuAddress]], call_timeout: float
) -> list[RegionCensus]:
    """Fetch every list once. Raises SiteError: in an incomplete census, existing objects would appear to be missing."""
    inventory = await sites.inventory()
    listed = {
        region.region: frozenset(
            [machine.name for pod in region.pods for machine in pod.machines] + [host.name for host in region.hosts]
        )
        for region in inventory.regions
    }
    return list(
        await asyncio.gather(
            *(
                _region(sites, region, controllers, listed.get(region, frozenset()), call_timeout)
                for region, controllers in sorted(regions.items())
            )
        )
    )


async def _region(
    sites: Sites, region: str, controllers: Sequence[VipuAddress], hardware: frozenset[str], call_timeout: float
) -> RegionCensus:
    site = sites.at(None, lambda: call_timeout)
    vipus = [sites.at(each, lambda: call_timeout).vipu for each in controllers]
    allocations, users, partitions, networks, hosts = await asyncio.gather(
        asyncio.gather(*(each.list_allocations("") for each in vipus)),
        asyncio.gather(*(users_with_allocation(*each) for each in zip(vipus, controllers, strict=True))),
        asyncio.gather(*(each.all_partitions() for each in vipus)),
        site.networks.list(region),
        site.hosts.list(region),
    )
    return RegionCensus(
        region,
        {each.id: each for found in allocations for each in found},
        frozenset(each for found in users for each in found or ())
        if any(each.secure for each in controllers)
        else None,
        {(each.allocation_id, each.id): each for found in partitions for each in found},
        {each.name: each for each in networks},
        {each.name: each for each in hosts},
        hardware,
    )
