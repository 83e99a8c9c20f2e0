"""What operators see of machines and hosts: place, health reports, holder, history; and what they do with them."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Line, figure
from ipucloud.contract.lists import Page, Paged

MOST_OBJECTS = 512
"""Machines and hosts that one request can change: two GW-Link groups."""

HardwareState = Literal["free", "allocated", "cleaning", "validating", "unhealthy", "maintenance", "silent"]
HardwareHealth = Literal["ok", "unknown", "degraded", "failed", "silent"]
_STATES = (
    "`allocated` to a cluster, `cleaning` after one, else `free`, or what keeps new clusters away: `validating`,"
    " `maintenance`, `unhealthy`, or `silent`: its V-IPU controller does not answer or is not supported"
)
_HEALTH = (
    "`ok`, `degraded`, `failed` or `unknown` by its live health reports; `silent` if nobody could look for longer than"
    " the installation's limit, whatever it was last: its region's hardware was not read, or it was `ok` and its V-IPU"
    " controller was not"
)
_SHOWN = ", as the site showed it last; null: it never did."
Names = list[Line]


class HolderOut(Answer):
    """The cluster or reservation that holds a machine or host, or held it."""

    project: str = Field(description="Slug of the project.")
    cluster: UUID | None = Field(description="Id of the cluster; null: the reservation alone holds it, unused.")
    reservation: UUID | None = Field(description="Id of the reservation that it belongs to; null if it does to none.")
    name: str = Field(
        description="Name of the cluster, or of the reservation if that alone holds it.", examples=["bert"]
    )
    state: str = Field(description="State of that now. A suspended cluster keeps its disks on its hosts.")
    since: datetime = Field(description="When it got the hardware.")
    released_at: datetime | None = Field(description="When the customer left; null before that.")
    freed_at: datetime | None = Field(description="When it was observed clean and free again; null before that.")


class HealthReportOut(Answer):
    """What a source says is wrong with a machine or host. It is live until `cleared_at`."""

    id: UUID = Field(description="Id of the report.")
    kind: Literal["machine", "host"] = Field(description="What it is about.")
    name: str = Field(description="Name of the machine or host.", examples=["lux2-p001-m07"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    source: str = Field(
        description="Who reports: `bmc`, `v-ipu`, `host`, `ssh`, `site`, `operation` or `operator`.", examples=["bmc"]
    )
    code: str = Field(description="What is wrong; the value is stable.", examples=["bmc_critical"])
    state: Literal["suspected", "live", "cleared"] = Field(
        description="Present state. A suspected report was seen once and changes nothing yet."
    )
    allocation: Literal["allowed", "prevented"] = Field(description="Whether new clusters can get the object.")
    credited: bool = Field(description="Whether minutes of the cluster that holds the object are credited.")
    automation: Literal["allowed", "prevented"] = Field(
        description="Whether workers start anything on the object by themselves while no cluster holds it."
    )
    alerts: Literal["raised", "suppressed"] = Field(description="Whether other reports about the object raise alerts.")
    detail: str = Field(description="What was observed, for operators.", examples=["Health is Critical"])
    message: str | None = Field(
        description="What the customer reads; null if customers do not see it.", examples=["The machine has failed."]
    )
    first_seen_at: datetime = Field(description="First sighting.")
    confirmed_at: datetime | None = Field(description="When it was confirmed; null while it is suspected.")
    last_seen_at: datetime = Field(description="Last sighting.")
    good_since: datetime | None = Field(description="First of the good readings since; null after a bad one.")
    cleared_at: datetime | None = Field(description="When it ended; null while it is live.")
    expires_at: datetime | None = Field(description="When it ends by itself; null: never.")
    maintenance_at: datetime | None = Field(
        description="Of a drain: when the planned maintenance begins; null: none is planned."
    )
    created_by: str | None = Field(description="Id of the operator's token; null if no operator created it.")
    cluster: UUID | None = Field(description="Id of the cluster that held the object then; null if none did.")


class HealthReportPage(Page[HealthReportOut]):
    pass


class HealthReportList(Paged):
    """Health reports that match every filter, oldest first; cleared ones only with `state=cleared`."""

    region: str | None = Field(None, description="Only reports of this region.", examples=["luxembourg-2"])
    machine: str | None = Field(None, description="Only reports about this machine, by name.")
    host: str | None = Field(None, description="Only reports about this host, by name.")
    code: str | None = Field(None, description="Only reports with this code.", examples=["bmc_critical"])
    source: str | None = Field(None, description="Only reports of this source.", examples=["bmc"])
    state: Literal["suspected", "live", "cleared"] | None = Field(None, description="Only reports in this state.")


class MachineLinksOut(Answer):
    """The IPU-Links and GW-Links of a machine. Their controller shows those whose machines are both on."""

    state: Literal["up", "degraded", "down", "unknown"] = Field(
        description="The worst of those that its controller shows. `unknown`: no cluster uses the machine, or the"
        " region was not read lately."
    )
    observed_at: datetime | None = Field(
        description="When they were read last. While they are `unknown`: when a cluster left the machine, or a"
        " validation tested them; null: never."
    )


class HardwareMachineOut(Answer):
    """An IPU machine, whoever holds it."""

    name: str = Field(description="Name of the machine; its V-IPU agent id too.", examples=["lux2-p001-m07"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    rack: str = Field(description="GW-Link group.", examples=["lux2-gw1"])
    pod: str = Field(description="Pod: its IPU-Link domain.", examples=["lux2-p001"])
    slot: int = Field(description="Position in the pod's IPU-Link chain, counted from 0.")
    machine_type: str = Field(description="Type of the machine.", examples=["m2000"])
    state: HardwareState = Field(description=f"Present state: {_STATES}.")
    health: HardwareHealth = Field(description=f"Health: {_HEALTH}.")
    observed_at: datetime | None = Field(
        description="End of the last complete reading of its region's BMCs; null: there was none."
    )
    links: MachineLinksOut | None = Field(description="Its links; null: it is a server with IPUs of its own.")
    allocatable: bool = Field(description="Whether no live health report keeps new clusters away.")
    maintenance: bool = Field(description="Whether it is in maintenance or being drained.")
    codes: list[str] = Field(description="Codes of its live health reports.", examples=[["drain"]])
    serial: str | None = Field(description=f"Serial number{_SHOWN}", examples=["GC3F0A71C2D9"])
    model: str | None = Field(description=f"Model{_SHOWN}", examples=["IPU-M2000"])
    firmware: str | None = Field(description=f"Firmware of the system{_SHOWN}", examples=["2.6.0"])
    holder: HolderOut | None = Field(description="The cluster or reservation that holds it; null if none does.")


class HardwareMachineDetailOut(HardwareMachineOut):
    """An IPU machine with its addresses, live reports and history. Histories have the newest 100 entries."""

    rnic: str = Field(description="Address of its RDMA network card.", examples=["10.5.1.7"])
    bmc: str = Field(description="Address of its BMC.", examples=["10.1.1.7"])
    gateway: str | None = Field(description="Address of its IPU-Gateway; null if it has none.", examples=["10.2.1.7"])
    host: str | None = Field(description="Name of the host that it is itself; null for a machine without a server.")
    parts: dict[str, str] = Field(
        description="Firmware of its parts, as the site showed it last.", examples=[{"bmc": "2.6.0"}]
    )
    part_serials: dict[str, str] = Field(
        description="Serial numbers of its parts, as the site showed them last.", examples=[{"ipu-0": "5B21C77E"}]
    )
    missing_since: datetime | None = Field(
        description="Since when its BMC has not been in the site's answers; null if it is.", examples=[None]
    )
    reports: list[HealthReportOut] = Field(description="Live and suspected reports.")
    past_reports: list[HealthReportOut] = Field(description="Cleared reports, newest first.")
    holders: list[HolderOut] = Field(description="Clusters and reservations that held it, newest first.")


class HardwareMachinePage(Page[HardwareMachineOut]):
    pass


class HardwareList(Paged):
    region: str | None = Field(None, description="Only those in this region.", examples=["luxembourg-2"])
    health: HardwareHealth | None = Field(None, description=f"Only those with this health: {_HEALTH}.")
    state: HardwareState | None = Field(None, description=f"Only those in this state: {_STATES}.")
    cluster: UUID | None = Field(None, description="Only those that this cluster holds, by id.")
    code: str | None = Field(None, description="Only those with a live health report of this code.", examples=["drain"])
    serial: str | None = Field(None, description="Only the one that shows this serial number, of itself or of a part.")


class HardwareMachineList(HardwareList):
    """Machines that match every filter, by name."""

    rack: str | None = Field(None, description="Only machines of this GW-Link group.", examples=["lux2-gw1"])
    pod: str | None = Field(None, description="Only machines of this pod.", examples=["lux2-p001"])


class HardwareHostOut(Answer):
    """A server that can become a Poplar server, whoever holds it."""

    name: str = Field(description="Name of the host.", examples=["lux2-h004"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    address: str = Field(description="Address of the host.", examples=["10.1.5.24"])
    machine: str | None = Field(description="The IPU machine that it is itself; null if it has no IPUs of its own.")
    state: HardwareState = Field(description=f"Present state: {_STATES}.")
    health: HardwareHealth = Field(description=f"Health: {_HEALTH}.")
    observed_at: datetime | None = Field(
        description="End of the last complete reading of its region's hosts; null: there was none."
    )
    allocatable: bool = Field(description="Whether no live health report keeps new clusters away.")
    maintenance: bool = Field(description="Whether it is in maintenance or being drained.")
    codes: list[str] = Field(description="Codes of its live health reports.", examples=[["drain"]])
    serial: str | None = Field(description=f"Serial number{_SHOWN}", examples=["GC3F0A71C2D9"])
    model: str | None = Field(description=f"Model{_SHOWN}", examples=["IPU-M2000"])
    firmware: str | None = Field(description=f"Firmware of the system{_SHOWN}", examples=["2.6.0"])
    holder: HolderOut | None = Field(description="The cluster or reservation that holds it; null if none does.")


class HardwareHostDetailOut(HardwareHostOut):
    """A host with its live reports and history. Histories have the newest 100 entries."""

    reports: list[HealthReportOut] = Field(description="Live and suspected reports.")
    past_reports: list[HealthReportOut] = Field(description="Cleared reports, newest first.")
    holders: list[HolderOut] = Field(description="Clusters and reservations that held it, newest first.")


class HardwareHostPage(Page[HardwareHostOut]):
    pass


class HardwareSelection(Body):
    """Machines and hosts by name, alone or all of a pod or rack; together at most 512."""

    machines: Names = Field(default_factory=list, max_length=MOST_OBJECTS, description="Names of machines.")
    hosts: Names = Field(default_factory=list, max_length=MOST_OBJECTS, description="Names of hosts.")
    pods: Names = Field(default_factory=list, max_length=64, description="Pods: all machines of each.")
    racks: Names = Field(default_factory=list, max_length=16, description="GW-Link groups: all machines of each.")


class HardwareReason(HardwareSelection):
    """Hardware, and why something is done to it."""

    reason: Line = Field(description="Why, for other operators.", examples=["replace the fan"])
    expires_at: Instant | None = Field(None, description="When it ends by itself; null: by return to service.")


class HardwareMaintenance(HardwareReason):
    """Hardware to maintain, and when."""

    starts_at: Instant | None = Field(
        None,
        description="When it begins; null: now. Hardware that a cluster holds needs the installation's notice, 72 hours"
        " unless configured otherwise.",
        examples=["2026-05-08T06:00:00Z"],
    )
    urgent: bool = Field(False, description="Whether it begins without notice to customers who hold the hardware.")


class HardwareChangedOut(Answer):
    """What a request changed."""

    kind: Literal["machine", "host"] = Field(description="What it is.")
    name: str = Field(description="Name of the machine or host.", examples=["lux2-p001-m07"])
    allocatable: bool = Field(description="Whether no live health report keeps new clusters away now.")
    codes: list[str] = Field(description="Codes of its live health reports.", examples=[["drain"]])
    holder: HolderOut | None = Field(
        description="The cluster that holds it and keeps it; null: it is empty, and a drain is complete."
    )


class HardwareChangedPage(Page[HardwareChangedOut]):
    pass


class ObservationOut(Answer):
    """The last complete reading of a region by a source. Its age is the time since `finished_at`."""

    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    source: str | None = Field(description="Source; null: nothing has observed the region.", examples=["bmc"])
    started_at: datetime | None = Field(description="Start of the last complete reading; null: there was none.")
    finished_at: datetime | None = Field(description="End of the last complete reading; null: there was none.")
    age_seconds: int | None = figure("computed", None, "Seconds since then, on the database's clock.", examples=[3])
    objects: int = figure("recorded", "finished_at", "Objects that were asked for.", examples=[32])
    answered: int = figure("observed", "finished_at", "Objects that answered.", examples=[32])
    error: str | None = Field(description="Why the last reading is not complete; null if it is.")
    failed_since: datetime | None = Field(description="Since when readings have failed; null if they do not.")


class ObservationPage(Page[ObservationOut]):
    pass


class ControllerOut(Answer):
    """A V-IPU controller, as the site lists it and as it answered last."""

    name: str = Field(description="Name of the controller.", examples=["luxembourg-2"])
    region: str = Field(description="Slug of the region whose machines it joins.", examples=["luxembourg-2"])
    address: str = Field(
        description="Host and port of its administration service.", examples=["vipu.lux2.example:8091"]
    )
    state: Literal["answering", "silent", "unsupported", "unknown"] = Field(
        description="`answering`: its last reading was complete. `silent`: it was not, `error` says why. `unsupported`:"
        " this release of ipucloud does not work with its version, and does nothing there. `unknown`: not read lately.",
        examples=["answering"],
    )
    version: str | None = Field(description="Release of V-IPU that it says it runs; null: not read yet.")
    version_since: datetime | None = Field(description="When it was first read; null: not read yet.")
    tls: bool = Field(description="Whether it is called over TLS, with a client certificate.", examples=[True])
    users: bool = Field(description="Whether it asks users for access keys (`--secure`).", examples=[False])
    cluster_test: bool = Field(
        description="Whether it can test the links and traffic of machines. Without, creates, resumes and validations"
        " go on without that test.",
        examples=[True],
    )
    observed_at: datetime | None = Field(description="End of its last complete reading; null: there was none.")
    error: str | None = Field(description="Why the last reading is not complete; null if it is.")
    failed_since: datetime | None = Field(description="Since when readings have failed; null if they do not.")


class ControllerPage(Page[ControllerOut]):
    pass
