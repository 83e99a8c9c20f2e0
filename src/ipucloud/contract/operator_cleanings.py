"""What operators see of the cleaning of machines and hosts between two clusters."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer
from ipucloud.contract.lists import Page, Paged


class CleaningOut(Answer):
    """What the site showed of a machine or host after a cluster left it, and before another one could get it."""

    kind: Literal["machine", "host"] = Field(description="What was cleaned.")
    name: str = Field(description="Name of the machine or host.", examples=["lux2-m07"])
    region: str = Field(description="Slug of the region.", examples=["luxembourg-2"])
    project: str = Field(description="Slug of the project that had it.")
    cluster: UUID = Field(description="Id of the cluster that had it.")
    external_name: str = Field(
        description="Name at the site under which the cluster had used it.", examples=["01jd4nq8v0e3mt9gq2w7xk5cza-1"]
    )
    held_since: datetime = Field(description="When the cluster got it.")
    released_at: datetime = Field(description="When the customer had left it.")
    observed_at: datetime = Field(description="When it was observed clean.")
    freed_at: datetime | None = Field(description="When its cluster gave it back; null: that follows.")
    observed: dict[str, str] = Field(
        description="What was observed, by subject: `power`, `network`, `vipu_allocation`, `partitions` of a machine;"
        " `server`, `disk`, `network` of a host. `none`: it was not there.",
        examples=[{"power": "Off", "network": "none", "vipu_allocation": "none", "partitions": "none"}],
    )


class CleaningPage(Page[CleaningOut]):
    pass


class CleaningList(Paged):
    """Cleanings that match every filter, oldest first."""

    region: str | None = Field(None, description="Only hardware in this region.", examples=["luxembourg-2"])
    machine: str | None = Field(None, description="Only this machine, by name.", examples=["lux2-m07"])
    host: str | None = Field(None, description="Only this host, by name.", examples=["lux2-h04"])
    cluster: UUID | None = Field(None, description="Only what this cluster had, by id.")
