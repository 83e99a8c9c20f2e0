"""The database and the sites side by side.

An object at a site is ours when a committed record has its exact name. A name is never used again, so one that no
cluster holds cannot become a cluster's name later. Objects that customers make inside their own allocations are theirs:
partitions other than the cluster's own are not checked, and an unowned allocation is removed with everything in it.

The database is read before the census and again after it. An object is unowned when neither reading knows it, and
missing when both require it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ipucloud.contract.clusters import ClusterState
from ipucloud.db.engine import Database
from ipucloud.invariants.census import RegionCensus, take_census
from ipucloud.invariants.records import ClusterRecord, Records, ever_ours, ever_validations, read_records
from ipucloud.invariants.states import WORKING
from ipucloud.kernel.ids import VALIDATION_PREFIX
from ipucloud.site.ports import Sites
from ipucloud.wire.site import NetworkState

_OUR_FORM = re.compile(rf"[0-9a-hjkmnp-tv-z]{{26}}-[0-9]+|{VALIDATION_PREFIX}[0-9a-hjkmnp-tv-z]{{26}}", re.ASCII)
"""`external_name` of a cluster: 26 characters of Crockford base 32 and an incarnation; or the name of a validation."""

_SERVER_NUMBER = re.compile(r"-p\d+$", re.ASCII)


@dataclass(frozen=True, slots=True)
class SiteObject:
    """An object at a site: its kind, its name, the name of its cluster, and the hardware that it is on."""

    kind: str
    name: str
    cluster: str
    on: frozenset[str]
    region: str
    host: str | None = None


def _allocations(region: RegionCensus) -> Iterator[SiteObject]:
    for allocation in region.allocations.values():
        yield SiteObject("V-IPU allocation", allocation.id, allocation.id, allocation.agent_ids, region.region)


def _networks(region: RegionCensus) -> Iterator[SiteObject]:
    for network in region.networks.values():
        if network.state is not NetworkState.DETACHING:
            ports = frozenset([*network.spec.machines, *network.spec.hosts])
            yield SiteObject("tenant network", network.name, network.name, ports, region.region)


def _servers(region: RegionCensus) -> Iterator[SiteObject]:
    for host in region.hosts.values():
        if host.server is not None:
            cluster = _SERVER_NUMBER.sub("", host.server.name)
            yield SiteObject("server", host.server.name, cluster, frozenset([host.name]), region.region, host.name)


_Listing = Callable[[RegionCensus], Iterator[SiteObject]]

SITE_OBJECTS: Mapping[str, _Listing] = {"allocation": _allocations, "network": _networks, "server": _servers}


@dataclass(frozen=True)
class Comparison:
    """Two readings of the database and the census between them. `ever`: name of any cluster of ours → its project.

    `validations`: names of any validations of ours.
    """

    before: Records
    census: Sequence[RegionCensus]
    after: Records
    ever: Mapping[str, UUID]
    validations: frozenset[str]

    def unowned(self, *kinds: str) -> Iterator[SiteObject]:
        """Objects of these kinds that belong to no living cluster or validation. A suspended one has only its servers.

        Servers on isolated hosts are expected: they are wiped when their hosts answer again.
        """
        for kind in kinds:
            for region in self.census:
                for unit in SITE_OBJECTS[kind](region):
                    if not _knows(self.before, kind, unit) and not _knows(self.after, kind, unit):
                        yield unit

    def unrecorded(self, unit: SiteObject) -> bool:
        """Whether the name has our form but no record."""
        return unit.cluster not in {*self.ever, *self.validations} and _OUR_FORM.fullmatch(unit.cluster) is not None

    def foreign(self, unit: SiteObject) -> bool:
        """Whether the name does not have our form."""
        return _OUR_FORM.fullmatch(unit.cluster) is None and unit.cluster not in self.ever

    def holders(self, unit: SiteObject) -> list[ClusterRecord]:
        """The living clusters that hold hardware which the object is on."""
        clusters: dict[str, ClusterRecord] = {}
        for records in (self.before, self.after):
            holding = (records.holder.get(name) for name in sorted(unit.on))
            clusters |= {cluster.name: cluster for cluster in holding if cluster is not None}
        return list(clusters.values())

    def settled(self, states: frozenset[ClusterState] = WORKING) -> Iterator[tuple[ClusterRecord, RegionCensus]]:
        """The clusters in one of these states in both readings, by default those in use, each with its region."""
        regions = {region.region: region for region in self.census}
        for name, cluster in self.after.living.items():
            earlier = self.before.living.get(name)
            if earlier is not None and {earlier.state, cluster.state} <= states and cluster.region in regions:
                yield cluster, regions[cluster.region]


def _knows(records: Records, kind: str, unit: SiteObject) -> bool:
    cluster = records.living.get(unit.cluster)
    if kind == "server":
        return cluster is not None or unit.name in records.servers or unit.host in records.isolated
    if kind == "allocation" and unit.name in records.validations:
        return True
    return cluster is not None and cluster.state is not ClusterState.SUSPENDED


async def compare(database: Database, sites: Sites, call_timeout: float) -> Comparison:
    """Read both sides. Raises SiteError, and `Problem` unavailable."""
    before = await read_records(database)
    census = await take_census(sites, before.regions, call_timeout)
    after = await read_records(database)
    named = {each.cluster for region in census for objects in SITE_OBJECTS.values() for each in objects(region)}
    return Comparison(before, census, after, await ever_ours(database, named), await ever_validations(database, named))
