"""A client of the published V-IPU user service that shares nothing with ours: built at run time from the table below.

The table is the vendor's definition as the design of this project records it: `name = number type`, `*` for repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, timestamp_pb2
from google.protobuf.message import Message

from tests.support.waiting import PATIENCE

PACKAGE = "virmgrpc"

ENUMS = """
PartitionReadyState: PS_UNDEFINED 0, PS_PENDING 1, PS_ACTIVE 2, PS_REMOVED 3, PS_ERROR 4
PartitionOperationState: POS_UNDEFINED 0, POS_IDLE 1, POS_CREATING 2, POS_REMOVING 3, POS_RESETTING 4, POS_FAILED 5
IpuLinkRoutingType: IRT_UNDEFINED 0, IRT_DNC 1, IRT_SWNC 2, IRT_BTNC 3, IRT_RINGSWNC 4
GatewayRoutingType: GRT_UNDEFINED 0, GRT_RING 2, GRT_SWRING 3
SyncType: ST_UNDEFINED 0, ST_GS2_DEFAULT 1, ST_GS2_INDEPENDENT_RAILS 2, ST_POD_NATIVE_DEFAULT 3, \
ST_POD_NATIVE_REPLICATED_PIPELINE 4
"""

MESSAGES = """
VersionRequest:
VersionReply: version=1 string
PartitionIpu: ipulink_domain_topology_id=1 u32, ipulink_domain_routing_id=2 u32, topology_id=3 u32, routing_id=4 u32
PartitionSpec: cluster_id=1 string, ipus=2 *PartitionIpu, ipulink_routing_type=3 IpuLinkRoutingType, \
sync_type=4 SyncType, num_gcds=5 u32, num_ipulink_segments=6 u32, reconfigurable=7 bool, \
gw_routing_type=8 GatewayRoutingType, num_replicas=9 u32, allocation_id=10 string
Partition: id=1 string, spec=2 PartitionSpec, ready_state=3 PartitionReadyState, ipuof_server_version=4 string
ListPartitionsRequest: allocation_id=1 string
ListPartitionsReply: partitions=1 *Partition
PartitionRequirements: id=1 string, size=2 u32, cluster_id=3 string, ipulink_routing_type=4 IpuLinkRoutingType, \
num_ipulink_segments=5 u32, gw_routing_type=6 GatewayRoutingType, sync_type=7 SyncType, num_gcds=8 u32, \
reconfigurable=9 bool, num_replicas=10 u32, allocation_id=11 string, ipus=12 *PartitionIpu
CreatePartitionRequest: requirements=2 PartitionRequirements, disable_auto_reset=3 bool, relocatable=5 bool
CreatePartitionReply: partition_id=1 string
RemovePartitionRequest: partition_id=1 string, force=2 bool
RemovePartitionReply:
ResetPartitionRequest: partition_id=1 string, relocatable=2 bool
ResetPartitionReply:
PartitionStatus: partition_id=1 string, ready_state=2 PartitionReadyState, operation_state=3 PartitionOperationState, \
errors=4 *string, max_auto_reset_retries=5 u32, auto_reset_retry_count=6 u32, \
last_auto_reset_time=7 .google.protobuf.Timestamp
GetPartitionStatusRequest: partition_id=1 string
GetPartitionStatusReply: status=1 PartitionStatus
GetPartitionIpuofConfigRequest.GcdID: id=1 u32
GetPartitionIpuofConfigRequest: partition_id=1 string, gcd_id=2 GetPartitionIpuofConfigRequest.GcdID
IpuofDevice: ip=1 string, server_port=2 u32, rdma_port=3 u32, device_id=4 u32, ipulink_segment_id=5 u32, \
routing_id=6 u32, ipu_arch_id=7 u32, ipu_id=8 u32, chip_id=9 string, gwsw_version=10 string, ipum_sw_version=11 string
PartitionConfig.Gcd: devices=2 *IpuofDevice, attributes=3 map string string
PartitionConfig: ipulink_routing_type=2 IpuLinkRoutingType, sync_type=3 SyncType, reconfigurable=5 bool, \
gw_routing_type=6 GatewayRoutingType, num_ipulink_segments=7 u32, gcd_configs=8 *PartitionConfig.Gcd, \
ipuof_server_version=9 string
GetPartitionIpuofConfigReply: ipuof_config=1 PartitionConfig
ListIPUAttributesRequest: agents=1 *string
ListIPUAttributesReply.Entry.Attributes: attributes=1 map string string
ListIPUAttributesReply.Entry: agent=1 string, ipu_attributes=2 map u32 ListIPUAttributesReply.Entry.Attributes
ListIPUAttributesReply: entries=1 *ListIPUAttributesReply.Entry
"""

USER_CALLS = (
    *("ListPartitions", "ListIPUAttributes", "CreatePartition", "RemovePartition"),
    *("ResetPartition", "GetPartitionIpuofConfig", "GetPartitionStatus"),
)
METHODS = dict.fromkeys(USER_CALLS, "UserService") | {"GetVersion": "VersionService"}

_Field = descriptor_pb2.FieldDescriptorProto
_SCALARS = {"string": _Field.TYPE_STRING, "u32": _Field.TYPE_UINT32, "bool": _Field.TYPE_BOOL}


class IndependentClient:
    """Every call by its published name, with plain values in and messages of the table out."""

    def __init__(self, channel: grpc.Channel) -> None:
        pool = published_pool()
        self._requests: dict[str, type[Message]] = {}
        self._calls: dict[str, Callable[..., Any]] = {}
        for name, service in METHODS.items():
            self._requests[name] = _message(pool, f"{_stem(name)}Request")
            self._calls[name] = channel.unary_unary(
                f"/{PACKAGE}.{service}/{name}",
                request_serializer=self._requests[name].SerializeToString,
                response_deserializer=_message(pool, f"{_stem(name)}Reply").FromString,
            )

    def call(self, method: str, **fields: Any) -> Any:
        """The reply to a request with these fields. Raises grpc.RpcError when it is refused."""
        make: Callable[..., Message] = self._requests[method]
        return self._calls[method](make(**fields), timeout=PATIENCE)


def _message(pool: descriptor_pool.DescriptorPool, name: str) -> type[Message]:
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{PACKAGE}.{name}"))


def _stem(method: str) -> str:
    return "Version" if method == "GetVersion" else method


def _lines(table: str) -> Iterator[tuple[str, list[str]]]:
    for line in table.strip().splitlines():
        name, _, rest = line.partition(":")
        yield name, [each.strip() for each in rest.split(",") if each.strip()]


def published_pool() -> descriptor_pool.DescriptorPool:
    """The table as descriptors, in the file `independent.proto`."""
    file = descriptor_pb2.FileDescriptorProto(name="independent.proto", package=PACKAGE, syntax="proto3")
    file.dependency.append("google/protobuf/timestamp.proto")
    enums = {name for name, _ in _lines(ENUMS)}
    for name, values in _lines(ENUMS):
        enum = file.enum_type.add(name=name)
        for value in values:
            label, number = value.split()
            enum.value.add(name=label, number=int(number))
    messages: dict[str, descriptor_pb2.DescriptorProto] = {}
    for name, fields in sorted(_lines(MESSAGES), key=lambda line: line[0].count(".")):
        outer, _, last = name.rpartition(".")
        messages[name] = messages[outer].nested_type.add(name=last) if outer else file.message_type.add(name=last)
        for field in fields:
            _add_field(messages[name], name, field, enums)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(timestamp_pb2.DESCRIPTOR.serialized_pb)
    pool.Add(file)
    return pool


def _add_field(message: descriptor_pb2.DescriptorProto, name: str, text: str, enums: set[str]) -> None:
    label, _, rest = text.partition("=")
    number, *kind = rest.split()
    field = message.field.add(name=label, number=int(number), label=_Field.LABEL_OPTIONAL)
    if kind[0] == "map":
        entry_name = "".join(part.capitalize() for part in label.split("_")) + "Entry"
        entry = message.nested_type.add(name=entry_name)
        entry.options.map_entry = True
        _set_type(entry.field.add(name="key", number=1, label=_Field.LABEL_OPTIONAL), kind[1], enums)
        _set_type(entry.field.add(name="value", number=2, label=_Field.LABEL_OPTIONAL), kind[2], enums)
        field.label, field.type = _Field.LABEL_REPEATED, _Field.TYPE_MESSAGE
        field.type_name = f".{PACKAGE}.{name}.{entry_name}"
        return
    if kind[0].startswith("*"):
        field.label = _Field.LABEL_REPEATED
    _set_type(field, kind[0].removeprefix("*"), enums)


def _set_type(field: descriptor_pb2.FieldDescriptorProto, kind: str, enums: set[str]) -> None:
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        return
    field.type = _Field.TYPE_ENUM if kind in enums else _Field.TYPE_MESSAGE
    field.type_name = kind if kind.startswith(".") else f".{PACKAGE}.{kind}"
