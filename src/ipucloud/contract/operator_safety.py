"""What operators freeze and force."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Line, figure
from ipucloud.contract.lists import Page, Paged


class FreezeStart(Body):
    """What is frozen, why and until when."""

    region: Line | None = Field(None, description="Slug of the region; null: every region.", examples=["luxembourg-2"])
    reason: Line = Field(description="Why, for other operators.", examples=["the site shows another rack"])
    expires_at: Instant = Field(description="When it ends by itself: in the future.", examples=["2026-12-24T18:00:00Z"])


class FreezeEnd(Body):
    """Why a freeze ends."""

    reason: Line = Field(description="Why, for other operators.", examples=["the site's answers are right again"])


class FreezeOut(Answer):
    """A time in which nothing is removed or switched off. It is live until `ended_at` or `expires_at`."""

    id: UUID = Field(description="Id of the freeze.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b98"])
    region: str | None = Field(description="Slug of the region; null: every region.", examples=["luxembourg-2"])
    state: Literal["live", "expired", "ended"] = Field(description="Present state.")
    reason: str = Field(description="Why it was started.", examples=["the site shows another rack"])
    created_by: UUID = Field(
        description="Id of the operator's token.", examples=["0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b14"]
    )
    created_at: datetime = Field(description="When it began.")
    expires_at: datetime = Field(description="When it ends by itself.")
    ended_at: datetime | None = Field(description="When it was ended; null if it was not.")
    ended_by: UUID | None = Field(description="Id of the token that ended it; null if none did.", examples=[None])
    end_reason: str | None = Field(description="Why it was ended; null if it was not.", examples=["it expired"])


class FreezePage(Page[FreezeOut]):
    pass


class FreezeList(Paged):
    """Freezes, oldest first."""

    state: Literal["live", "expired", "ended"] | None = Field(None, description="Only those in this state.")
    region: str | None = Field(
        None, description="Only those of this region or of every region.", examples=["luxembourg-2"]
    )


class ClusterForceDelete(Body):
    """Why an operator deletes a customer's cluster."""

    reason: Line = Field(description="Why; its customer reads it.", examples=["its rack was destroyed by a fire"])


class SiteFindingOut(Answer):
    """What the last sweep found at a site against a rule."""

    rule: str = Field(description="Name of the rule.", examples=["site_has_no_leftover_partition"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    object: str = Field(description="Name of the object at the site.", examples=["06cz5q4w3v-1"])
    host: str | None = Field(description="Name of the host that it is on; null: it is on none.", examples=[None])
    project: str | None = Field(description="Slug of the project that it belongs to; null: of none that is known.")
    detail: str = Field(description="What was found.", examples=["no living cluster has this name"])
    first_seen_at: datetime = Field(description="First of the sweeps in a row that found it.")
    last_seen_at: datetime = Field(description="Last sweep that found it.")
    sightings: int = figure(
        "observed", "last_seen_at", "Sweeps in a row that found it; it is repaired after two.", examples=[3]
    )
    repair: Literal["running", "succeeded", "failed"] | None = Field(
        description="State of the last repair that a sweep began of it; null: none was begun."
    )
    left_because: str | None = Field(
        description="Why the last sweep left it as it is; null: it did not.",
        examples=["The operator has frozen removals."],
    )


class SiteFindingPage(Page[SiteFindingOut]):
    pass


class SiteFindingList(Paged):
    """What the last sweep found, by region and rule."""

    region: str | None = Field(None, description="Only in this region.", examples=["luxembourg-2"])
    rule: str | None = Field(None, description="Only against this rule.")
