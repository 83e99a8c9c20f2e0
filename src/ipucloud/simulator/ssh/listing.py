"""What `gc-info`, `gc-monitor` and `vipu` print, in the layout of the vendor's tools. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from ipucloud.simulator.vipu.attributes import FIRMWARE_VERSION
from ipucloud.wire import vipu_pb2 as pb


def device_groups(count: int) -> list[range]:
    """The multi-IPU devices over `count` IPUs, in the order of their ids: pairs, quads, and so on to the whole.

    With the single IPUs before them, N IPUs make 2N - 1 device ids.
    """
    sizes = (1 << k for k in range(1, count.bit_length()))
    return [range(first, first + size) for size in sizes for first in range(0, count, size)]


def device_listing(partition: str, config: pb.PartitionConfig) -> str:
    """`gc-info --list-devices`."""
    devices = list(chain.from_iterable(gcd.devices for gcd in config.gcd_configs))
    lines = ["Graphcore device listing:", f"Partition: {partition} [active]"]
    if config.reconfigurable or len(devices) == 1:
        lines += [f"-+- Id: [{number}], target: [Fabric], {_where(device)}" for number, device in enumerate(devices)]
        groups = device_groups(len(devices))
        first = len(devices)
    else:
        groups, first = list(_gcd_groups(config)), 0
    for number, group in enumerate(groups, start=first):
        lines.append(f"-+- Id: [{number}], target: [Multi IPU]")
        lines += [
            f" |--- Id: [{member}], DNC Id: [{place}], {_where(devices[member])}" for place, member in enumerate(group)
        ]
    return "\n".join([*lines, ""])


def monitor_table(partition: str, config: pb.PartitionConfig, board: str, serials: Sequence[str]) -> str:
    """`gc-monitor`: one row for each IPU. `serials` are the board serial numbers in the order of the devices."""
    devices = list(chain.from_iterable(gcd.devices for gcd in config.gcd_configs))
    kind = "reconfigurable IPUs" if config.reconfigurable else "IPUs"
    routing = pb.IpuLinkRoutingType.Name(config.ipulink_routing_type).removeprefix("IRT_")
    heads = ("IPU-M", "Serial", "IPU-M SW", "Server version", "ICU FW", "Type", "ID", "IPU#", "Routing")
    rows = [
        (
            device.ip,
            serial,
            device.ipum_sw_version,
            config.ipuof_server_version,
            FIRMWARE_VERSION,
            board,
            str(number),
            str(device.ipu_id),
            routing,
        )
        for number, (device, serial) in enumerate(zip(devices, serials, strict=True))
    ]
    table = _boxed(heads, rows)
    width = len(table[0]) - 2
    title = f"gc-monitor: partition {partition} [active] has {len(devices)} {kind}"
    rule = "+" + "-" * width + "+"
    free = f"No attached processes in partition {partition}"
    return "\n".join([rule, f"|{title:^{width}}|", *table, f"|{free:^{width}}|", rule, ""])


def partition_table(partitions: Sequence[pb.Partition]) -> str:
    """`vipu list partitions`."""
    heads = ("Partition", "ILDs", "GW Routing", "ILD Routing", "Size", "GCDs", "State")
    rows = [
        (
            partition.id,
            str(partition.spec.num_ipulink_segments),
            _plain(pb.GatewayRoutingType.Name(partition.spec.gw_routing_type)),
            _plain(pb.IpuLinkRoutingType.Name(partition.spec.ipulink_routing_type)),
            str(len(partition.spec.ipus)),
            str(partition.spec.num_gcds),
            pb.PartitionReadyState.Name(partition.ready_state).removeprefix("PS_"),
        )
        for partition in partitions
    ]
    widths = [max(len(row[column]) for row in (heads, *rows)) for column in range(len(heads))]
    lines = [" " + " | ".join(f"{cell:{w}}" for cell, w in zip(row, widths, strict=True)) for row in (heads, *rows)]
    rule = "-" * (sum(widths) + 3 * len(widths))
    return "\n".join([rule, lines[0], rule, *lines[1:], rule, ""])


def _gcd_groups(config: pb.PartitionConfig) -> Iterator[range]:
    """A partition that is not reconfigurable shows one device for each GCD."""
    first = 0
    for gcd in config.gcd_configs:
        yield range(first, first + len(gcd.devices))
        first += len(gcd.devices)


def _where(device: pb.IpuofDevice) -> str:
    return f"IPU-M host: [{device.ip}], IPU#: [{device.ipu_id}]"


def _plain(name: str) -> str:
    return name.split("_", 1)[1].replace("UNDEFINED", "DEFAULT")


def _boxed(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in (heads, *rows)) + 2 for column in range(len(heads))]
    rule = "+" + "+".join("-" * width for width in widths) + "+"

    def line(cells: Sequence[str]) -> str:
        return "|" + "|".join(f"{cell:^{width}}" for cell, width in zip(cells, widths, strict=True)) + "|"

    return [rule, line(heads), rule, *(line(row) for row in rows), rule]
