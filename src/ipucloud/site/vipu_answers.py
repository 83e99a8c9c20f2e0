"""Validation of a V-IPU controller's answers, which are not trusted: an answer with any fault is rejected.

Only checked parts of a message are kept: texts are short and printable, ids can be stored and shown, numbers are in
range, and the answer matches the request.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TypeVar

from ipucloud.kernel.vipu import (
    DOMAIN_IPUS,
    PARTITION_ID,
    GatewayRouting,
    IpuNumber,
    PartitionOperationState,
    PartitionShape,
    Routing,
    SyncType,
)
from ipucloud.site.vipu_ports import (
    Agent,
    Allocation,
    ClusterTest,
    IpuofDevice,
    IpuofGcd,
    Link,
    Partition,
    PartitionIpu,
    PartitionState,
    PartitionStatus,
    Release,
    SeenPartition,
    TestState,
    UserEndpoint,
    VipuUser,
)
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as wire
from ipucloud.wire.inventory import LinkKind, LinkState

Value = TypeVar("Value")

MAX_IPUS = 65_536
"""The largest accepted number of IPUs of a partition and of a controller."""
MAX_NAMES = 100_000
MAX_ERRORS = 16
MAX_RESETS = 1_000_000
LATEST = 32_503_680_000
"""The year 3000, in seconds since 1970."""
MAX_ATTRIBUTES = 64
TEXT_LENGTH = 200

_ID = re.compile(PARTITION_ID, re.ASCII)
_NOT_SHOWN = re.compile(r"[^A-Za-z0-9._-]", re.ASCII)
_NAME = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)
_TEXT = re.compile(r"[\x20-\x7e]{0,200}", re.ASCII)

_STATES: Mapping[int, PartitionState] = {
    wire.PS_PENDING: PartitionState.PENDING,
    wire.PS_ACTIVE: PartitionState.ACTIVE,
    wire.PS_REMOVED: PartitionState.REMOVED,
    wire.PS_ERROR: PartitionState.ERROR,
}
_OPERATIONS: Mapping[int, PartitionOperationState] = {
    wire.POS_IDLE: PartitionOperationState.IDLE,
    wire.POS_CREATING: PartitionOperationState.CREATING,
    wire.POS_REMOVING: PartitionOperationState.REMOVING,
    wire.POS_RESETTING: PartitionOperationState.RESETTING,
    wire.POS_FAILED: PartitionOperationState.FAILED,
}
_TEST_STATES = {admin.TS_RUNNING: TestState.RUNNING, admin.TS_PASSED: TestState.PASSED}
_LINK_KINDS = {
    admin.LINK_INTERNAL: LinkKind.INTERNAL,
    admin.LINK_NEXT: LinkKind.NEXT,
    admin.LINK_GATEWAY: LinkKind.GATEWAY,
}
_LINK_STATES = {admin.LS_UP: LinkState.UP, admin.LS_DEGRADED: LinkState.DEGRADED, admin.LS_DOWN: LinkState.DOWN}
SYNC_TYPES: Mapping[int, SyncType] = {
    wire.ST_GS2_DEFAULT: SyncType.C2_COMPATIBLE,
    wire.ST_POD_NATIVE_DEFAULT: SyncType.POD_NATIVE,
    wire.ST_POD_NATIVE_REPLICATED_PIPELINE: SyncType.REPLICATED_PIPELINE,
}
ROUTINGS: Mapping[int, Routing] = {
    wire.IRT_DNC: Routing.DNC,
    wire.IRT_SWNC: Routing.SWNC,
    wire.IRT_BTNC: Routing.BTNC,
    wire.IRT_RINGSWNC: Routing.RINGSWNC,
}
GATEWAY_ROUTINGS: Mapping[int, GatewayRouting] = {
    wire.GRT_RING: GatewayRouting.RING,
    wire.GRT_SWRING: GatewayRouting.SWRING,
}


class InvalidAnswer(Exception):
    """The fault of an answer, in a sentence of ours that repeats nothing of it."""


def plain(text: str, length: int = TEXT_LENGTH) -> str:
    """A controller's sentence for our log: shortened, and without anything but plain text."""
    return "".join(each if each.isprintable() and each.isascii() else "?" for each in text[:length])


def release(version: str) -> Release:
    _require(bool(version.strip()), "it names no version")
    return Release(plain(version.strip(), 40))


def partition_state(ready_state: int) -> PartitionState:
    return _STATES.get(ready_state, PartitionState.UNKNOWN)


def partition_status(status: wire.PartitionStatus, partition_id: str) -> PartitionStatus:
    if status.partition_id not in {"", partition_id}:
        raise InvalidAnswer("the status is that of another partition")
    _require(
        max(status.auto_reset_retry_count, status.max_auto_reset_retries) < MAX_RESETS, "it counts too many resets"
    )
    return PartitionStatus(
        partition_state(status.ready_state),
        errors=tuple(plain(error) for error in status.errors[:MAX_ERRORS]),
        operation=_OPERATIONS.get(status.operation_state, PartitionOperationState.UNKNOWN),
        resets=status.auto_reset_retry_count,
        max_resets=status.max_auto_reset_retries,
        last_reset_at=_instant(status),
    )


