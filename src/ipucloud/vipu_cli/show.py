"""What `vipu` prints: tables for people, in the layout of the vendor's tool, and JSON for programs. Pure.

The JSON has all fields of the wire messages: it changes only with the published definition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from json import dumps

import orjson
from google.protobuf.json_format import MessageToDict, SerializeToJsonError
from google.protobuf.message import Message

from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.spellings import sync_type_name, word
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb

Row = Sequence[str]

LONGEST_CELL = 200
"""Characters that are shown of a cell before others: one that is longer would widen every row."""


def json(document: object) -> str:
    """A document as text, with a final line feed. What a terminal would obey is escaped."""
    text = orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS).decode()
    if not text.replace("\n", "").isprintable():
        text = "".join(each if each.isprintable() or each == "\n" else dumps(each)[1:-1] for each in text)
    return text.replace("\x7f", r"\u007f") + "\n"


def printable(text: str) -> str:
    """The text without what a terminal would obey, such as control characters of a controller's answer."""
    return text if text.isprintable() else "".join(each if each.isprintable() else "?" for each in text)


def plain(message: Message) -> dict[str, object]:
    """A message as a document: the wire's field names, enumerations by name. Raises VipuProblem."""
    try:
        return MessageToDict(message, preserving_proto_field_name=True, always_print_fields_with_no_presence=True)
    except (ValueError, SerializeToJsonError) as error:  # such as a time before the year 1
        raise VipuProblem("the controller's answer has a value that is out of range") from error


def plain_all(messages: Iterable[Message]) -> list[dict[str, object]]:
    return [plain(message) for message in messages]


def partitions(items: Sequence[pb.Partition]) -> str:
    """`vipu list partitions`."""
    heads = ("Partition", "Cluster", "ILDs", "GW Routing", "ILD Routing", "Size", "GCDs", "State")
    return table(
        heads,
        [
            (
                partition.id,
                partition.spec.cluster_id,
                str(partition.spec.num_ipulink_segments),
                word(pb.GatewayRoutingType, partition.spec.gw_routing_type),
                word(pb.IpuLinkRoutingType, partition.spec.ipulink_routing_type),
                str(len(partition.spec.ipus)),
                str(partition.spec.num_gcds),
                word(pb.PartitionReadyState, partition.ready_state),
            )
            for partition in items
        ],
    )


def allocations(items: Sequence[admin.Allocation]) -> str:
    """`vipu list allocations`."""
    return table(("Allocation ID", "Agents"), [(each.id, " ".join(each.agent_ids)) for each in items])


def attributes(entries: Sequence[pb.ListIPUAttributesReply.Entry]) -> str:
    """`vipu list ipu-attrs`: agent and IPU are shown on their first row."""
    return table(("Agent", "IPU", "Attribute", "Value"), list(_attribute_rows(entries)))


def partition(item: pb.Partition, status: pb.PartitionStatus) -> str:
    """`vipu get partition`."""
    spec = item.spec
    domains: dict[int, list[int]] = {}
    for ipu in spec.ipus:
        domains.setdefault(ipu.ipulink_domain_topology_id, []).append(ipu.topology_id)
    rows = [
        ("Partition ID", item.id),
        ("Allocation ID", spec.allocation_id),
        ("Cluster ID", spec.cluster_id),
        ("Size", str(len(spec.ipus))),
        (
            "IPUs",
            "; ".join(f"{domain}: {' '.join(map(str, sorted(ipus)))}" for domain, ipus in sorted(domains.items())),
        ),
        ("GCDs", str(spec.num_gcds)),
        ("Replicas", str(spec.num_replicas)),
        ("ILDs", str(spec.num_ipulink_segments)),
        ("ILD Routing", word(pb.IpuLinkRoutingType, spec.ipulink_routing_type)),
        ("GW Routing", word(pb.GatewayRoutingType, spec.gw_routing_type)),
        ("Sync Type", sync_type_name(spec.sync_type)),
        ("Reconfigurable", "yes" if spec.reconfigurable else "no"),
        ("State", word(pb.PartitionReadyState, status.ready_state)),
        ("Operation", word(pb.PartitionOperationState, status.operation_state)),
        ("Auto resets", f"{status.auto_reset_retry_count} of {status.max_auto_reset_retries}"),
        *(("Error", error) for error in status.errors),
    ]
    return table(("Property", "Value"), rows)


def _attribute_rows(entries: Sequence[pb.ListIPUAttributesReply.Entry]) -> Iterator[Row]:
    for entry in entries:
        agent = entry.agent
        for number, attributes in sorted(entry.ipu_attributes.items()):
            ipu = str(number)
            for name, value in sorted(attributes.attributes.items()):
                yield agent, ipu, name, value
                agent = ipu = ""


def table(heads: Row, rows: Sequence[Row]) -> str:
    """Rows under their heads, between rules. Only the last column may have cells of any length: nothing is after it."""
    shown = [[*(printable(cell)[:LONGEST_CELL] for cell in row[:-1]), printable(row[-1])] for row in (heads, *rows)]
    widths = [max(len(row[column]) for row in shown) for column in range(len(heads))]
    lines = [(" " + " | ".join((*map(str.ljust, row[:-1], widths), row[-1]))).rstrip() for row in shown]
    rule = "-" * (sum(widths) + 3 * len(widths))
    return "\n".join([rule, lines[0], rule, *lines[1:], *([rule] if rows else []), ""])
