"""Every code of a health report, declared once: what it says and what follows from it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["machine", "host"]
"""What a report is about: an IPU machine, or a server that can become a Poplar server."""


class Health(StrEnum):
    """The health of a machine or host, by its live reports: the worst of what they say, in this order."""

    OK = "ok"
    UNKNOWN = "unknown"
    DEGRADED = "degraded"
    FAILED = "failed"


class Source(StrEnum):
    """Who reports: what was read at the site, an operation of a cluster, or a person."""

    BMC = "bmc"
    VIPU = "v-ipu"
    HOST = "host"
    SSH = "ssh"
    SITE = "site"
    OPERATION = "operation"
    OPERATOR = "operator"


OBSERVED = frozenset({Source.BMC, Source.VIPU, Source.HOST, Source.SSH, Source.SITE})
"""Sources whose reports observation writes and clears; the others' end when they are cleared, or expire."""


class Allocation(StrEnum):
    """Whether new clusters may get the object while the report is live."""

    ALLOWED = "allowed"
    PREVENTED = "prevented"


class Code(StrEnum):
    """What a report says. The values are stable: they are in the API."""

    BMC_CRITICAL = "bmc_critical"
    POWERED_OFF = "powered_off"
    POWER_STUCK = "power_stuck"
    FIRMWARE_DIFFERS = "firmware_differs"
    AGENT_UNREACHABLE = "agent_unreachable"
    SENSOR_CRITICAL = "sensor_critical"
    SENSOR_WARNING = "sensor_warning"
    LINK_DOWN = "link_down"
    LINK_DEGRADED = "link_degraded"
    PARTITION_ERROR = "partition_error"
    ALLOCATION_LOST = "allocation_lost"
    HOST_FAILED = "host_failed"
    SERVER_OFF = "server_off"
    SSH_UNREACHABLE = "ssh_unreachable"
    HOST_KEY_CHANGED = "host_key_changed"
    NOT_OBSERVED = "not_observed"
    BUILD_FAILED = "build_failed"
    REPLACED = "replaced"
    NOT_CLEAN = "not_clean"
    NOT_VALIDATED = "not_validated"
    VALIDATION_FAILED = "validation_failed"
    SURPLUS = "surplus"
    WRONG_SERIAL = "wrong_serial"
    WRONG_MODEL = "wrong_model"
    CABLING = "cabling"
    MAINTENANCE = "maintenance"
    DRAIN = "drain"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Declaration:
    """What follows from a live, confirmed report with this code.

    `credited`: minutes of the cluster that holds the object are credited. `health`: what the object's health is then,
    unless another report says worse. `maintenance`: the object is in maintenance. `message`: the sentence for the
    customer whose cluster holds the object; None: customers do not see the report. `repaired_by_replacement`: a repair
    of the cluster takes other hardware instead.

    `prevents_automation`: a person works on the object, and workers start nothing on it by themselves while no cluster
    holds it. `suppresses_alerts`: what else is reported about the object wakes nobody. `validated`: a machine is
    validated once the report ended.
    """

    sources: frozenset[Source]
    allocation: Allocation
    credited: bool
    health: Health
    message: str | None
    maintenance: bool = False
    prevents_automation: bool = False
    suppresses_alerts: bool = False
    repaired_by_replacement: bool = False
    validated: bool = False


def _differs(*sources: Source) -> Declaration:
    """Of hardware that differs from the expected inventory: it may work, but new clusters do not get it meanwhile."""
    return Declaration(frozenset(sources), Allocation.PREVENTED, credited=False, health=Health.OK, message=None)


