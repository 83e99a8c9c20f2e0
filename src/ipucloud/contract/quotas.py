"""Quotas of a project."""

from __future__ import annotations

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Slug
from ipucloud.contract.lists import Page

MAX_MACHINES = 1_000_000


class QuotaOut(Answer):
    """How many machines of a type a project may hold in a region, and how many it holds."""

    region: str = Field(examples=["luxembourg-2"])
    machine_type: str = Field(examples=["m2000"])
    limit: int
    used: int = Field(
        description="Machines held by clusters, including deleted clusters whose machines are not clean yet."
    )


class QuotaPage(Page[QuotaOut]):
    pass


class QuotaLimit(Body):
    """The largest number of machines of a type that the project may hold in a region."""

    region: Slug = Field(examples=["luxembourg-2"])
    machine_type: Slug = Field(examples=["m2000"])
    limit: int = Field(ge=0, le=MAX_MACHINES, description="Largest number of machines.", examples=[64])


class QuotaLimits(Body):
    """All limits of a project; an omitted one becomes 0."""

    items: list[QuotaLimit] = Field(max_length=100)
