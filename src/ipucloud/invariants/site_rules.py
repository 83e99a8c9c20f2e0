"""Rules about what is at the sites, found by comparing them with the database."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from uuid import UUID

from ipucloud.contract.clusters import ClusterState
from ipucloud.invariants.census import RegionCensus
from ipucloud.invariants.comparison import SITE_OBJECTS, Comparison, SiteObject
from ipucloud.invariants.records import ClusterRecord
from ipucloud.invariants.removals import remove_allocation, remove_network, remove_server, switch_off_server
from ipucloud.invariants.rules import Refusal, Rule, SiteRemoval, Violation
from ipucloud.invariants.states import WORKING
from ipucloud.invariants.worker_repairs import build_again
from ipucloud.site.vipu_ports import PartitionState
from ipucloud.wire.site import HostState, NetworkState

NAMES_SHOWN = 8
_SUSPENDED = frozenset({ClusterState.SUSPENDED})


@dataclass(frozen=True)
class SiteRule(Rule):
    """A rule about a site and the database together. `automatic`: sweeps apply its repair by themselves."""

    find: Callable[[Comparison], Iterable[Violation]]
    automatic: bool = False


def _unowned(kind: str, what: str, removal: SiteRemoval) -> SiteRule:
    def find(comparison: Comparison) -> Iterator[Violation]:
        for unit in comparison.unowned(kind):
            project = comparison.ever.get(unit.cluster)
            if project is not None:
                yield _about(unit, project, f"of a cluster that holds nothing, on {_listed(unit.on)}")
            elif unit.cluster in comparison.validations:
                ended = _about(unit, None, f"of a validation that has ended, on {_listed(unit.on)}")
                yield ended._replace(recorded=True)
            elif comparison.foreign(unit) and not comparison.holders(unit):
                yield _about(unit, None, f"unowned, on {_listed(unit.on)}, which no cluster holds")

    return SiteRule(
        name=f"{kind}_belongs_to_a_cluster",
        sentence=f"Every {what} at a site belongs to a cluster that holds machines, or to a validation.",
        object_type=what,
        remedy="Apply the audit's repair. It observes twice, because a site may answer with an outdated state.",
        repair=removal,
        find=find,
        automatic=True,
    )


def _unrecorded(comparison: Comparison) -> Iterator[Violation]:
    for unit in comparison.unowned(*SITE_OBJECTS):
        if comparison.unrecorded(unit):
            yield _about(unit, None, f"a {unit.kind} with a name of our form but no record, on {_listed(unit.on)}")


def _intruders(comparison: Comparison) -> Iterator[Violation]:
    for unit in comparison.unowned(*SITE_OBJECTS):
        holders = comparison.holders(unit)
        if holders and comparison.foreign(unit):
            clusters = _listed(str(cluster.id) for cluster in holders)
            yield _about(unit, None, f"a {unit.kind} on {_listed(unit.on)}, held by cluster {clusters}")


def _unlisted(comparison: Comparison) -> Iterator[Violation]:
    for region in comparison.census:
        for name in sorted(comparison.before.hardware.get(region.region, frozenset()) - region.hardware):
            yield Violation(name, None, f"the site does not list it in {region.region}", region.region)


def _in_use(
    judge: Callable[[ClusterRecord, RegionCensus], str | None], states: frozenset[ClusterState] = WORKING
) -> Callable[[Comparison], Iterator[Violation]]:
    """Apply `judge` to the clusters in these states, by default those in use; it returns the fault, or None."""

    def find(comparison: Comparison) -> Iterator[Violation]:
        for cluster, region in comparison.settled(states):
            detail = judge(cluster, region)
            if detail is not None:
                yield Violation(str(cluster.id), cluster.project_id, detail, cluster.region)

    return find


def _no_allocation(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    if not cluster.through_vipu or cluster.controller in region.silent:
        return None
    if cluster.name not in region.allocations:
        return f"the controller has no allocation {cluster.name}"
    if region.users is not None and cluster.name not in region.users:
        return f"the controller has no user {cluster.name} who sees the allocation"
    return None


def _other_machines(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    allocation = region.allocations.get(cluster.name)
    if allocation is None or allocation.agent_ids == frozenset(cluster.machines):
        return None
    return f"the allocation has {_listed(allocation.agent_ids)}, the cluster {_listed(cluster.machines)}"


def _other_endpoint(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    """None also while the allocation has other machines, which is not the cluster's then."""
    allocation = region.allocations.get(cluster.name)
    if allocation is None or allocation.agent_ids != frozenset(cluster.machines):
        return None
    if allocation.endpoint is None or allocation.endpoint == cluster.endpoint:
        return None
    recorded = "none" if cluster.endpoint is None else "{}:{}".format(*cluster.endpoint)
    return "the allocation's endpoint is {}:{}, the recorded one {}".format(*allocation.endpoint, recorded)


