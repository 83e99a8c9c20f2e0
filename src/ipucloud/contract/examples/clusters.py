"""What clusters and their parts, operations and capacity show of their own."""

from __future__ import annotations

from collections.abc import Mapping

from ipucloud.contract.examples.story import CLUSTER, COMPOSED, FINGERPRINT, ID, OPERATION

_RUNNING: Mapping[str, object] = {
    "cancellable": True,
    "finished_at": None,
    "id": OPERATION,
    "progress": 5,
    "requested_by": COMPOSED,
    "stage": "NETWORK",
    "started_at": "2026-05-04T09:00:01Z",
    "state": "running",
}
"""An operation."""

CLUSTERS: Mapping[str, object] = {
    "AccessKeyOut.id": "vipu_0a1b2c3d",
    "CapacityOut.available": 12,
    "Region.billing": COMPOSED,
    **dict.fromkeys(
        (
            "ClusterEntered.reason",
            "PartitionDetailOut.operation",
            "PartitionItemOut.operation",
            "StepOut.detail",
            "StepOut.finished_at",
        ),
        None,
    ),
    "ClusterItemOut.id": CLUSTER,
    "ClusterItemOut.s3_connections": ["training-data"],
    "ClusterOut.id": CLUSTER,
    "ClusterOut.s3_connections": ["training-data"],
    "EstimateCapacityOut.available": True,
    **dict.fromkeys(
        (
            "JobOut.requested_by",
            "OperationSummaryOut.requested_by",
            "ServiceOut.requested_by",
        ),
        COMPOSED,
    ),
    "MachineOut.ipus": 4,
    "MachineOut.name": "lux2-p001-m01",
    "OperationOf.partition": None,
    **{
        f"{each}.{field}": value for each in ("ClusterCreationOut", "OperationOut") for field, value in _RUNNING.items()
    },
    "OperationSummaryOut.id": OPERATION,
    "PartitionDetailOut.id": f"{ID}64",
    "PartitionIpuOut.number": 0,
    "PartitionItemOut.id": f"{ID}65",
    "PoplarServerOut.id": f"{ID}67",
    "PoplarServerOut.name": "bert-0",
    "PoplarServerOut.state": "running",
    "RackOut.machines": ["lux2-p001-m01", "lux2-p001-m02", "lux2-p001-m03", "lux2-p001-m04"],
    "RackOut.name": "lux2-gw1",
    "ResizeEstimateOut.from_flavor": "m2000-pod16",
    "ResizeEstimateOut.moves": False,
    "ResizeEstimateOut.to_flavor": "m2000-pod64",
    "ResizedPartitionOut.ipus": 16,
    "ResizedPartitionOut.ipus_after": 64,
    "Source.url": "https://docs.graphcore.ai/",
    "SshOut.host": "203.0.113.7",
    "SshOut.host_key_fingerprint": FINGERPRINT,
    "SshOut.port": 2201,
    "SshOut.user": "ubuntu",
    "StepOut.name": "attach_network",
    "StepOut.stage": "NETWORK",
    "StepOut.started_at": "2026-05-04T09:00:01Z",
    "StepOut.state": "running",
    "TargetOut.id": CLUSTER,
    "TopologyMachineOut.name": "lux2-p001-m01",
    "VipuOut.access_key": COMPOSED,
    "WhyNotOut.numbers": {
        "wanted": 4,
        "free": 2,
        "cleaning": 0,
        "validating": 0,
        "unhealthy": 1,
        "maintenance": 0,
        "silent": 0,
        "largest": 2,
        "missing": 2,
    },
}
