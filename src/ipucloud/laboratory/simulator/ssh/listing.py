"""What `gc-info`, `gc-inventory` and `gc-monitor` print, in the layout of the vendor's tools. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import orjson

from ipucloud.laboratory.simulator.ssh.attachments import Holder, by_holder
from ipucloud.laboratory.simulator.ssh.devices import Device, Devices
from ipucloud.laboratory.simulator.vipu.attributes import routing_name


def device_listing(devices: Devices) -> str:
    """`gc-info --list-devices`."""
    lines = ["Graphcore device listing:"]
    if devices.partition is not None:
        lines.append(f"Partition: {devices.partition.id} [active]")
    if devices.singles:
        lines += _singles(devices, 0)
    for number, group in enumerate(devices.groups, start=devices.first_group):
        lines.append(f"-+- Id: [{number}], target: [Multi IPU]")
        lines += [
            f" |--- Id: [{member}], DNC Id: [{place}], {devices.ipus[member].place}"
            for place, member in enumerate(group)
        ]
    return "\n".join([*lines, ""])


def all_partitions_listing(partitions: Sequence[tuple[Devices, bool]]) -> str:
    """`gc-info --list-devices --all-partitions`: single IPUs, whose ids continue from partition to partition."""
    lines, first = ["Graphcore device listing:"], 0
    for devices, active in partitions:
        name = "" if devices.partition is None else devices.partition.id
        lines += [f"Partition: {name} [active]" if active else f"Partition: {name}", *_singles(devices, first)]
        first += len(devices.ipus)
    return "\n".join([*lines, ""])


def _singles(devices: Devices, first: int) -> list[str]:
    return [
        f"-+- Id: [{number}], target: [{ipu.target}], {ipu.place}"
        for number, ipu in enumerate(devices.ipus, start=first)
    ]


def device_info(devices: Devices, ids: Sequence[int]) -> str:
    """`gc-info --device-info` and `gc-inventory`: every attribute of each device."""
    return "".join(f"Device Info:\n{_indented(_facts(devices, number))}" for number in ids)


def device_document(devices: Devices) -> str:
    """`gc-monitor --json`: the IPUs, each with its attributes, and the processes of this server that hold some."""
    document = {
        "partition": None if devices.partition is None else devices.partition.id,
        "devices": [_ipu_facts(number, ipu) for number, ipu in enumerate(devices.ipus)],
        "processes": [
            {
                "pid": holder.process,
                "command": holder.command,
                "user": holder.user,
                "seconds": devices.ipus[ids[0]].seconds,
                "ids": ids,
            }
            for holder, ids in _held(devices).items()
        ],
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def monitor(devices: Devices, *, cards: bool) -> str:
    """`gc-monitor`: a row for each IPU (with `cards`), then one for each IPU that a process of this server holds."""
    table = _card_table(devices)
    width = len(table[0])
    title = f"|  gc-monitor   |{_title(devices):^{width - 18}}|"
    processes = [*_process_table(devices, width), ""]
    return "\n".join([f"+{'-' * 15}+{'-' * (width - 18)}+", title, *table, *processes] if cards else processes)


def _process_table(devices: Devices, width: int) -> list[str]:
    where = "" if devices.partition is None else f" in partition {devices.partition.id}"
    rule = "+" + "-" * (width - 2) + "+"
    held = [(number, ipu, ipu.holder) for number, ipu in enumerate(devices.ipus) if ipu.holder is not None]
    if not held:
        return [rule, f"|{f'No attached processes{where}':^{width - 2}}|", rule]
    boards = [list(together) for _, together in groupby(held, key=lambda each: _board(each[1]))]
    table = _boxed(_PROCESS_COLUMNS, [_process_rows(devices, board) for board in boards])
    widths = list(map(len, table[0].strip("+").split("+")))
    parts = [sum(widths[first:last]) + last - first - 1 for first, last in ((0, 4), (4, 7), (7, 9))]
    titles = zip((f"Attached processes{where}", "IPU", "Board"), parts, strict=True)
    heads = "|" + "|".join(f"{title:^{part}}" for title, part in titles) + "|"
    return ["+" + "+".join("-" * part for part in parts) + "+", heads, *table]


def _process_rows(devices: Devices, board: Sequence[tuple[int, Device, Holder]]) -> list[Sequence[str]]:
    """Of the IPUs of one board that are held. What is the board's is in the first row."""
    _, first, _ = board[0]
    loads = [
        (first.attributes.get("average board temp", "N/A"), _power(devices, first)),
        *[("", "")] * (len(board) - 1),
    ]
    return [
        (
            str(holder.process),
            holder.command,
            _duration(ipu.seconds),
            holder.user,
            str(number),
            *(ipu.attributes.get(name, "N/A") for name in ("clock", "average die temp")),
            *load,
        )
        for (number, ipu, holder), load in zip(board, loads, strict=True)
    ]


