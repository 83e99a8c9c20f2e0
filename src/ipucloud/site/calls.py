"""Every call to a site, by the name that logs, failpoints and metrics have; and the rate of a process's calls."""

from __future__ import annotations

import math
from enum import StrEnum

from ipucloud.kernel.clock import Clock, SystemClock


class Call(StrEnum):
    GET_VERSION = "vipu.GetVersion"
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
    LIST_LINKS = "admin.ListLinks"
    LIST_AGENTS = "admin.ListAgents"
    GET_USER = "admin.GetUser"
    LIST_USERS = "admin.ListUsers"
    CREATE_USER = "admin.CreateUser"
    SET_USER_ALLOCATIONS = "admin.SetUserAllocations"
    REMOVE_USER = "admin.RemoveUser"
    CREATE_ACCESS_KEY = "admin.CreateAccessKey"
    REMOVE_ACCESS_KEY = "admin.RemoveAccessKey"
    GET_INVENTORY = "inventory.get"
    GET_NETWORK = "networks.get"
    LIST_NETWORKS = "networks.list"
    PUT_NETWORK = "networks.put"
    DELETE_NETWORK = "networks.delete"
    GET_HOST = "hosts.get"
    LIST_HOSTS = "hosts.list"
    PUT_SERVER = "hosts.put_server"
    DELETE_SERVER = "hosts.delete_server"
    PUT_KEYS = "hosts.put_keys"
    PUT_LOGIN_KEY = "hosts.put_login_key"
    PUT_SOURCES = "hosts.put_sources"
    PUT_S3 = "hosts.put_s3"
    PUT_PREEMPTION = "hosts.put_preemption"
    REBUILD_SERVER = "hosts.rebuild"
    POWER_HOST = "hosts.power"
    PUT_JOB = "hosts.put_job"
    GET_JOB = "hosts.get_job"
    STOP_JOB = "hosts.stop_job"
    GET_CONSOLE = "hosts.console"
    GET_VOLUME = "volumes.get"
    PUT_VOLUME = "volumes.put"
    ATTACH_VOLUME = "volumes.attach"
    DELETE_VOLUME = "volumes.delete"
    GET_SNAPSHOT = "snapshots.get"
    PUT_SNAPSHOT = "snapshots.put"
    DELETE_SNAPSHOT = "snapshots.delete"
    GET_ADDRESS = "addresses.get"
    PUT_ADDRESS = "addresses.put"
    ATTACH_ADDRESS = "addresses.attach"
    DELETE_ADDRESS = "addresses.delete"
    SSH_HOST_KEY = "ssh.host_key"
    GET_MACHINE = "redfish.get"
    GET_MACHINE_LOG = "redfish.log"
    LIST_MACHINES = "redfish.list"
    RESET_MACHINE = "redfish.reset"


BURST_SECONDS = 0.25
"""Seconds of unused calls that may be made at once before calls wait."""


class Pace:
    """A token bucket: `turn` returns when the caller may send one call, in order of arrival.

    Without it, a worker with ten thousand due work items would send them all at once to a site that has just recovered
    from an outage. `per_second` infinite: no waiting.
    """

    def __init__(self, per_second: float = math.inf, clock: Clock | None = None) -> None:
        self._apart = 1 / per_second
        self._burst = max(self._apart, BURST_SECONDS)
        self._clock = clock or SystemClock()
        self._next = -math.inf

    async def turn(self) -> None:
        """Wait until a call may be sent."""
        if self._apart == 0:
            return
        now = self._clock.monotonic()
        slot = max(self._next, now - self._burst + self._apart)
        self._next = slot + self._apart
        if slot > now:
            await self._clock.sleep(slot - now)