def _no_partition(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    """None also when the customer had it removed to make room for partitions of their own."""
    if cluster.made_room:
        return None
    if cluster.name not in region.allocations or cluster.name in region.occupied:
        return None
    return f"the controller has no partition {cluster.name}, and no other in the cluster's allocation"


def _unhealthy_partition(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    """None also while a fault is known that explains it: the cluster is degraded then, and repaired."""
    if cluster.impaired:
        return None
    partition = region.partitions.get((cluster.name, cluster.name))
    if partition is None:
        return None
    well = partition.state in {PartitionState.ACTIVE, PartitionState.PENDING}
    return None if well else f"the controller reports partition {cluster.name} as `{partition.state}`"


def _no_network(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    network = region.networks.get(cluster.name)
    there = network is not None and network.state is not NetworkState.DETACHING
    return None if there else f"the site has no network {cluster.name}"


def _other_ports(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    network = region.networks.get(cluster.name)
    desired = {*(cluster.machines if cluster.through_vipu else ()), *cluster.servers}
    joined = desired if network is None else {*network.spec.machines, *network.spec.hosts}
    return None if joined == desired else f"the network joins {_listed(joined)}, the cluster has {_listed(desired)}"


def _no_server(cluster: ClusterRecord, region: RegionCensus) -> str | None:
    hosts = [region.hosts.get(name) for name in cluster.servers]
    empty = [host.name for host in hosts if host is not None and host.server is None]
    return f"no server is on {_listed(empty)}" if empty else None


def _awake(comparison: Comparison) -> Iterator[Violation]:
    """Servers of suspended clusters that are on: their hosts had failed, or were silent, when they were suspended."""
    for cluster, region in comparison.settled(_SUSPENDED):
        for name, server in cluster.servers.items():
            host = region.hosts.get(name)
            if host is None or host.server is None or host.server.name != server:
                continue
            if host.state in {HostState.BOOTING, HostState.RUNNING}:
                yield Violation(server, cluster.project_id, f"it is {host.state} on {name}", cluster.region, name)


def _about(unit: SiteObject, project_id: UUID | None, detail: str) -> Violation:
    return Violation(unit.name, project_id, detail, unit.region, unit.host)


def _listed(names: Iterable[str]) -> str:
    ordered = sorted(names)
    more = len(ordered) - NAMES_SHOWN
    return ", ".join(ordered[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


_IN_USE = Refusal("A customer may be using it; a person must check first.")

PARTITION_WORKS = SiteRule(
    name="partition_of_a_cluster_works",
    sentence="The partition of a cluster in use is not in error, unless a machine of it is known not to work.",
    object_type="cluster",
    remedy="The controller resets it a few times by itself. If that fails, ask the customer before you reset it.",
    repair=_IN_USE,
    find=_in_use(_unhealthy_partition),
)

SITE_RULES = (
    _unowned("allocation", "V-IPU allocation", remove_allocation),
    _unowned("network", "tenant network", remove_network),
    _unowned("server", "server", remove_server),
    SiteRule(
        name="named_resource_has_a_record",
        sentence="Every object at a site with a name of our form has a record in the database.",
        object_type="object at a site",
        remedy="Find out whether the database was restored from a backup: then a customer may be using it. Restore the"
        " record; remove the object at the site (`ipucloud vipu-admin`, for V-IPU) only when nobody needs it.",
        repair=Refusal(
            "The record was committed before this was built: the database lost it, so the object may be in use."
        ),
        find=_unrecorded,
    ),
    SiteRule(
        name="hardware_belongs_to_one_cluster",
        sentence="Only the cluster's own objects exist on its machines and hosts.",
        object_type="object at a site",
        remedy="Ask the site's administrators what it is, and remove it there.",
        repair=_IN_USE,
        find=_intruders,
    ),
    SiteRule(
        name="cluster_in_use_has_its_allocation",
        sentence="A cluster in use under V-IPU has an allocation of its name that its user can see.",
        object_type="cluster",
        remedy="Apply the audit's repair.",
        # Where the allocation is gone the cluster may have been removed as a whole: nothing can be made
        # of machines that are off, and a site switches on only machines in the cluster's network.
        repair=build_again(
            "make the allocation, its user and its partitions",
            "attach_network",
            "power_on_machines",
            "create_allocation",
            "create_vipu_user",
            "create_partition",
            partitions_lost=True,
        ),
        find=_in_use(_no_allocation),
        automatic=True,
    ),
    SiteRule(
        name="allocation_has_the_machines_of_its_cluster",
        sentence="The V-IPU allocation of a cluster in use has exactly the cluster's machines.",
        object_type="cluster",
        remedy="Have the cluster deleted and created again once its customer agrees.",
        repair=_IN_USE,
        find=_in_use(_other_machines),
    ),
    SiteRule(
        name="cluster_has_the_endpoint_of_its_allocation",
        sentence="The V-IPU endpoint of a cluster in use is that of its allocation.",
        object_type="cluster",
        remedy="Apply the audit's repair. Poplar servers deployed before have the former one in their environment.",
        repair=build_again("record the endpoint", "create_allocation"),
        find=_in_use(_other_endpoint),
        automatic=True,
    ),
    SiteRule(
        name="cluster_in_use_has_its_partition",
        sentence="A cluster in use has a partition of its name or its customer's.",
        object_type="cluster",
        remedy="Apply the audit's repair.",
        repair=build_again("make the partition", "create_partition"),
        find=_in_use(_no_partition),
    ),
    PARTITION_WORKS,
    SiteRule(
        name="cluster_in_use_has_its_network",
        sentence="A cluster in use has a tenant network of its name.",
        object_type="cluster",
        remedy="Apply the audit's repair.",
        repair=build_again("make the network", "attach_network"),
        find=_in_use(_no_network),
        automatic=True,
    ),
    SiteRule(
        name="network_joins_what_the_cluster_has",
        sentence="The tenant network of a cluster in use joins exactly the cluster's machines and hosts.",
        object_type="cluster",
        remedy="Find out what else is in the network: another customer may see this one's traffic.",
        repair=_IN_USE,
        find=_in_use(_other_ports),
    ),
    SiteRule(
        name="cluster_in_use_has_its_servers",
        sentence="Every host of a cluster in use has a server.",
        object_type="cluster",
        remedy="Apply the audit's repair: it deploys a new server; the old one's data is lost.",
        repair=build_again("deploy the missing servers", "deploy_poplar_servers"),
        find=_in_use(_no_server),
    ),
    SiteRule(
        name="suspended_cluster_has_its_servers",
        sentence="Every host of a suspended cluster has a server.",
        object_type="cluster",
        remedy="Inform the customer that the server's data is lost; the cluster cannot be resumed, only deleted.",
        repair=Refusal("A new, empty server would hide the loss of its data."),
        find=_in_use(_no_server, _SUSPENDED),
    ),
    SiteRule(
        name="server_of_a_suspended_cluster_is_off",
        sentence="The Poplar servers of a suspended cluster are off.",
        object_type="server",
        remedy="Apply the audit's repair. Its host had failed or was silent when the cluster was suspended.",
        repair=switch_off_server,
        find=_awake,
        automatic=True,
    ),
    SiteRule(
        name="hardware_is_listed_by_its_site",
        sentence="The site lists every machine and host in the inventory.",
        object_type="machine",
        remedy="Put it into maintenance, so that no cluster gets it; ask the site where it is.",
        repair=Refusal("Unlisted hardware may return, and may be in use."),
        find=_unlisted,
    ),
)
