"""The database and the sites side by side.

What is at a site is ours when a committed record has its exact name. A name is never used again, so one that no
cluster holds cannot become a cluster's again. What customers make inside their own allocations is theirs: partitions
other than the cluster's own are not looked at, and an allocation that is nobody's goes with all that is in it.

The database is read before the census and again after it. Something is nobody's when neither reading knows it, and
missing when both want it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from ipucloud.contract.clusters import ClusterState
from ipucloud.db.engine import Database
from ipucloud.invariants.census import RegionCensus, take_census
from ipucloud.invariants.records import ClusterRecord, Records, ever_ours, read_records
from ipucloud.invariants.states import WORKING
from ipucloud.site.ports import Sites
from ipucloud.wire.site import NetworkState

_OUR_FORM = re.compile(r"[0-9a-hjkmnp-tv-z]{26}-[0-9]+", re.ASCII)
"""`external_name` of a cluster: 26 characters of Crockford base 32 and an incarnation."""

_SERVER_NUMBER = re.compile(r"-p\d+$", re.ASCII)


@dataclass(frozen=True, slots=True)
class Thing:
    """Something built at a site: what it is, its name, the name of the cluster it is for, the hardware it is on."""

    kind: str
    name: str
    cluster: str
    on: frozenset[str]
    region: str
    host: str | None = None


def _allocations(region: RegionCensus) -> Iterator[Thing]:
    for each in region.allocations.values():
        yield Thing("V-IPU allocation", each.id, each.id, each.agent_ids, region.region)


def _networks(region: RegionCensus) -> Iterator[Thing]:
    for each in region.networks.values():
        if each.state is not NetworkState.DETACHING:
            ports = frozenset([*each.spec.machines, *each.spec.hosts])
            yield Thing("tenant network", each.name, each.name, ports, region.region)


def _servers(region: RegionCensus) -> Iterator[Thing]:
    for each in region.hosts.values():
        if each.server is not None:
            cluster = _SERVER_NUMBER.sub("", each.server.name)
            yield Thing("server", each.server.name, cluster, frozenset([each.name]), region.region, each.name)


Things = Callable[[RegionCensus], Iterator[Thing]]

THINGS: Mapping[str, Things] = {"allocation": _allocations, "network": _networks, "server": _servers}


@dataclass(frozen=True)
class Comparison:
    """Two readings of the database, and the census between them. `ever` maps names that were ours to their project."""

    before: Records
    census: Sequence[RegionCensus]
    after: Records
    ever: Mapping[str, UUID]

    def strangers(self, *kinds: str) -> Iterator[Thing]:
        """Things of these kinds that are for no living cluster. A suspended one has its servers, and nothing else."""
        for kind in kinds:
            for region in self.census:
                for thing in THINGS[kind](region):
                    if not _knows(self.before, kind, thing) and not _knows(self.after, kind, thing):
                        yield thing

    def forgotten(self, thing: Thing) -> bool:
        """Whether the name is of our form, and no record has it."""
        return thing.cluster not in self.ever and _OUR_FORM.fullmatch(thing.cluster) is not None

    def foreign(self, thing: Thing) -> bool:
        """Whether the name is none that we would give."""
        return _OUR_FORM.fullmatch(thing.cluster) is None and thing.cluster not in self.ever

    def holders(self, thing: Thing) -> list[ClusterRecord]:
        """The living clusters that hold hardware which the thing is on."""
        found: dict[str, ClusterRecord] = {}
        for records in (self.before, self.after):
            holding = (records.holder.get(name) for name in sorted(thing.on))
            found |= {cluster.name: cluster for cluster in holding if cluster is not None}
        return list(found.values())

    def settled(self, states: frozenset[ClusterState] = WORKING) -> Iterator[tuple[ClusterRecord, RegionCensus]]:
        """The clusters that were in one of these states all the time, those in use, each with its region."""
        regions = {region.region: region for region in self.census}
        for name, cluster in self.after.living.items():
            earlier = self.before.living.get(name)
            if earlier is not None and {earlier.state, cluster.state} <= states and cluster.region in regions:
                yield cluster, regions[cluster.region]


def _knows(records: Records, kind: str, thing: Thing) -> bool:
    cluster = records.living.get(thing.cluster)
    if kind == "server":
        return cluster is not None or thing.name in records.servers
    return cluster is not None and cluster.state is not ClusterState.SUSPENDED


async def compare(database: Database, sites: Sites, call_timeout: float) -> Comparison:
    """Read both sides. Raises SiteError, and `Problem` unavailable."""
    before = await read_records(database)
    census = await take_census(sites, before.regions, call_timeout)
    after = await read_records(database)
    named = {thing.cluster for region in census for things in THINGS.values() for thing in things(region)}
    return Comparison(before, census, after, await ever_ours(database, named))
