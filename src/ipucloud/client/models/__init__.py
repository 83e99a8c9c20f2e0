"""What the API answers, as typed values. An unknown field or enum value never breaks reading."""

from ipucloud.client.models.base import Answer, Money, Page
from ipucloud.client.models.catalogue import Capacity, Flavor, Image, Price, Region, WhyNot
from ipucloud.client.models.clusters import (
    Billing,
    Cluster,
    ClusterState,
    Estimate,
    Machine,
    Partition,
    PoplarServer,
    Ssh,
)
from ipucloud.client.models.events import Event, EventType
from ipucloud.client.models.identity import NewToken, Project, Quota, SshKey, Token, Whoami
from ipucloud.client.models.operations import Operation, OperationState, Problem, Step, Target
from ipucloud.client.models.partitions import IpuofConfig, PartitionDetails, PartitionState, Topology, Vipu
from ipucloud.client.models.usage import ProjectUsage, Usage, UsageSlice

__all__ = [
    "Answer",
    "Billing",
    "Capacity",
    "Cluster",
    "ClusterState",
    "Estimate",
    "Event",
    "EventType",
    "Flavor",
    "Image",
    "IpuofConfig",
    "Machine",
    "Money",
    "NewToken",
    "Operation",
    "OperationState",
    "Page",
    "Partition",
    "PartitionDetails",
    "PartitionState",
    "PoplarServer",
    "Price",
    "Problem",
    "Project",
    "ProjectUsage",
    "Quota",
    "Region",
    "Ssh",
    "SshKey",
    "Step",
    "Target",
    "Token",
    "Topology",
    "Usage",
    "UsageSlice",
    "Vipu",
    "Whoami",
    "WhyNot",
]
