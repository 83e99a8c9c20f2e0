"""Power and health of machines: the part of Redfish that the control plane uses."""

from __future__ import annotations

from datetime import datetime
from typing import Literal

from pydantic import ConfigDict, Field

from ipucloud.wire.base import Wire

EVENTS = "/redfish/v1/EventService/SSE"
"""The stream of Redfish's EventService: `ServerSentEventUri`."""


class RedfishStatus(Wire):
    """`Health` as Redfish has it: OK, Warning or Critical."""

    State: str
    Health: str


class RedfishSensor(Wire):
    """A sensor as Redfish has it: unit after UCUM (`Cel`, `RPM`, `V`, `W`). `Reading` None: it shows nothing."""

    Name: str
    Reading: float | None
    ReadingUnits: str
    Health: Literal["OK", "Warning", "Critical"]


class RedfishMetrics(Wire):
    """What a machine measures of its IPUs: what Redfish has in their ProcessorMetrics and EnvironmentMetrics.

    None: it does not measure that. `BandwidthPercent`: how busy they are on average; `ConsumedPowerWatt`: what they
    draw together; `TemperatureCelsius`: of the hottest; `CorrectableErrorCount`: of their links, since it was switched
    on.
    """

    BandwidthPercent: float | None = None
    ConsumedPowerWatt: float | None = None
    TemperatureCelsius: float | None = None
    CorrectableErrorCount: int | None = None


class RedfishSystem(Wire):
    """The part of a Redfish ComputerSystem that the control plane reads."""

    Id: str
    Name: str
    Model: str
    SerialNumber: str
    PowerState: Literal["On", "Off", "PoweringOn", "PoweringOff"]
    Status: RedfishStatus
    BiosVersion: str = Field(description="firmware of the machine, compared within a pod")
    Firmware: dict[str, str] = Field(
        default={},
        description="versions of its parts, such as `bmc` and `gateway`: what Redfish has in its FirmwareInventory",
    )
    Serials: dict[str, str] = Field(
        default={},
        description="serial numbers of its parts, such as `board` and `ipu-0`: what Redfish has in the Assembly of its"
        " chassis and in its Processors",
    )
    Sensors: list[RedfishSensor] = Field(default=[], description="those whose health is not OK")
    Metrics: RedfishMetrics | None = Field(default=None, description="None: it is off, or measures nothing")


class RedfishSystems(Wire):
    """A page of a region's machines, in one order, without those whose BMC does not answer.

    `count` is the number of all machines on all pages, also of the silent ones. Redfish answers links to members; a
    site answers the members themselves, as Redfish does for `$expand=.`.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True)

    Members: list[RedfishSystem]
    count: int = Field(alias="Members@odata.count", ge=0)


class RedfishLogEntry(Wire):
    """A line of a machine's BMC log as Redfish has it. Ids count upwards; `Created` is the BMC's own time."""

    Id: str
    Created: datetime
    Severity: Literal["OK", "Warning", "Critical"]
    Message: str


class RedfishLog(Wire):
    """The entries that a BMC keeps, oldest first; it drops the oldest ones when its memory is full."""

    Members: list[RedfishLogEntry]


class RedfishReset(Wire):
    ResetType: Literal["On", "ForceOff", "GracefulShutdown", "PowerCycle"]