_BOTH: Mapping[Code, Declaration] = {
    Code.SURPLUS: _differs(Source.BMC, Source.HOST),
    Code.WRONG_SERIAL: _differs(Source.BMC, Source.HOST),
    Code.WRONG_MODEL: _differs(Source.BMC, Source.HOST),
    Code.NOT_OBSERVED: Declaration(
        frozenset({Source.BMC, Source.HOST}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.UNKNOWN,
        message="The site does not report the state of this hardware.",
    ),
    Code.BUILD_FAILED: Declaration(
        frozenset({Source.OPERATION}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.DEGRADED,
        message="An operation failed because of this hardware.",
        validated=True,
    ),
    Code.REPLACED: Declaration(
        frozenset({Source.OPERATION}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.OK,
        message=None,
        validated=True,
    ),
    Code.NOT_CLEAN: Declaration(
        frozenset({Source.OPERATION}), Allocation.PREVENTED, credited=False, health=Health.OK, message=None
    ),
    Code.MAINTENANCE: Declaration(
        frozenset({Source.OPERATOR}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.DEGRADED,
        message="The operator maintains this hardware.",
        maintenance=True,
        validated=True,
        prevents_automation=True,
        suppresses_alerts=True,
    ),
    Code.DRAIN: Declaration(
        frozenset({Source.OPERATOR}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.OK,
        message=None,
        maintenance=True,
    ),
    Code.QUARANTINE: Declaration(
        frozenset({Source.OPERATOR, Source.OPERATION}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.OK,
        message=None,
        validated=True,
    ),
}
_MACHINE: Mapping[Code, Declaration] = {
    Code.CABLING: _differs(Source.VIPU),
    # A host in maintenance has the disk of its Poplar server, which other hardware would not have.
    Code.MAINTENANCE: replace(_BOTH[Code.MAINTENANCE], repaired_by_replacement=True),
    Code.NOT_VALIDATED: Declaration(
        frozenset({Source.OPERATION}), Allocation.PREVENTED, credited=False, health=Health.OK, message=None
    ),
    Code.VALIDATION_FAILED: Declaration(
        frozenset({Source.OPERATION}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.DEGRADED,
        message=None,
        validated=True,
    ),
    Code.BMC_CRITICAL: Declaration(
        frozenset({Source.BMC, Source.OPERATION, Source.OPERATOR}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The machine has failed.",
        repaired_by_replacement=True,
        validated=True,
    ),
    Code.POWERED_OFF: Declaration(
        frozenset({Source.BMC}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The machine is switched off.",
        repaired_by_replacement=True,
    ),
    Code.POWER_STUCK: Declaration(
        frozenset({Source.BMC}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The machine does not finish switching on or off.",
        repaired_by_replacement=True,
    ),
    Code.FIRMWARE_DIFFERS: Declaration(
        frozenset({Source.BMC}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.DEGRADED,
        message="The machine's firmware differs from that of the other machines of its pod.",
        validated=True,
    ),
    # Only Redfish health, the BMC's own judgement, takes a machine out of service: a sensor may lie, or a rack of them.
    Code.SENSOR_CRITICAL: Declaration(
        frozenset({Source.BMC}),
        Allocation.ALLOWED,
        credited=False,
        health=Health.DEGRADED,
        message="A sensor of the machine is beyond its critical threshold; the machine still works.",
    ),
    Code.SENSOR_WARNING: Declaration(
        frozenset({Source.BMC}), Allocation.ALLOWED, credited=False, health=Health.OK, message=None
    ),
    Code.AGENT_UNREACHABLE: Declaration(
        frozenset({Source.VIPU}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The V-IPU controller does not reach the machine.",
        repaired_by_replacement=True,
    ),
    Code.LINK_DOWN: Declaration(
        frozenset({Source.VIPU, Source.OPERATOR}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.DEGRADED,
        message="A link of the machine is down.",
        repaired_by_replacement=True,
        validated=True,
    ),
    Code.LINK_DEGRADED: Declaration(
        frozenset({Source.VIPU}),
        Allocation.ALLOWED,
        credited=False,
        health=Health.DEGRADED,
        message="A link of the machine has errors; it still carries traffic.",
    ),
    Code.PARTITION_ERROR: Declaration(
        frozenset({Source.VIPU}),
        Allocation.ALLOWED,
        credited=True,
        health=Health.DEGRADED,
        message="A partition on the machine is in error. It is reset automatically.",
    ),
    # The machine itself works, but nothing can use its IPUs.
    Code.ALLOCATION_LOST: Declaration(
        frozenset({Source.VIPU}),
        Allocation.ALLOWED,
        credited=True,
        health=Health.DEGRADED,
        message="The V-IPU controller has lost the cluster's allocation and partitions. They are made again"
        " automatically.",
    ),
}
_HOST: Mapping[Code, Declaration] = {
    Code.HOST_FAILED: Declaration(
        frozenset({Source.HOST, Source.OPERATION, Source.OPERATOR}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The Poplar server's host has failed.",
        repaired_by_replacement=True,
    ),
    Code.SERVER_OFF: Declaration(
        frozenset({Source.HOST}),
        Allocation.ALLOWED,
        credited=False,
        health=Health.DEGRADED,
        message="The Poplar server is switched off. If nobody did that on the server, contact the operator.",
    ),
    Code.SSH_UNREACHABLE: Declaration(
        frozenset({Source.SSH}),
        Allocation.ALLOWED,
        credited=False,
        health=Health.DEGRADED,
        message="The Poplar server does not answer on its SSH port.",
    ),
    Code.HOST_KEY_CHANGED: Declaration(
        frozenset({Source.SSH}),
        Allocation.ALLOWED,
        credited=False,
        health=Health.DEGRADED,
        message="The Poplar server presents another SSH host key than the one it was created with. "
        "If nobody changed it on the server, do not log in, and contact the operator.",
    ),
}

CODES: Mapping[Kind, Mapping[Code, Declaration]] = MappingProxyType(
    {"machine": MappingProxyType({**_BOTH, **_MACHINE}), "host": MappingProxyType({**_BOTH, **_HOST})}
)
"""The codes of each kind of object."""
REPAIRED_BY_REPLACEMENT: Mapping[Kind, frozenset[Code]] = MappingProxyType(
    {
        kind: frozenset(code for code, declared in codes.items() if declared.repaired_by_replacement)
        for kind, codes in CODES.items()
    }
)
"""The codes of each kind of object that other hardware in its place repairs."""


def _declared(of: Callable[[Declaration], bool]) -> tuple[Code, ...]:
    return tuple(sorted({code for codes in CODES.values() for code, declared in codes.items() if of(declared)}))


PREVENTING_AUTOMATION = _declared(lambda declared: declared.prevents_automation)
"""Codes of reports during which workers start nothing on idle hardware."""
VALIDATED = _declared(lambda declared: declared.validated)
"""Codes of reports after which a machine is validated before clusters get it again."""
SUPPRESSING_ALERTS = _declared(lambda declared: declared.suppresses_alerts)
"""Codes of reports during which other reports of the same object raise no alert."""


def declaration(kind: Kind, source: Source, code: Code) -> Declaration:
    """What is declared. Raises ValueError if there is no such code of this kind, or the source does not report it."""
    entry = CODES[kind].get(code)
    if entry is None or source not in entry.sources:
        raise ValueError(f"{source} does not report {code} of a {kind}")
    return entry
