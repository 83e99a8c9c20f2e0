"""Projects, and what one has and costs at a glance."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from pydantic import Field

from ipucloud.contract.budgets import BudgetOut
from ipucloud.contract.events import EventOut
from ipucloud.contract.fields import NAME_PATTERN, Answer, Body
from ipucloud.contract.lists import NamedListed, Page
from ipucloud.contract.operations import OperationSummaryOut
from ipucloud.contract.quotas import QuotaOut
from ipucloud.kernel.money import Money

DisplayName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[^\x00-\x1f\x7f]+$")]


class ProjectOut(Answer):
    """A project. Paths accept its `id`, `number` or `slug`."""

    id: UUID
    number: int
    slug: str = Field(examples=["research"])
    name: str
    created_at: datetime
    version: int


class ProjectPage(Page[ProjectOut]):
    pass


class ProjectList(NamedListed):
    """Projects that match every filter."""

    name: str | None = Field(None, description="Only projects with exactly this name or slug.")
    q: str | None = Field(None, description="Only projects with this in their name or slug, in upper or lower case.")


class ProjectCreate(Body):
    """A project without clusters, quotas and members."""

    slug: str = Field(
        pattern=NAME_PATTERN, examples=["research"], description="Short name in paths; never changed and never reused."
    )
    name: DisplayName = Field(examples=["Research"])


class ProjectPatch(Body):
    """What can be changed of a project."""

    name: DisplayName


class ClustersInStateOut(Answer):
    """How many clusters are in a state."""

    state: str = Field(description="The state.", examples=["active"])
    clusters: int = Field(description="Clusters in this state.", examples=[3])
    ipus: int = Field(description="Their size in IPUs, whether they hold machines now or not.", examples=[48])


class AttentionOut(Answer):
    """A cluster that does not work as it should."""

    id: UUID = Field(description="Id of the cluster.")
    name: str = Field(description="Name of the cluster.")
    state: str = Field(description="`degraded` or `error`.", examples=["degraded"])
    state_reason: str | None = Field(description="Why it is in this state.", examples=["A machine does not answer."])
    state_entered_at: datetime = Field(description="Since when it is in this state.")


class OverviewFactsOut(Answer):
    """What a project has, all of one moment."""

    at: datetime = Field(description="The moment.")
    clusters: list[ClustersInStateOut] = Field(description="Clusters that are not deleted, by state.")
    ipus_in_use: int = Field(description="IPUs of the machines that clusters hold now.", examples=[48])
    quotas: list[QuotaOut] = Field(description="Machines in use and their limits.")
    attention: list[AttentionOut] = Field(
        description="Clusters that are degraded or failed, the 20 that became so last, latest first."
    )
    attention_count: int = Field(description="How many clusters are degraded or failed.", examples=[0])
    open_fault_reports: int = Field(description="Reported faults that the operator has not answered.", examples=[0])
    operations: list[OperationSummaryOut] = Field(
        description="Running operations on clusters and partitions, the 20 newest, newest first."
    )
    operation_count: int = Field(
        description="How many operations on clusters and partitions are running.", examples=[1]
    )
    events: list[EventOut] = Field(description="The latest 10 events, newest first.")


class OverviewSpendingOut(Answer):
    """Cost of the current UTC month, before promotional credit and tax."""

    month: str = Field(description="The month.", examples=["2026-05"])
    accrued: Money = Field(description="Cost of all minutes of the month that have begun.")
    per_hour: Money = Field(description="What the clusters that are billed now cost per hour.")
    forecast: Money = Field(description="Expected cost at the end of the month.")
    budgets: list[BudgetOut] = Field(description="Budgets, with their figures of the month.")


class OverviewOut(OverviewFactsOut):
    """What a project has and costs at a glance."""

    spending: OverviewSpendingOut = Field(description="Cost of the current month.")