def _board(ipu: Device) -> str:
    return ipu.attributes.get("board serial number", "")


def _power(devices: Devices, ipu: Device) -> str:
    """What its board draws, as it says or as its IPUs say."""
    board_power = ipu.attributes.get("total board power", "N/A")
    drawn = [each.attributes.get("ipu power", "N/A") for each in devices.ipus if _board(each) == _board(ipu)]
    if board_power != "N/A" or "N/A" in drawn:
        return board_power
    return f"{sum(float(each.removesuffix(' W')) for each in drawn):.1f} W"


def _duration(seconds: int) -> str:
    """As the vendor's tool has it: 13s, 4m1s."""
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    return (f"{hours}h" if hours else "") + (f"{minutes}m" if hours or minutes else "") + f"{seconds}s"


def _held(devices: Devices) -> Mapping[Holder, list[int]]:
    return by_holder((number, ipu.holder) for number, ipu in enumerate(devices.ipus))


def _facts(devices: Devices, number: int) -> dict[str, str]:
    members = devices.members(number)
    if len(members) == 1 and devices.singles:
        return _ipu_facts(number, devices.ipus[members[0]])
    return {
        "id": str(number),
        "target": "Multi IPU",
        "num ipus": str(len(members)),
        "ipus": " ".join(map(str, members)),
    }


def _ipu_facts(number: int, ipu: Device) -> dict[str, str]:
    return {"id": str(number), "target": ipu.target, **dict(sorted(ipu.attributes.items()))}


def _indented(facts: dict[str, str]) -> str:
    return "".join(f"  {name}: {value}\n" for name, value in facts.items())


def _title(devices: Devices) -> str:
    if devices.partition is None:
        return f"{len(devices.ipus)} IPUs"
    gcd = "" if devices.partition.gcd is None else f" (gcd:{devices.partition.gcd})"
    kind = "reconfigurable IPUs" if devices.partition.config.reconfigurable else "IPUs"
    return f"Partition: {devices.partition.id}{gcd} [active] has {len(devices.ipus)} {kind}"


Columns = Sequence[tuple[str, int]]

_MACHINE_COLUMNS: Columns = (
    ("IPU-M", 13),
    ("Serial", 20),
    ("IPU-M SW", 8),
    ("Server version", 14),
    ("ICU FW", 10),
    ("Type", 6),
    ("ID", 4),
    ("IPU#", 6),
    ("Routing", 7),
)
"""The columns of the vendor's samples and their widths; a wider value widens its column."""
_PROCESS_COLUMNS: Columns = (
    ("PID", 8),
    ("Command", 41),
    ("Time", 8),
    ("User", 12),
    ("ID", 4),
    ("Clock", 10),
    ("Temp", 8),
    ("Temp", 8),
    ("Power", 8),
)
_CARD_COLUMNS: Columns = (
    ("PCIe ID", 14),
    ("Serial", 20),
    ("ICU FW", 10),
    ("Type", 6),
    ("ID", 4),
    ("Clock", 9),
    ("Temp", 9),
    ("Power", 9),
)


def _card_table(devices: Devices) -> list[str]:
    """The table of devices, with a rule after each machine or board."""
    if devices.partition is None:
        cards = [_server_row(number, ipu) for number, ipu in enumerate(devices.ipus)]
        return _boxed(_CARD_COLUMNS, [list(card) for _, card in groupby(cards, key=lambda row: row[1])])
    config = devices.partition.config
    routing = routing_name(config.ipulink_routing_type)
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
    return _boxed(_MACHINE_COLUMNS, [list(machine) for _, machine in groupby(rows, key=lambda row: row[0])])


def _server_row(number: int, ipu: Device) -> Sequence[str]:
    names = ("clock", "average board temp", "total board power")
    reported = ipu.attributes
    return (
        reported["pci id"],
        reported["board serial number"],
        reported["firmware version"],
        reported["board type"],
        str(number),
        *(reported[name] for name in names),
    )


def _boxed(columns: Columns, groups: Sequence[Sequence[Sequence[str]]]) -> list[str]:
    """Rows under the columns' heads, with a rule after each group."""
    heads = [head for head, _ in columns]
    cells = zip(heads, *(row for group in groups for row in group), strict=True)
    widths = [max(least, *map(len, each)) for (_, least), each in zip(columns, cells, strict=True)]
    rule = "+" + "+".join("-" * width for width in widths) + "+"

    def line(cells: Sequence[str]) -> str:
        return "|" + "|".join(f"{cell:^{width}}" for cell, width in zip(cells, widths, strict=True)) + "|"

    table = [rule, line(heads), rule]
    for group in groups:
        table += [*map(line, group), rule]
    return table
