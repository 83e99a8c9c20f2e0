"""Writes docs/health.md from the codes that the code itself declares.

Run it from anywhere, in the project's environment: python docs/generate_health.py
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from ipucloud.inventory.health.codes import CODES, Allocation, Code, Declaration

PAGE = Path(__file__).with_name("health.md")

INTRODUCTION = """<!-- Written by docs/generate_health.py; do not edit. -->

# Codes of health reports

For operators, and for customers whose cluster is degraded.
[How hardware is observed](operations/hardware.md#how-hardware-is-observed) explains when reports open and close,
[when hardware fails](concepts.md#when-hardware-fails) what customers see. `ipucloud admin reports list --code CODE`
lists the hardware with the evidence.

- **health**: unless another report says worse.
- **new clusters**: whether they may get the hardware.
- **credited**: whether the minutes of its cluster are ([billing](billing.md)).
- **other hardware**: whether a repair of the cluster replaces it.

## What follows from a code

| code | of | health | new clusters | credited | other hardware | next step for the operator |
|---|---|---|---|---|---|---|
"""

_EXCHANGE = "Put it into maintenance, repair or exchange it, and return it to service."
STEPS = {
    "bmc_critical": f"Read the machine's BMC log. {_EXCHANGE}",
    "powered_off": "Find out what switched it off (BMC log, power feed), and switch it on.",
    "power_stuck": "Read the machine's BMC log; if the BMC does not obey, cut its power. Then exchange the machine.",
    "firmware_differs": "Bring its firmware to the version of its pod, in maintenance.",
    "agent_unreachable": "Check its management network and the V-IPU agent; restart the agent.",
    "link_down": "Check both ends and the cable of the link in the detail; exchange the cable.",
    "link_degraded": "Reseat or exchange the cable of the link in the detail when the machine is free.",
    "partition_error": "Nothing at first: the partition is reset every two minutes. If the report stays, read the"
    " cause at the V-IPU controller and quarantine the machine.",
    "allocation_lost": "Find out why the controller lost its state. A worker recreates the allocation.",
    "sensor_critical": "Check cooling and power of the machine and its neighbours; take it into maintenance.",
    "sensor_warning": "Check cooling and power before the value becomes critical.",
    "host_failed": f"Read the host's own management log. {_EXCHANGE} The disk of its Poplar server is lost with it.",
    "server_off": "Nothing, or if the customer did not switch it off, check the host's power.",
    "ssh_unreachable": "Nothing, unless the customer reports it.",
    "host_key_changed": "Ask the customer. If nobody changed the key, find out which system answers at the address.",
    "not_observed": "Check the BMC or the site's list of hosts; nothing fails or is credited until it answers.",
    "build_failed": "Nothing: it ends after an hour of good observations, or by `ipucloud admin return-to-service`.",
    "replaced": "Repair it. It ends after an hour of good observations.",
    "not_clean": "Repair it so that it answers. It is then wiped and switched off, which alone ends the report.",
    "not_validated": "Nothing: it is tested before a cluster gets it.",
    "validation_failed": "Read the findings, put it into maintenance, and repair it; it is tested again afterwards.",
    "surplus": "Add it to the expected inventory, or remove it.",
    "wrong_serial": "Accept the exchanged part, or put the expected one back: `ipucloud admin inventory accept`.",
    "wrong_model": "Correct the expected inventory, or exchange the machine.",
    "cabling": "Cable the machine as its place in the chain expects, or correct the expected inventory.",
    "maintenance": "Finish the work, then `ipucloud admin return-to-service`.",
    "drain": "Wait until nothing holds it, then do the planned work.",
    "quarantine": "Find the cause of the quarantine, then `ipucloud admin return-to-service`.",
}
"""What an operator does, by code: the whole table of remedies."""


def page() -> str:
    """The text of the page."""
    return "".join([INTRODUCTION, *(_row(code) for code in Code)])


def _declared(code: Code) -> Iterator[tuple[str, Declaration]]:
    for kind, codes in CODES.items():
        if code in codes:
            yield kind, codes[code]


def _row(code: Code) -> str:
    kinds, declarations = zip(*_declared(code), strict=True)
    declared = declarations[0]
    cells = (
        f"`{code}`",
        ", ".join(kinds),
        declared.health,
        "yes" if declared.allocation is Allocation.ALLOWED else "no",
        "yes" if declared.credited else "no",
        "yes" if declared.repaired_by_replacement else "no",
        STEPS[code],
    )
    return f"| {' | '.join(cells)} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())
