"""A region without V-IPU, behind the same port as a region with a controller."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.kernel.vipu import PartitionShape
from ipucloud.site.ports import SiteRefused
from ipucloud.site.vipu_ports import (
    Agent,
    Allocation,
    ClusterTest,
    IpuofGcd,
    Link,
    Partition,
    PartitionRequest,
    PartitionStatus,
    Release,
    SeenPartition,
    VipuUser,
)


class NoVipu:
    """Implements `ipucloud.site.vipu_ports.Vipu`: nothing exists, nothing can be made, and removals succeed."""

    async def release(self) -> Release | None:
        return None

    async def partition_status(self, allocation_id: str, partition_id: str) -> PartitionStatus | None:
        return None

    async def list_partitions(self, allocation_id: str) -> Sequence[str]:
        return ()

    async def all_partitions(self) -> Sequence[Partition]:
        return ()

    async def partitions_of(self, allocation_id: str) -> Sequence[SeenPartition]:
        return ()

    async def create_partition(self, request: PartitionRequest) -> bool:
        raise _refused(f"partition {request.id}")

    async def reset_partition(self, allocation_id: str, partition_id: str, *, relocatable: bool) -> bool:
        return False

    async def remove_partition(self, allocation_id: str, partition_id: str) -> None:
        """Succeeds: it does not exist."""

    async def ipuof_config(
        self, allocation_id: str, partition_id: str, shape: PartitionShape
    ) -> Sequence[IpuofGcd] | None:
        return None

    async def remove_partitions(self, allocation_id: str) -> None:
        """Succeeds: there are none."""

    async def allocation(self, allocation_id: str) -> Allocation | None:
        return None

    async def list_allocations(self, cluster_id: str) -> Sequence[Allocation]:
        return ()

    async def create_allocation(self, allocation: Allocation) -> None:
        raise _refused(f"allocation {allocation.id}")

    async def remove_allocation(self, allocation_id: str) -> None:
        """Succeeds: it does not exist."""

    async def cluster_test(self, test_id: str) -> ClusterTest | None:
        return None

    async def start_cluster_test(self, test_id: str, allocation_id: str) -> None:
        raise _refused(f"cluster test {test_id}")

    async def links(self, allocation_id: str) -> Sequence[Link]:
        return ()

    async def agents(self) -> Sequence[Agent]:
        return ()

    async def impaired_links(self) -> Sequence[Link]:
        return ()

    async def user(self, user_id: str) -> VipuUser | None:
        return None

    async def list_users(self) -> Sequence[VipuUser]:
        return ()

    async def create_user(self, user_id: str) -> None:
        raise _refused(f"user {user_id}")

    async def set_user_allocation(self, user_id: str, allocation_id: str) -> None:
        raise _refused(f"user {user_id}")

    async def remove_user(self, user_id: str) -> None:
        """Succeeds: it does not exist."""

    async def create_access_key(self, user_id: str, key_id: str, sha256: str) -> None:
        raise _refused(f"access key {key_id}")

    async def remove_access_key(self, user_id: str, key_id: str) -> None:
        """Succeeds: it does not exist."""


def _refused(what: str) -> SiteRefused:
    return SiteRefused(f"{what}: the region has no V-IPU controller")
