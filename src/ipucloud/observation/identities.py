"""Serial numbers, models, firmware and places, out of what a site answers. Pure; the answers are not trusted."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice

import orjson

from ipucloud.inventory.expected.shown import Shown
from ipucloud.site.vipu_ports import Agent
from ipucloud.wire.redfish import RedfishSystem
from ipucloud.wire.site import Host

LENGTH = 200
"""Characters of a text that are kept."""
PARTS = 64
"""Parts of a machine whose firmware and serial numbers are kept."""


def shown_machines(systems: Mapping[str, RedfishSystem], agents: Mapping[str, Agent]) -> list[Shown]:
    """By the machines' BMCs; their places by the agents of the V-IPU controller."""
    return [_machine(name, system, agents.get(name)) for name, system in systems.items() if printable(name) == name]


def shown_hosts(hosts: Mapping[str, Host]) -> list[Shown]:
    return [
        Shown(name, printable(host.serial_number), printable(host.model), printable(host.firmware))
        for name, host in hosts.items()
        if printable(name) == name
    ]


def printable(shown: str | None) -> str | None:
    """The printable characters of a text, without spaces around them; None if there are none."""
    return "".join(each for each in shown or "" if each.isprintable())[:LENGTH].strip() or None


def _machine(name: str, system: RedfishSystem, agent: Agent | None) -> Shown:
    return Shown(
        name,
        printable(system.SerialNumber),
        printable(system.Model),
        printable(system.BiosVersion),
        _by_part(system.Firmware),
        None if agent is None else agent.pod,
        None if agent is None else agent.slot,
        _by_part(system.Serials),
    )


def _by_part(shown: Mapping[str, str]) -> str:
    """As JSON with sorted keys."""
    parts = ((printable(part), printable(value)) for part, value in islice(shown.items(), PARTS))
    kept = {part: value for part, value in parts if part is not None and value is not None}
    return orjson.dumps(kept, option=orjson.OPT_SORT_KEYS).decode()
