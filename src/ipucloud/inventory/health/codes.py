"""Every code of a health report, declared once: what it says and what follows from it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
    FIRMWARE_DIFFERS = "firmware_differs"
    AGENT_UNREACHABLE = "agent_unreachable"
    LINK_DOWN = "link_down"
    LINK_DEGRADED = "link_degraded"
    HOST_FAILED = "host_failed"
    SERVER_OFF = "server_off"
    SSH_UNREACHABLE = "ssh_unreachable"
    HOST_KEY_CHANGED = "host_key_changed"
    NOT_OBSERVED = "not_observed"
    BUILD_FAILED = "build_failed"
    NOT_CLEAN = "not_clean"
    MAINTENANCE = "maintenance"
    DRAIN = "drain"
    QUARANTINE = "quarantine"


@dataclass(frozen=True, slots=True)
class Declaration:
    """What follows from a live, confirmed report with this code.

    `credited`: minutes of the cluster that holds the object are credited. `health`: what the object's health is then,
    unless another report says worse. `maintenance`: the object is in maintenance. `message`: the sentence for the
    customer whose cluster holds the object; None: customers do not see the report.
    """

    sources: frozenset[Source]
    allocation: Allocation
    credited: bool
    health: Health
    message: str | None
    maintenance: bool = False


_BOTH: Mapping[Code, Declaration] = {
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
    ),
    Code.NOT_CLEAN: Declaration(
        frozenset({Source.OPERATION}), Allocation.PREVENTED, credited=False, health=Health.OK, message=None
    ),
    Code.MAINTENANCE: Declaration(
        frozenset({Source.OPERATOR}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.OK,
        message="The operator maintains this hardware.",
        maintenance=True,
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
    ),
}
_MACHINE: Mapping[Code, Declaration] = {
    Code.BMC_CRITICAL: Declaration(
        frozenset({Source.BMC, Source.OPERATION}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The machine has failed.",
    ),
    Code.POWERED_OFF: Declaration(
        frozenset({Source.BMC}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The machine is switched off.",
    ),
    Code.FIRMWARE_DIFFERS: Declaration(
        frozenset({Source.BMC}),
        Allocation.PREVENTED,
        credited=False,
        health=Health.DEGRADED,
        message="The machine's firmware differs from that of the other machines of its pod.",
    ),
    Code.AGENT_UNREACHABLE: Declaration(
        frozenset({Source.VIPU}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The V-IPU controller does not reach the machine.",
    ),
    Code.LINK_DOWN: Declaration(
        frozenset({Source.VIPU}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.DEGRADED,
        message="A link of the machine is down.",
    ),
    Code.LINK_DEGRADED: Declaration(
        frozenset({Source.VIPU}),
        Allocation.ALLOWED,
        credited=False,
        health=Health.DEGRADED,
        message="A link of the machine has errors; it still carries traffic.",
    ),
}
_HOST: Mapping[Code, Declaration] = {
    Code.HOST_FAILED: Declaration(
        frozenset({Source.HOST, Source.OPERATION}),
        Allocation.PREVENTED,
        credited=True,
        health=Health.FAILED,
        message="The Poplar server's host has failed.",
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
    {"machine": MappingProxyType({**_MACHINE, **_BOTH}), "host": MappingProxyType({**_HOST, **_BOTH})}
)
"""The codes of each kind of object."""


def declaration(kind: Kind, source: Source, code: Code) -> Declaration:
    """What is declared. Raises ValueError if there is no such code of this kind, or the source does not report it."""
    found = CODES[kind].get(code)
    if found is None or source not in found.sources:
        raise ValueError(f"{source} does not report {code} of a {kind}")
    return found
