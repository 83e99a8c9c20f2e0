"""What `gc-info`, `gc-inventory` and `gc-monitor` print, in the layout of the vendor's tools. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from ipucloud.laboratory.simulator.ssh.devices import Device, Devices
from ipucloud.wire import vipu_pb2 as pb


def device_listing(devices: Devices) -> str:
    """`gc-info --list-devices`."""
    lines = ["Graphcore device listing:"]
    if devices.partition is not None:
        lines.append(f"Partition: {devices.partition.id} [active]")
    if devices.singles:
        lines += [f"-+- Id: [{n}], target: [{ipu.target}], {ipu.place}" for n, ipu in enumerate(devices.ipus)]
    for number, group in enumerate(devices.groups, start=devices.first_group):
        lines.append(f"-+- Id: [{number}], target: [Multi IPU]")
        lines += [
            f" |--- Id: [{member}], DNC Id: [{place}], {devices.ipus[member].place}"
            for place, member in enumerate(group)
        ]
    return "\n".join([*lines, ""])


def device_info(devices: Devices, ids: Sequence[int]) -> str:
    """`gc-info --device-info` and `gc-inventory`: every attribute of each device."""
    return "".join(f"Device Info:\n{_indented(_facts(devices, number))}" for number in ids)


def device_document(devices: Devices) -> str:
    """`gc-monitor --json`: the IPUs, each with its attributes, and no processes: nothing runs on simulated IPUs."""
    document = {
        "partition": None if devices.partition is None else devices.partition.id,
        "devices": [_facts(devices, number) for number in range(len(devices.ipus))],
        "processes": [],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def monitor(devices: Devices, *, cards: bool) -> str:
    """`gc-monitor`: a row for each IPU (with `cards`), then the processes, of which there are none."""
    heads, rows = _card_table(devices)
    table = _boxed(heads, rows)
    width = len(table[0]) - 2
    rule = "+" + "-" * width + "+"
    title = f"|{_title(devices):^{width}}|"
    where = "this server" if devices.partition is None else f"partition {devices.partition.id}"
    free = f"|{f'No attached processes in {where}':^{width}}|"
    return "\n".join([rule, title, *table, free, rule, ""] if cards else [rule, free, rule, ""])


def _facts(devices: Devices, number: int) -> dict[str, str]:
    members = devices.members(number)
    if len(members) == 1 and devices.singles:
        ipu = devices.ipus[members[0]]
        return {"id": str(number), "target": ipu.target, **dict(sorted(ipu.attributes.items()))}
    return {
        "id": str(number),
        "target": "Multi IPU",
        "num ipus": str(len(members)),
        "ipus": " ".join(map(str, members)),
    }


def _indented(facts: dict[str, str]) -> str:
    return "".join(f"  {name}: {value}\n" for name, value in facts.items())


def _title(devices: Devices) -> str:
    if devices.partition is None:
        return f"gc-monitor: {len(devices.ipus)} IPUs of this server"
    kind = "reconfigurable IPUs" if devices.partition.config.reconfigurable else "IPUs"
    return f"gc-monitor: partition {devices.partition.id} [active] has {len(devices.ipus)} {kind}"


def _card_table(devices: Devices) -> tuple[Sequence[str], list[Sequence[str]]]:
    if devices.partition is None:
        heads: Sequence[str] = ("PCIe ID", "Serial", "ICU FW", "Type", "ID", "Clock", "Temp", "Power")
        return heads, [_server_row(number, ipu) for number, ipu in enumerate(devices.ipus)]
    heads = ("IPU-M", "Serial", "IPU-M SW", "Server version", "ICU FW", "Type", "ID", "IPU#", "Routing")
    config = devices.partition.config
    routing = pb.IpuLinkRoutingType.Name(config.ipulink_routing_type).removeprefix("IRT_")
    wired = [device for gcd in config.gcd_configs for device in gcd.devices]
    rows: list[Sequence[str]] = [
        (
            device.ip,
            ipu.attributes.get("board serial number", "?"),
            device.ipum_sw_version,
            config.ipuof_server_version,
            ipu.attributes.get("firmware version", "?"),
            ipu.attributes.get("board type", "?"),
            str(number),
            str(device.ipu_id),
            routing,
        )
        for number, (device, ipu) in enumerate(zip(wired, devices.ipus, strict=True))
    ]
    return heads, rows


def _server_row(number: int, ipu: Device) -> Sequence[str]:
    wanted = ("clock", "average board temp", "ipu power")
    reported = ipu.attributes
    return (
        reported["pci id"],
        reported["board serial number"],
        reported["firmware version"],
        reported["board type"],
        str(number),
        *(reported[name] for name in wanted),
    )


def _boxed(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in (heads, *rows)) + 2 for column in range(len(heads))]
    rule = "+" + "+".join("-" * width for width in widths) + "+"

    def line(cells: Sequence[str]) -> str:
        return "|" + "|".join(f"{cell:^{width}}" for cell, width in zip(cells, widths, strict=True)) + "|"

    return [rule, line(heads), rule, *(line(row) for row in rows), rule]
