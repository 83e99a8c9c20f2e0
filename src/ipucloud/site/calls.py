"""Everything the control plane asks of a site, by the names that logs, failpoints and the site's fault rules use."""

from __future__ import annotations

from enum import StrEnum


class Call(StrEnum):
    GET_PARTITION_STATUS = "vipu.GetPartitionStatus"
    LIST_PARTITIONS = "vipu.ListPartitions"
    CREATE_PARTITION = "vipu.CreatePartition"
    RESET_PARTITION = "vipu.ResetPartition"
    REMOVE_PARTITION = "vipu.RemovePartition"
    GET_IPUOF_CONFIG = "vipu.GetPartitionIpuofConfig"
    GET_ALLOCATION = "admin.GetAllocation"
    LIST_ALLOCATIONS = "admin.ListAllocations"
    CREATE_ALLOCATION = "admin.CreateAllocation"
    REMOVE_ALLOCATION = "admin.RemoveAllocation"
    REMOVE_PARTITIONS = "admin.RemovePartitions"
    GET_CLUSTER_TEST = "admin.GetClusterTest"
    TEST_CLUSTER = "admin.TestCluster"
    GET_INVENTORY = "inventory.get"
    GET_NETWORK = "networks.get"
    LIST_NETWORKS = "networks.list"
    PUT_NETWORK = "networks.put"
    DELETE_NETWORK = "networks.delete"
    GET_HOST = "hosts.get"
    LIST_HOSTS = "hosts.list"
    PUT_SERVER = "hosts.put_server"
    DELETE_SERVER = "hosts.delete_server"
    SSH_HOST_KEY = "ssh.host_key"
    GET_MACHINE = "redfish.get"
    RESET_MACHINE = "redfish.reset"
