"""What exists at the sites."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ipucloud.site.ports import SiteError, Sites, VipuAddress
from ipucloud.site.vipu import users_with_allocation
from ipucloud.site.vipu_ports import Allocation, Partition, Vipu
from ipucloud.wire.site import Host, Network


@dataclass(frozen=True)
class RegionCensus:
    """Everything that a site has built in one region, by name, and the names of the hardware that it lists there.

    Partitions are by allocation and id. `users`: those who see the allocation of their name; None: the region's
    controllers have no users. `silent`: the controllers that did not answer, with the error; nothing of theirs is here.
    """

    region: str
    allocations: Mapping[str, Allocation]
    users: frozenset[str] | None
    partitions: Mapping[tuple[str, str], Partition]
    networks: Mapping[str, Network]
    hosts: Mapping[str, Host]
    hardware: frozenset[str]
    silent: Mapping[str, str]

    @cached_property
    def occupied(self) -> frozenset[str]:
        """The allocations that have partitions."""
        return frozenset(allocation for allocation, _ in self.partitions)


async def take_census(
    sites: Sites, regions: Mapping[str, Sequence[VipuAddress]], call_timeout: float
) -> list[RegionCensus]:
    """Fetch every list once. Raises SiteError when the site does not answer; controllers may be silent."""
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
    answers, networks, hosts = await asyncio.gather(
        asyncio.gather(*(_controller(sites.at(each, lambda: call_timeout).vipu, each) for each in controllers)),
        site.networks.list(region),
        site.hosts.list(region),
    )
    counted = [each for each in answers if isinstance(each, _Counted)]
    return RegionCensus(
        region,
        {each.id: each for controller in counted for each in controller.allocations},
        frozenset(each for controller in counted for each in controller.users or ())
        if any(each.secure for each in controllers)
        else None,
        {(each.allocation_id, each.id): each for controller in counted for each in controller.partitions},
        {each.name: each for each in networks},
        {each.name: each for each in hosts},
        hardware,
        {
            address.controller: str(answer)
            for address, answer in zip(controllers, answers, strict=True)
            if isinstance(answer, SiteError)
        },
    )


class _Counted(NamedTuple):
    allocations: Sequence[Allocation]
    users: Collection[str] | None
    partitions: Sequence[Partition]


async def _controller(vipu: Vipu, address: VipuAddress) -> _Counted | SiteError:
    """All of a controller's lists or none: in an incomplete one, existing objects would appear to be missing."""
    try:
        return _Counted(
            await vipu.list_allocations(""), await users_with_allocation(vipu, address), await vipu.all_partitions()
        )
    except SiteError as error:
        return error
