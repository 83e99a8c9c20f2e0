"""Faults of a simulated site, which operators ask for: there is no such thing at a real one."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Line
from ipucloud.contract.lists import Page, Paged


class SimulatedFaultKind(StrEnum):
    """What breaks."""

    MACHINE = "machine"
    LINK = "link"
    HOST = "host"
    CONTROLLERS = "controllers"


class SimulatedFaultState(StrEnum):
    """State of a simulated fault; it never leaves `ended` and `failed`."""

    REQUESTED = "requested"
    IN_FORCE = "in_force"
    ENDING = "ending"
    ENDED = "ended"
    FAILED = "failed"


SimulatedLink = Literal["internal", "next", "gateway"]
_KIND = (
    "`machine`: an IPU machine breaks; `link`: one of its links is down; `host`: the server on a host is not reachable;"
    " `controllers`: every V-IPU controller of the site answers five seconds late"
)
_LINK = "`internal`: among the machine's IPUs; `next`: to the next machine; `gateway`: its GW-Link. Only of a `link`."


class SimulatedFaultCreate(Body):
    """What a simulated site should break."""

    kind: Annotated[SimulatedFaultKind, Field(strict=False)] = Field(
        description=f"What breaks. {_KIND}.", examples=["machine"]
    )
    name: Line = Field(
        description="Name of the machine or host; of `controllers` the slug of the region.", examples=["lux2-p001-m01"]
    )
    link: SimulatedLink | None = Field(None, description=f"Which link of the machine. {_LINK}", examples=[None])


class SimulatedFaultOut(Answer):
    """A fault of a simulated site, as it was asked for and as far as a worker has carried it out."""

    id: UUID = Field(description="Id of the simulated fault.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2ba7"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    kind: SimulatedFaultKind = Field(description=f"What breaks. {_KIND}.", examples=["machine"])
    name: str = Field(
        description="Name of the machine or host; of `controllers` the slug of the region.", examples=["lux2-p001-m01"]
    )
    link: SimulatedLink | None = Field(description=f"Which link of the machine. {_LINK}", examples=[None])
    state: SimulatedFaultState = Field(
        description="Present state. `requested` and `ending`: a worker asks the site, and does so until it has"
        " answered; `in_force`: the site has broken it; `ended`: the site has repaired it; `failed`: the site refused.",
        examples=["in_force"],
    )
    state_entered_at: datetime = Field(description="When it entered its state.")
    detail: str | None = Field(
        description="Why the site has not done it yet, or why it refused; null: nothing is wrong.", examples=[None]
    )
    created_by: UUID = Field(
        description="Id of the operator's token.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    created_at: datetime = Field(description="When it was asked for.")


class SimulatedFaultPage(Page[SimulatedFaultOut]):
    pass


class SimulatedFaultList(Paged):
    """Simulated faults, oldest first."""

    region: str | None = Field(None, description="Only those of this region.", examples=["luxembourg-2"])
    ended: bool | None = Field(
        None, description="Only those that have ended or failed, or only those that have not; null: all."
    )
