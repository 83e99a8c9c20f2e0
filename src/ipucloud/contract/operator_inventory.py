"""What operators expect of a region's hardware, what differs, and what happened to each machine and host."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Line, Shape, figure
from ipucloud.contract.lists import Page, Paged
from ipucloud.contract.operator_hardware import MOST_OBJECTS, Names

MOST_EXPECTED = 40_000
"""Machines and hosts of one expected inventory."""
MOST_BYTES = 16 * 1024 * 1024
"""Of one expected inventory as JSON."""

HardwareKind = Literal["machine", "host"]
FindingCode = Literal["missing", "surplus", "wrong_serial", "wrong_model", "firmware_differs", "cabling"]
FINDINGS = (
    "`missing`: expected and not shown; `surplus`: shown and not expected; `wrong_serial`, `wrong_model`,"
    " `firmware_differs`: another one than expected; `cabling`: in another place by the V-IPU controller"
)
_KIND = "`machine` or `host`."


class HardwareExpectation(Body):
    """What is expected of a machine or host; what is omitted is not compared."""

    kind: HardwareKind = Field(description=_KIND)
    name: Line = Field(description="Name of the machine or host at its site.", examples=["lux2-p001-m07"])
    serial: Line | None = Field(None, description="Serial number; null: any.", examples=["GC3F0A71C2D9"])
    model: Line | None = Field(None, description="Model, as the hardware shows it; null: any.", examples=["IPU-M2000"])
    firmware: Line | None = Field(None, description="Firmware of the system; null: any.", examples=["2.6.0"])
    rack: Line | None = Field(None, description="Where it stands, for people; not compared.", examples=["lux2-gw1"])
    pod: Line | None = Field(None, description="Pod of a machine; null: any.", examples=["lux2-p001"])
    slot: Annotated[int, Field(ge=0, le=15)] | None = Field(
        None, description="Position in the pod's IPU-Link chain, counted from 0; null only without `pod`."
    )

    @property
    def faults(self) -> Iterator[tuple[str, str]]:
        """Fields that do not fit each other, with a sentence for each."""
        if (self.pod is None) != (self.slot is None):
            yield ("slot" if self.slot is None else "pod"), "A place is a pod and a slot."
        if self.kind == "host" and self.pod is not None:
            yield "pod", "Only machines have a place in a pod."


class InventoryReplace(Body):
    """Everything that is expected of a region: what is not in it is surplus."""

    items: list[HardwareExpectation] = Field(
        min_length=1,
        max_length=MOST_EXPECTED,
        description="Machines and hosts.",
        examples=[
            [{"kind": "machine", "name": "lux2-p001-m07", "serial": "GC3F0A71C2D9", "pod": "lux2-p001", "slot": 6}]
        ],
    )


class InventoryReplaceQuery(Shape):
    """How an expected inventory is replaced."""

    dry_run: bool = Field(
        False, description="Change nothing, and answer what the request would change.", examples=[False]
    )


class ExpectedHardwareOut(Answer):
    """What is expected of a machine or host; what is null is not compared."""

    kind: HardwareKind = Field(description=_KIND)
    name: str = Field(description="Name of the machine or host at its site.", examples=["lux2-p001-m07"])
    serial: str | None = Field(description="Serial number; null: any.", examples=["GC3F0A71C2D9"])
    model: str | None = Field(description="Model, as the hardware shows it; null: any.", examples=["IPU-M2000"])
    firmware: str | None = Field(description="Firmware of the system; null: any.", examples=["2.6.0"])
    rack: str | None = Field(description="Where it stands, for people; not compared.", examples=["lux2-gw1"])
    pod: str | None = Field(description="Pod of a machine; null: any.", examples=["lux2-p001"])
    slot: int | None = Field(description="Position in the pod's IPU-Link chain, counted from 0; null: any.")


class ExpectedHardwarePage(Page[ExpectedHardwareOut]):
    pass


class ExpectedInventoryOut(Answer):
    """What a request changed in the expected inventory of a region, and what differs from it now."""

    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    dry_run: bool = Field(description="Whether nothing was changed: the figures say what would be.", examples=[False])
    added: int = figure("computed", None, "Machines and hosts that were not expected before.", examples=[2])
    changed: int = figure(
        "computed", None, "Machines and hosts of which something else was expected before.", examples=[1]
    )
    removed: int = figure("computed", None, "Machines and hosts that are not expected any more.", examples=[0])
    findings: dict[str, int] = figure("computed", None, "Findings by code.", examples=[{"missing": 1}])
    withheld: int = figure(
        "computed",
        None,
        "Registered machines and hosts that the findings keep from new clusters.",
        examples=[0],
    )


class InventoryAccept(Body):
    """Hardware whose findings are accepted: what it shows is expected from now on."""

    machines: Names = Field(default_factory=list, max_length=MOST_OBJECTS, description="Names of machines.")
    hosts: Names = Field(default_factory=list, max_length=MOST_OBJECTS, description="Names of hosts.")
    everything: bool = Field(False, description="Accept all findings of the region, instead of names.")
    reason: Line = Field(description="Why, for other operators.", examples=["main board exchanged"])


class InventoryFindingOut(Answer):
    """Where hardware differs from what is expected."""

    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    kind: HardwareKind = Field(description=_KIND)
    name: str = Field(description="Name of the machine or host.", examples=["lux2-p001-m07"])
    code: FindingCode = Field(description=f"What differs. {FINDINGS}.", examples=["wrong_serial"])
    expected: str | None = Field(description="What is expected.", examples=["GC3F0A71C2D9"])
    shown: str | None = Field(description="What the site shows.", examples=["GC99B1E00A42"])
    since: datetime = Field(description="Since when.")
    registered: bool = Field(description="Whether the service has it: a site's inventory listed it.", examples=[True])
    prevents: bool = Field(
        description="Whether new clusters do not get it because of this, once two readings have shown it.",
        examples=[True],
    )


class InventoryFindingPage(Page[InventoryFindingOut]):
    pass


class InventoryFindingList(Paged):
    """Findings that match every filter, by region, kind and name."""

    region: str | None = Field(None, description="Only those in this region.", examples=["luxembourg-2"])
    kind: HardwareKind | None = Field(None, description="Only machines or only hosts.", examples=["machine"])
    name: str | None = Field(None, description="Only those about hardware of this name.", examples=["lux2-p001-m07"])
    code: FindingCode | None = Field(None, description=f"Only those with this code. {FINDINGS}.")


class HardwareHistoryOut(Answer):
    """Something that happened to a machine or host."""

    at: datetime = Field(description="When.")
    type: str = Field(
        description=(
            "`allocated` to a cluster, `released` by it, `cleaned`: what was observed then, `freed` for the next;"
            " `validated`: with which result; `reported` and `cleared`: a health report, also of maintenance;"
            " `repair_scheduled`, `repair_ended`; `added`, `removed`, `returned`: by the site's inventory;"
            " `serial_changed`, `model_changed`, `firmware_changed`, `moved`: in what the site shows; `accepted` by an"
            " operator."
            " There can be further types."
        ),
        examples=["serial_changed"],
    )
    detail: str | None = Field(description="What exactly, for operators.", examples=["serial GC1 became GC2"])
    code: str | None = Field(description="Code of the health report; null for other types.", examples=[None])
    source: str | None = Field(description="Source of the health report; null for other types.", examples=[None])
    project: str | None = Field(description="Slug of the project whose cluster held it.", examples=[None])
    cluster: UUID | None = Field(description="Id of the cluster that held it; null if none did.", examples=[None])
    actor: str | None = Field(description="Id of the operator's token; null if no operator did it.", examples=[None])


class HardwareHistoryPage(Page[HardwareHistoryOut]):
    pass


class HardwareHistoryList(Paged):
    """Entries that match every filter, oldest first."""

    since: Instant | None = Field(None, description="Only what happened at this time or later.")
    type: str | None = Field(None, description="Only entries of this type.", examples=["allocated"])


class HardwareEventOut(Answer):
    """A change of hardware or of capacity: `added`, `removed` and `returned` are those of capacity."""

    id: UUID = Field(description="Id of the event.")
    at: datetime = Field(description="When.")
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    kind: HardwareKind = Field(description=_KIND)
    name: str = Field(description="Name of the machine or host.", examples=["lux2-p001-m07"])
    type: str = Field(description="What happened, as in the history of a machine.", examples=["added"])
    detail: str = Field(description="What exactly.", examples=["the site's inventory lists it"])
    actor: str | None = Field(description="Id of the operator's token; null if no operator did it.", examples=[None])


class HardwareEventPage(Page[HardwareEventOut]):
    pass


class HardwareEventList(HardwareHistoryList):
    """Events that match every filter, oldest first."""

    region: str | None = Field(None, description="Only those in this region.", examples=["luxembourg-2"])
    kind: HardwareKind | None = Field(None, description="Only machines or only hosts.", examples=["machine"])