def _instant(status: wire.PartitionStatus) -> datetime | None:
    """The time of the last reset; None for none, or one that no database could store."""
    seconds = status.last_auto_reset_time.seconds
    if not status.HasField("last_auto_reset_time") or not 0 < seconds < LATEST:
        return None
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=status.last_auto_reset_time.nanos // 1000)


def partition_names(partitions: Sequence[wire.Partition], allocation_id: str) -> list[str]:
    """The ids of an allocation's partitions, safe to show.

    Customers name partitions: an invalid name must not prevent the deletion of its cluster, or the audit of a whole
    region.
    """
    _require(len(partitions) <= MAX_NAMES, "it lists too many partitions")
    for each in partitions:
        _require(each.spec.allocation_id == allocation_id, "it lists a partition of another allocation")
    return [plain(each.id) for each in partitions]


def every_partition(partitions: Sequence[wire.Partition]) -> list[Partition]:
    """Every partition, with an id that is safe to show."""
    _require(len(partitions) <= MAX_NAMES, "it lists too many partitions")
    return [
        Partition(plain(each.id), _name(each.spec.allocation_id), partition_state(each.ready_state))
        for each in partitions
    ]


def partition_details(partitions: Sequence[wire.Partition], allocation_id: str) -> list[SeenPartition]:
    """The partitions of one allocation, in full. No IPU is in two of them.

    Customers name partitions: one with an invalid id is shown under another, unique one.
    """
    partition_names(partitions, allocation_id)
    _distinct([each.id for each in partitions])
    details = [
        SeenPartition(_shown_id(each.id), partition_state(each.ready_state), *_spec(each.spec)) for each in partitions
    ]
    _distinct([each.id for each in details])
    _distinct([ipu.physical for each in details for ipu in each.ipus])
    return details


def _spec(spec: wire.PartitionSpec) -> tuple[PartitionShape, tuple[PartitionIpu, ...]]:
    size = len(spec.ipus)
    _require(0 < size <= MAX_IPUS, "a partition has no IPUs, or too many")
    for count in (spec.num_gcds, spec.num_replicas, spec.num_ipulink_segments):
        _require(count <= size, "a partition has more GCDs, replicas or segments than IPUs")
    gcds = spec.num_gcds or 1
    _require(size % gcds == 0, "the GCDs of a partition do not divide its IPUs")
    shape = PartitionShape(
        size=size,
        gcds=gcds,
        replicas=spec.num_replicas or gcds,
        segments=spec.num_ipulink_segments or 1,
        reconfigurable=spec.reconfigurable,
        sync_type=_known(SYNC_TYPES, spec.sync_type, "sync type"),
        routing=_known(ROUTINGS, spec.ipulink_routing_type, "routing"),
        gateway_routing=_known(GATEWAY_ROUTINGS, spec.gw_routing_type, "gateway routing"),
    )
    return shape, tuple(_ipu(each, size) for each in spec.ipus)


