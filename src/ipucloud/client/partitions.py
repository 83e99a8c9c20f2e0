"""Calls for a cluster's partitions, topology and V-IPU controller."""

from __future__ import annotations

from dataclasses import dataclass

from ipucloud.client import call as request
from ipucloud.client.call import Call, given, segment
from ipucloud.client.models import IpuofConfig, NewVipuKey, Operation, Page, PartitionDetails, Topology, Vipu


@dataclass(frozen=True)
class NewPartition:
    """A partition to create. `size` in IPUs; the controller chooses what is None."""

    name: str
    size: int
    gcds: int = 1
    replicas: int | None = None
    segments: int | None = None
    reconfigurable: bool = False
    sync_type: str | None = None
    routing: str | None = None
    gateway_routing: str | None = None
    auto_reset: bool = True
    relocatable: bool = False

    def body(self) -> dict[str, object]:
        return given(**self.__dict__)


def create(cluster: str, partition: NewPartition) -> Call[Operation]:
    """Create a partition; the operation fails if there is no room for it."""
    return request.post(_path(cluster), Operation, partition.body())


def page(
    cluster: str,
    *,
    state: str | None = None,
    origin: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[PartitionDetails]]:
    """The cluster's partitions: created with it, by the API, and at the controller."""
    query = {"state": state, "origin": origin, "order": order, "limit": limit}
    return request.get(_path(cluster), Page[PartitionDetails], query)


def get(cluster: str, partition: str) -> Call[PartitionDetails]:
    """One partition, by name or by its id at the controller."""
    return request.get(_path(cluster, partition), PartitionDetails)


def reset(cluster: str, partition: str, *, relocatable: bool = False) -> Call[Operation]:
    """Reset its IPUs, ending programs that use it. `relocatable`: it may move to other IPUs."""
    return request.post(f"{_path(cluster, partition)}:reset", Operation, {"relocatable": relocatable})


def remove(cluster: str, partition: str, *, if_match: str | None = None) -> Call[Operation]:
    """Remove a partition. `if_match`: only if it still has this entity tag."""
    return request.delete(_path(cluster, partition), Operation, if_match=if_match)


def config(cluster: str, partition: str, *, gcd: int = 0) -> Call[IpuofConfig]:
    """The IPUoF configuration file of one GCD."""
    return request.get(f"{_path(cluster, partition)}/ipuof-config", IpuofConfig, {"gcd": gcd})


def topology(cluster: str) -> Call[Topology]:
    """Racks, machines, IPUs, links and partitions."""
    return request.get(f"clusters/{segment(cluster)}/topology", Topology)


def vipu(cluster: str, *, partition: str | None = None) -> Call[Vipu]:
    """The controller's endpoint and the environment for a partition."""
    return request.get(f"clusters/{segment(cluster)}/vipu", Vipu, {"partition": partition})


def rotate_vipu_key(cluster: str, *, end_server_key: bool = False) -> Call[NewVipuKey]:
    """Replace the access key of the cluster's V-IPU user; the new secret is shown once.

    `end_server_key`: also revoke the key in the environment of the Poplar servers.
    """
    path, body = f"clusters/{segment(cluster)}/vipu:rotate-key", {"end_server_key": end_server_key}
    return request.post(path, NewVipuKey, body)


def _path(cluster: str, partition: str | None = None) -> str:
    whole = f"clusters/{segment(cluster)}/partitions"
    return whole if partition is None else f"{whole}/{segment(partition)}"
