"""What breaks a simulated site: rules for its calls, and hardware that fails or shows something else."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from ipucloud.wire.base import Wire
from ipucloud.wire.inventory import LinkKind


class SensorReading(Wire):
    reading: float


class LinkFault(Wire):
    state: Literal["degraded", "down"] = "down"


class BrokenLink(LinkFault):
    machine: str
    kind: LinkKind


class Broken(Wire):
    """All hardware of a simulated site that does not work as usual, hidden or not: what `:repair` is for.

    `machines` have failed, finish no change of power, or have a sensor that was set.
    """

    machines: list[str]
    hosts: list[str]
    links: list[BrokenLink]


class HardwareShown(Wire):
    """What a simulated machine or host shows of itself; None: what it was built with.

    `hidden`: neither its BMC nor the site's lists show it. `pod` and `slot` are what the V-IPU controller shows. A name
    that the site does not have is a machine of `region` that nobody ordered: only its BMC answers.
    """

    name: str = ""
    region: str | None = None
    serial_number: str | None = None
    part_serials: dict[str, str] | None = Field(default=None, description="of exchanged parts, by name")
    model: str | None = None
    firmware: str | None = None
    pod: str | None = None
    slot: int | None = Field(default=None, ge=0, le=15)
    hidden: bool = False


class HardwareShownList(Wire):
    hardware: list[HardwareShown]


class FaultAction(StrEnum):
    """What a rule does to a call.

    `status` refuses before any effect, `status_after` although the effect took place; `latency` delays effect and
    answer, and the effect takes place also when the caller gave up meanwhile; `drop_answer` breaks the connection
    after the effect; `stall` neither acts nor answers. `duplicate` lets the effect take place once more, `seconds`
    after the answer; `stale` answers a reading call as an equal call was answered before. `fail_partition` lets the
    operations that the call starts end in an error, `hang_partition` lets them never end; `fail_machine` and
    `fail_link` break hardware before the effect.
    """

    STATUS = "status"
    STATUS_AFTER = "status_after"
    LATENCY = "latency"
    DROP_ANSWER = "drop_answer"
    STALL = "stall"
    DUPLICATE = "duplicate"
    STALE = "stale"
    FAIL_PARTITION = "fail_partition"
    HANG_PARTITION = "hang_partition"
    FAIL_MACHINE = "fail_machine"
    FAIL_LINK = "fail_link"


class FaultRule(Wire):
    """Applies `action` to calls whose name (`vipu.CreatePartition`, `admin.CreateAllocation`, `hosts.put_server`,
    `networks.delete`, `redfish.reset`, …) and object name match the two glob patterns.

    `status` is an HTTP status, or for gRPC calls the status-code name in `grpc_status`. `times` None means until
    removed. Answers carry the rule's `id` and the number of `hits`.

    A rule begins `after` seconds and ends when it was `lasting`; both are simulated time (with time scale 0, real). Of
    the matching calls it fires on `every` n-th. The call `clock` is the passing of time: hardware breaks when the rule
    begins. When a rule ends, hardware that it broke is repaired.

    `machine` and `link` are what breaks. `failures` operations of a partition in a row end with `error`: of a creation,
    then of the resets by which the controller tries to repair it.
    """

    id: str = ""
    call: str
    target: str = "*"
    action: FaultAction
    status: int = 503
    grpc_status: str = "UNAVAILABLE"
    seconds: float = 0.0
    times: int | None = None
    probability: float = Field(default=1.0, ge=0.0, le=1.0)
    every: int = Field(default=1, ge=1)
    after: float = Field(default=0.0, ge=0.0)
    lasting: float | None = Field(default=None, gt=0.0)
    machine: str = ""
    link: LinkKind = LinkKind.NEXT
    error: str = "some IPUs did not come up"
    failures: int = Field(default=1, ge=1)
    hits: int = 0


class FaultList(Wire):
    faults: list[FaultRule]


class ServersConfinement(Wire):
    """What is between the programs of Poplar servers and the machine of the site.

    `weaknesses`: in what the wall is weaker than namespaces, a sentence each. `problem`: why no program is run.
    """

    wall: str | None
    weaknesses: list[str] = Field(default_factory=list)
    problem: str | None = None


HTTP_CALLS = (
    "inventory.get",
    "networks.list",
    "networks.get",
    "networks.put",
    "networks.delete",
    "hosts.list",
    "hosts.get",
    "hosts.put_server",
    "hosts.delete_server",
    "hosts.put_keys",
    "hosts.put_login_key",
    "hosts.put_sources",
    "hosts.put_s3",
    "hosts.put_preemption",
    "hosts.rebuild",
    "hosts.power",
    "hosts.put_job",
    "hosts.get_job",
    "hosts.stop_job",
    "hosts.console",
    "volumes.get",
    "volumes.put",
    "volumes.attach",
    "volumes.delete",
    "snapshots.get",
    "snapshots.put",
    "snapshots.delete",
    "addresses.get",
    "addresses.put",
    "addresses.attach",
    "addresses.delete",
    "redfish.list",
    "redfish.member",
    "redfish.get",
    "redfish.log",
    "redfish.reset",
    "agents.answer",
    "ssh.connect",
)
"""The names of the site's calls in fault rules; those that set rules are not reached by them.

Three are of one object inside the site, which a rule with `status` silences: `redfish.member` is the BMC of a machine,
asked for a page of `redfish.list`; `agents.answer` is the V-IPU agent of a machine, asked by its controller;
`ssh.connect` is a connection to the SSH port of the Poplar server on a host. Patterns do not reach the last two.
"""
