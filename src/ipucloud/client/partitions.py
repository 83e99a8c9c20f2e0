"""Calls for a cluster's partitions."""

from __future__ import annotations

from dataclasses import dataclass

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.models import IpuofConfig, Operation, Page, PartitionDetails


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
        return without_none(**self.__dict__)


def create(cluster: Ref, partition: NewPartition) -> Call[Operation]:
    """Create a partition; the operation fails if there is no room for it."""
    return request.post(_path(cluster), Operation, partition.body())


def list(
    cluster: Ref,
    *,
    state: str | None = None,
    origin: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[PartitionDetails]]:
    """The cluster's partitions: created with it, by the API, and at the controller."""
    query = {"state": state, "origin": origin, "order": order, "limit": limit}
    return request.get(_path(cluster), Page[PartitionDetails], query)


def get(cluster: Ref, partition: str) -> Call[PartitionDetails]:
    """One partition, by name or by its id at the controller."""
    return request.get(_path(cluster, partition), PartitionDetails)


def reset(cluster: Ref, partition: str, *, relocatable: bool = False) -> Call[Operation]:
    """Reset its IPUs, ending programs that use it. `relocatable`: it may move to other IPUs."""
    return request.post(f"{_path(cluster, partition)}:reset", Operation, {"relocatable": relocatable})


def delete(cluster: Ref, partition: str, *, if_match: str | None = None) -> Call[Operation]:
    """Remove a partition. `if_match`: only if it still has this entity tag."""
    return request.delete(_path(cluster, partition), Operation, if_match=if_match)


def config(cluster: Ref, partition: str, *, gcd: int = 0) -> Call[IpuofConfig]:
    """The IPUoF configuration file of one GCD."""
    return request.get(f"{_path(cluster, partition)}/ipuof-config", IpuofConfig, {"gcd": gcd})


def _path(cluster: Ref, partition: str | None = None) -> str:
    whole = f"clusters/{segment(cluster)}/partitions"
    return whole if partition is None else f"{whole}/{segment(partition)}"
