"""The sizes that a cluster can be resized to: flavors of its machine type that can have as many Poplar servers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ipucloud.catalogue.queries import Catalogue
from ipucloud.clusters import vipu_access
from ipucloud.clusters.flavor_choice import sku_of
from ipucloud.clusters.locks import LockedCluster
from ipucloud.clusters.states import BILLABLE
from ipucloud.contract.catalogue import AllocatedThrough, Flavor
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.inventory.placement import Need
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem

_SERVERS = Query("SELECT count(*) FROM poplar_servers WHERE project_id = :project_id AND cluster_id = :cluster_id", int)


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a cluster is to become. `grows`: it is to have more machines. `need`: the machines of the new size alone."""

    flavor: str
    machines: int
    ipus: int
    sku: str
    grows: bool
    need: Need


async def sizes_for(connection: Statements, cluster: LockedCluster, flavor: str, *, catalogue: Catalogue) -> Sizes:
    """The new size of a cluster in use.

    Raises `Problem`: state_conflict for a cluster that is not in use, or whose IPUs are in its server;
    validation_failed, with the flavors that it can have, for another machine type or region, the same size, another
    number of IPU-Link domains, or a size that cannot have as many Poplar servers.
    """
    _require_resizable(cluster)
    servers = await _SERVERS.one(connection, {"project_id": cluster.project_id, "cluster_id": cluster.id})
    target = catalogue.find_flavor(flavor)
    fault = _fault(cluster, target, servers)
    if fault is not None or target is None:
        code, sentence = fault or ("unknown_flavor", "")
        detail = f"{sentence} {_possible(cluster, servers, catalogue.flavors_in(cluster.region))}"
        raise Problem(
            VALIDATION_FAILED,
            "The cluster cannot get this size.",
            [FieldError("/flavor", code, detail)],
        )
    return Sizes(
        flavor=target.name,
        machines=target.machines,
        ipus=target.ipus,
        sku=sku_of(target, preemptible=cluster.preemptible),
        grows=target.machines > cluster.machines,
        need=Need(cluster.machine_type, target.machines, 0, target.ipus // target.machines),
    )


def _require_resizable(cluster: LockedCluster) -> None:
    if cluster.allocated_through is not AllocatedThrough.V_IPU:
        raise Problem(
            STATE_CONFLICT,
            "The cluster's IPUs are in its server, which goes to one customer as a whole. Create another cluster of the"
            " size that you need, and delete this one.",
        )
    if cluster.state not in BILLABLE:
        advice = "; resume it first" if cluster.state == "suspended" else ""
        raise Problem(STATE_CONFLICT, f"Only a cluster in use can be resized; this one is {cluster.state}{advice}.")


def _fault(cluster: LockedCluster, target: Flavor | None, servers: int) -> tuple[str, str] | None:
    if target is None:
        return "unknown_flavor", "This flavor does not exist."
    if target.machine_type != cluster.machine_type:
        return "other_machine_type", "The flavor has machines of another type, to which a cluster cannot be resized."
    if cluster.region not in target.regions:
        return "not_in_region", f"It is not sold in the cluster's region, {cluster.region}."
    if target.machines == cluster.machines:
        return "same_size", "The cluster has this size already."
    return _changes_servers(cluster, target, servers)


def _changes_servers(cluster: LockedCluster, target: Flavor, servers: int) -> tuple[str, str] | None:
    """Why the cluster's Poplar servers cannot stay as they are; None: they can."""
    if vipu_access.gcds(target.ipus) != vipu_access.gcds(cluster.ipus):
        return "other_domains", "The flavor has another number of IPU-Link domains, for whose GCDs servers are set up."
    fewest, most = target.poplar_servers_min, target.poplar_servers_max
    if not fewest <= servers <= most:
        limit = f"at most {most}" if servers > most else f"at least {fewest}"
        return "other_servers", (
            f"The cluster has {servers} Poplar servers, which a resize keeps, and the flavor has {limit}."
        )
    return None


def _possible(cluster: LockedCluster, servers: int, sold: Sequence[Flavor]) -> str:
    names = [each.name for each in sold if _fault(cluster, each, servers) is None]
    return f"It can be resized to {', '.join(names)}." if names else "Create another cluster of the size that you need."