def _ipu(ipu: wire.PartitionIpu, size: int) -> PartitionIpu:
    _require(ipu.ipulink_domain_topology_id < MAX_IPUS // DOMAIN_IPUS, "an IPU is in an impossible domain")
    _require(ipu.topology_id < DOMAIN_IPUS, "an IPU has an impossible number")
    _require(ipu.ipulink_domain_routing_id < size and ipu.routing_id < size, "an IPU has an impossible place")
    physical = IpuNumber(ipu.ipulink_domain_topology_id, ipu.topology_id)
    return PartitionIpu(physical, ipu.ipulink_domain_routing_id, ipu.routing_id)


def ipuof_gcds(config: wire.PartitionConfig, shape: PartitionShape) -> list[IpuofGcd]:
    """The configurations of a partition of this shape, in the order of its GCDs."""
    _require(len(config.gcd_configs) == shape.gcds, "the configuration has another number of GCDs")
    per_gcd = shape.size // shape.gcds
    return [_gcd(gcd, per_gcd) for gcd in config.gcd_configs]


def _gcd(gcd: wire.PartitionConfig.Gcd, ipus: int) -> IpuofGcd:
    _require(len(gcd.devices) == ipus, "a GCD has another number of devices than IPUs")
    _require(len(gcd.attributes) <= MAX_ATTRIBUTES, "a GCD has too many attributes")
    attributes = {_text(name): _text(value) for name, value in sorted(gcd.attributes.items())}
    return IpuofGcd(tuple(_device(device) for device in gcd.devices), attributes)


def _device(device: wire.IpuofDevice) -> IpuofDevice:
    try:
        address = str(ipaddress.ip_address(device.ip))
    except ValueError:
        raise InvalidAnswer("a device has no IP address") from None
    _require("%" not in address, "a device has an address with a zone")
    _require(0 < device.server_port <= 65_535, "a device has no port")
    small = (device.rdma_port, device.device_id, device.ipulink_segment_id, device.routing_id, device.ipu_arch_id)
    _require(max(*small, device.ipu_id) < MAX_IPUS, "a device has an impossible number")
    return IpuofDevice(
        ip=address,
        server_port=device.server_port,
        rdma_port=device.rdma_port,
        device_id=device.device_id,
        ipulink_segment_id=device.ipulink_segment_id,
        routing_id=device.routing_id,
        ipu_arch_id=device.ipu_arch_id,
        ipu_id=device.ipu_id,
        chip_id=_text(device.chip_id),
        gwsw_version=_text(device.gwsw_version),
        ipum_sw_version=_text(device.ipum_sw_version),
    )


def allocation(message: admin.Allocation) -> Allocation:
    _require(len(message.agent_ids) <= MAX_NAMES, "an allocation has too many agents")
    agents = _distinct([_name(agent) for agent in message.agent_ids])
    return Allocation(_name(message.id), _name(message.cluster_id), frozenset(agents), _endpoint(message))


def _endpoint(message: admin.Allocation) -> UserEndpoint | None:
    if not message.endpoint_host and not message.endpoint_port:
        return None
    _require(0 < message.endpoint_port <= 65_535, "an allocation's endpoint has no port")
    return UserEndpoint(_name(message.endpoint_host), message.endpoint_port)


def allocations(messages: Sequence[admin.Allocation]) -> list[Allocation]:
    _require(len(messages) <= MAX_NAMES, "it lists too many allocations")
    listed = [allocation(each) for each in messages]
    _distinct([each.id for each in listed])
    return listed


def cluster_test(message: admin.ClusterTest) -> ClusterTest:
    failures = tuple(
        plain(f"test {result.kind} of {link.from_agent} and {link.to_agent}: {link.detail}")
        for result in message.results[:MAX_ERRORS]
        for link in result.links[:MAX_NAMES]
        if not link.passed
    )
    return ClusterTest(_TEST_STATES.get(message.state, TestState.FAILED), failures)


def agents(messages: Sequence[admin.Agent]) -> list[Agent]:
    """The agents of a controller, without duplicates."""
    _require(len(messages) <= MAX_NAMES, "it lists too many agents")
    listed = [
        Agent(_name(each.id), each.reachable, _name(each.pod) if each.pod else None, each.slot if each.pod else None)
        for each in messages
    ]
    _distinct([each.id for each in listed])
    return listed


def links(messages: Sequence[admin.Link]) -> list[Link]:
    """The links of one allocation or of a whole controller, without duplicates."""
    _require(len(messages) <= MAX_NAMES, "it lists too many links")
    listed = [_link(each) for each in messages]
    _distinct([(each.kind, each.ends) for each in listed])
    return listed


def _link(link: admin.Link) -> Link:
    kind, state = _LINK_KINDS.get(link.kind), _LINK_STATES.get(link.state)
    if kind is None or state is None:
        raise InvalidAnswer("a link has an unknown kind or state")
    return Link(kind, (_name(link.from_agent), _name(link.to_agent)), state)


def user(message: admin.User, user_id: str) -> VipuUser:
    _require(message.id == user_id, "the answer is about another user")
    _require(
        len(message.allocation_ids) + len(message.access_key_ids) <= MAX_NAMES,
        "a user has too many allocations or keys",
    )
    allocations = frozenset(map(_name, message.allocation_ids))
    return VipuUser(user_id, allocations, message.all_allocations, frozenset(map(_name, message.access_key_ids)))


def users(messages: Sequence[admin.User]) -> list[VipuUser]:
    _require(len(messages) <= MAX_NAMES, "it lists too many users")
    listed = [user(each, each.id) for each in messages]
    _distinct([each.id for each in listed])
    return listed


def _known(values: Mapping[int, Value], number: int, what: str) -> Value | None:
    """The value for a number; None for 0, which stands for none."""
    if number and number not in values:
        raise InvalidAnswer(f"a partition has an unknown {what}")
    return values.get(number)


def _shown_id(text: str) -> str:
    """The id, or a replacement for one that cannot be shown: its beginning, and a digest that makes it unique.

    Our names never begin with an underscore, so the controller is never asked about such an id.
    """
    if _ID.fullmatch(text):
        return text
    return f"_{_NOT_SHOWN.sub('_', text[:26])}-{sha256(text.encode()).hexdigest()[:8]}"


def _name(text: str) -> str:
    _require(_NAME.fullmatch(text) is not None, "a name is missing or not valid")
    return text


def _text(text: str) -> str:
    _require(_TEXT.fullmatch(text) is not None, "a text is too long, or not plain")
    return text


def _distinct(values: list[Value]) -> list[Value]:
    _require(len(set(values)) == len(values), "an object is listed twice")
    return values


def _require(holds: bool, otherwise: str) -> None:
    if not holds:
        raise InvalidAnswer(otherwise)
