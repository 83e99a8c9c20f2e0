"""Quotas of a project."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Shape, Slug
from ipucloud.contract.lists import Page

MAX_MACHINES = 1_000_000


class QuotaOut(Answer):
    """How many machines of a type, GiB, or addresses, a project may hold in a region, and how many it holds."""

    region: str = Field(examples=["luxembourg-2"])
    machine_type: str = Field(
        description="Type of the machines; `volume-gib`: volumes and snapshots; `address`: addresses.",
        examples=["m2000"],
    )
    unit: Literal["machine", "gib", "address"] = Field(description="What limit and use count.", examples=["machine"])
    limit: int
    used: int = Field(
        description="Machines held by clusters, including deleted clusters whose machines are not clean yet; of storage"
        " the size of volumes and snapshots, and of addresses their number, without those that are being deleted."
    )


class QuotaPage(Page[QuotaOut]):
    pass


class QuotaOrder(StrEnum):
    """Values of the `order` parameter of quotas."""

    BY_REGION = "region"
    BY_REGION_DESCENDING = "-region"
    BY_MACHINE_TYPE = "machine_type"
    BY_MACHINE_TYPE_DESCENDING = "-machine_type"
    BY_USE = "used"
    BY_USE_DESCENDING = "-used"
    BY_LIMIT = "limit"
    BY_LIMIT_DESCENDING = "-limit"


class QuotaList(Shape):
    """Quotas that match every filter."""

    region: str | None = Field(
        None, description="Only quotas in this region, by slug or number.", examples=["luxembourg-2"]
    )
    machine_type: str | None = Field(
        None, description="Only quotas of this type of machine; `volume-gib`: of volumes.", examples=["m2000"]
    )
    order: Annotated[
        QuotaOrder,
        Field(
            description="By region (`region`), type (`machine_type`), use (`used`) or limit (`limit`), upwards; with"
            " `-` downwards."
        ),
    ] = QuotaOrder.BY_REGION


class QuotaLimit(Body):
    """The largest number of machines of a type, of GiB, or of addresses, that the project may hold in a region."""

    region: Slug = Field(examples=["luxembourg-2"])
    machine_type: Slug = Field(
        description="Type of the machines; `volume-gib`: volumes and snapshots; `address`: addresses.",
        examples=["m2000"],
    )
    limit: int = Field(
        ge=0, le=MAX_MACHINES, description="Largest number of machines, GiB or addresses.", examples=[64]
    )


class QuotaLimits(Body):
    """All limits of a project; an omitted one becomes 0, and one of storage or addresses the default."""

    items: list[QuotaLimit] = Field(max_length=100)
