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

For operators, and for customers whose cluster is degraded: what each code says, what follows from it, and what to do.
How reports come and go is in [how hardware is observed](operations.md#how-hardware-is-observed); what a customer sees
of them in [when hardware fails](concepts.md#when-hardware-fails). The declarations are
`src/ipucloud/inventory/health/codes.py`.

- **of**: `machine` is an IPU machine, `host` the host of a Poplar server.
- **health**: of the hardware, unless another report says worse.
- **new clusters**: whether they may get the hardware meanwhile.
- **credited**: whether the minutes of the cluster that holds it are credited ([billing](billing.md)).
- **other hardware**: whether a repair of the cluster takes other hardware in its place.

## What follows from a code

| code | of | source | health | new clusters | credited | other hardware |
|---|---|---|---|---|---|---|
"""
NEXT = """
## What is said, and what to do

The sentence is what the customer reads whose cluster holds the hardware. Where there is none, customers do not see the
report. The commands are for operators; `ipucloud admin reports list --code CODE` lists the hardware with the evidence.

| code | sentence for the customer | next step for the operator |
|---|---|---|
"""

_EXCHANGE = "Put it into maintenance, repair or exchange it, and return it to service."
STEPS = {
    "bmc_critical": f"Read the machine's BMC log. {_EXCHANGE}",
    "powered_off": "Find out who or what switched it off (BMC log, power feed), and switch it on.",
    "power_stuck": "Read the machine's BMC log; cut its power at the outlet if the BMC does not obey. Then exchange the"
    " machine.",
    "firmware_differs": "Bring its firmware to the version of its pod, in maintenance.",
    "agent_unreachable": "Check its management network and the V-IPU agent; restart the agent.",
    "link_down": "Check both ends and the cable of the link in the report's detail; exchange the cable.",
    "link_degraded": "Reseat or exchange the cable of the link in the report's detail when the machine is free.",
    "partition_error": "Nothing at first: the partition is reset every two minutes. If it stays, read at the V-IPU"
    " controller why it does not come up; quarantine the machine.",
    "allocation_lost": "Nothing at first: two sweeps in a row find it, and a worker makes the allocation, the keys and"
    " the partitions again. Find out why the controller lost its state.",
    "sensor_critical": "Check cooling and power of the machine and its neighbours; take it into maintenance.",
    "sensor_warning": "Check cooling and power before the value becomes critical.",
    "host_failed": f"Read the host's own management log. {_EXCHANGE} The disk of its Poplar server is lost with it.",
    "server_off": "Nothing, unless the customer says that nobody switched it off: then check the power of the host.",
    "ssh_unreachable": "Nothing, unless the customer reports it: customers may close the port.",
    "host_key_changed": "Ask the customer. If nobody changed the key, find out which system answers at the address.",
    "not_observed": "Check the BMC or the site's list of hosts; nothing fails or is credited until it answers.",
    "build_failed": "Nothing: it ends when the hardware was observed good for an hour. To end it earlier:"
    " `ipucloud admin return-to-service`.",
    "replaced": "Repair it. The report ends when the hardware was observed good for an hour.",
    "not_clean": "Repair it so that it answers. It is wiped and switched off then, and the report ends when it was"
    " observed clean; it cannot be ended by hand.",
    "not_validated": "Nothing: it is tested before it is given to a cluster.",
    "validation_failed": "Read the findings, put it into maintenance, and repair it; it is tested again afterwards.",
    "surplus": "Add it to the expected inventory, or remove it: `ipucloud admin inventory diff`.",
    "wrong_serial": "Accept the exchanged part, or put the expected one back: `ipucloud admin inventory accept`.",
    "wrong_model": "Correct the expected inventory, or exchange the machine: `ipucloud admin inventory diff`.",
    "cabling": "Cable the machine as its place in the chain expects, or correct the expected inventory.",
    "maintenance": "Finish the work, then `ipucloud admin return-to-service`.",
    "drain": "Wait until nothing has a holder any more, then do what it was drained for.",
    "quarantine": "Find out what made you doubt it, then `ipucloud admin return-to-service`.",
}
"""What an operator does, by code: the whole table of remedies."""


def page() -> str:
    """The text of the page."""
    codes = list(Code)
    return "".join([INTRODUCTION, *(_consequences(code) for code in codes), NEXT, *(_steps(code) for code in codes)])


def _declared(code: Code) -> Iterator[tuple[str, Declaration]]:
    for kind, codes in CODES.items():
        if code in codes:
            yield kind, codes[code]


def _consequences(code: Code) -> str:
    kinds, declarations = zip(*_declared(code), strict=True)
    declared = declarations[0]
    cells = (
        f"`{code}`",
        ", ".join(kinds),
        ", ".join(f"`{source}`" for source in sorted({each for one in declarations for each in one.sources})),
        declared.health,
        "yes" if declared.allocation is Allocation.ALLOWED else "no",
        "yes" if declared.credited else "no",
        "yes" if declared.repaired_by_replacement else "no",
    )
    return f"| {' | '.join(cells)} |\n"


def _steps(code: Code) -> str:
    messages = {declared.message for _, declared in _declared(code)}
    said = " ".join(sorted(message for message in messages if message is not None))
    return f"| `{code}` | {said or '—'} | {STEPS[code]} |\n"


if __name__ == "__main__":
    PAGE.write_text(page())
