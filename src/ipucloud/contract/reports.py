"""Reports of charges, and the forecast of a month."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.budgets import BudgetOut
from ipucloud.contract.fields import Answer, Instant, Month, Shape
from ipucloud.contract.wallet import BalanceOut
from ipucloud.kernel.money import Money

MAX_GROUPS = 4
SAME_TIME = "Cost in the month before, until the same time of that month (`until` of the summary's `previous`)."
GroupBy = Annotated[str, Field(pattern=r"^(cluster|project|flavor|region|sku|day|month|tag:[^\x00-\x1f\x7f]{1,128})$")]


class SumsOut(Answer):
    """Figures in one currency; `cost` is exact and not rounded."""

    minutes: int
    machine_minutes: int = Field(description="Billed machine-minutes.")
    credited_machine_minutes: int = Field(
        description="Further machine-minutes, which were not billed because machines did not work."
    )
    cost: Money
    list_cost: Money = Field(description="Cost at list prices.")


class ReportRowOut(SumsOut):
    """The figures of one group."""

    group: dict[str, str | None] = Field(
        description="Value of each column; null for clusters without the tag.",
        examples=[{"cluster": "0198…", "cluster_name": "bert"}],
    )


class ReportOut(Answer):
    """Charges for usage in [since, until). Rows sum exactly to the totals, and totals to the charges."""

    since: datetime
    until: datetime
    posted_until: datetime | None = Field(description="End of the last closed hour; later usage is not in the report.")
    columns: list[str]
    rows: list[ReportRowOut]
    totals: list[SumsOut] = Field(description="Sums of all rows, one for each currency.")


class CsvQuery(Shape):
    bom: bool = Field(
        False, description="Begin a CSV file with a byte order mark, by which spreadsheets read it as UTF-8."
    )


class ReportQuery(CsvQuery):
    since: Instant | None = Field(
        None, description="Start of the period, a full hour. Default: the start of the current UTC month."
    )
    until: Instant | None = Field(
        None, description="End of the period, exclusive, a full hour. Default: the current hour."
    )
    group_by: list[GroupBy] = Field(
        default_factory=list,
        max_length=MAX_GROUPS,
        description="`cluster`, `project`, `flavor` (at the time of use), `region`, `sku`, `day`, `month` or"
        " `tag:<key>`; repeatable.",
    )
    format: Literal["json", "csv"] | None = Field(None, description="Format of the response; overrides `Accept`.")


class ClusterSpendingOut(Answer):
    """What one cluster cost in the month."""

    cluster_id: UUID
    project_id: UUID
    name: str = Field(examples=["bert"])
    flavor: str = Field(description="Flavor that it was last used at in the month.", examples=["m2000-pod16"])
    region: str = Field(examples=["luxembourg-2"])
    state: str | None = Field(
        description="Present state of the cluster; null if another account pays for its project now.",
        examples=["active"],
    )
    minutes: int = Field(description="Priced minutes of the month that have begun.")
    accrued: Money = Field(description="Cost of these minutes.")
    per_hour: Money = Field(description="What the cluster costs per hour at present; zero if it is not billed.")
    forecast: Money = Field(description="Expected cost at the end of the month.")
    previous: Money = Field(description=SAME_TIME)


class FlavorSpendingOut(Answer):
    """What clusters cost in the month while they had a flavor; a resized cluster is in several."""

    flavor: str = Field(examples=["m2000-pod16"])
    accrued: Money = Field(description="Cost of the minutes that have begun.")
    forecast: Money = Field(description="Expected cost at the end of the month.")
    previous: Money = Field(description=SAME_TIME)


class SkuSpendingOut(Answer):
    """What the clusters of one SKU cost in the month."""

    sku: str = Field(examples=["ipu-m2000"])
    accrued: Money = Field(description="Cost of the minutes that have begun.")
    forecast: Money = Field(description="Expected cost at the end of the month.")
    previous: Money = Field(description=SAME_TIME)


class TagSpendingOut(Answer):
    """What the clusters that have a tag now cost in the month."""

    key: str = Field(examples=["team"])
    value: str = Field(examples=["nlp"])
    accrued: Money = Field(description="Cost of the minutes that have begun.")
    forecast: Money = Field(description="Expected cost at the end of the month.")
    previous: Money = Field(description=SAME_TIME)


class PreviousOut(Answer):
    """The month before."""

    month: str = Field(examples=["2026-04"])
    until: datetime = Field(
        description="As far into that month as `observed_at` is into this one; at most the month's end."
    )
    accrued: Money = Field(description="Cost until then.")
    total: Money = Field(description="Cost of the whole month.")


class UnusualDayOut(Answer):
    """A day whose cost differs from what the same weekday usually costs."""

    day: date = Field(description="The day, in UTC.")
    cost: Money = Field(description="What it cost.")
    usual: Money = Field(description="Median cost of the same weekday in the eight weeks before.")
    difference: Money = Field(description="`cost` − `usual`; negative for a day that cost less.")


class ExpectedTaxOut(Answer):
    """The tax that an invoice of today's usage adds, without promotional credit, which lowers it."""

    treatment: Literal["standard", "reverse_charge", "exempt"]
    name: str = Field(description="Name, as printed on invoices.", examples=["VAT"])
    rate: str = Field(description="A fraction: 0.17 is 17 %.", examples=["0.17"])
    on_accrued: Money = Field(description="Tax of `accrued`.")
    on_forecast: Money = Field(description="Tax of `forecast`.")


class SpendingOut(Answer):
    """Exact cost of a UTC month, before promotional credit and tax."""

    month: str = Field(examples=["2026-05"])
    since: datetime = Field(description="Start of the month.")
    until: datetime = Field(description="End of the month, exclusive.")
    observed_at: datetime = Field(description="The amounts include every minute that began before this time.")
    posted_until: datetime | None = Field(description="Hours before this time are closed; null: none is.")
    accrued: Money = Field(description="Cost of all minutes of the month that have begun.")
    posted: Money = Field(description="Part of `accrued` that is in charges.")
    unposted: Money = Field(description="Part of `accrued` that is not posted yet; negative while a correction is due.")
    per_hour: Money = Field(description="What the clusters that are billed now cost per hour.")
    projected: Money = Field(
        description="Cost still expected: clusters that are billed now continue until they expire or the month ends."
    )
    forecast: Money = Field(description="Expected cost at the end of the month.")
    previous: PreviousOut = Field(description="The month before, to compare with.")
    unpriced_minutes: int = Field(description="Minutes without a price; no amount includes them.")
    cluster_count: int = Field(description="Clusters with usage in the month.")
    clusters: list[ClusterSpendingOut] = Field(description="The 1000 with the highest cost, highest first.")
    flavors: list[FlavorSpendingOut] = Field(
        description="All flavors that clusters were used at, by cost, highest first."
    )
    skus: list[SkuSpendingOut] = Field(description="All SKUs, by cost, highest first.")
    tags: list[TagSpendingOut] = Field(
        description="The 1000 tags with the highest cost, highest first. A cluster counts for each of its tags."
    )


class SummaryOut(SpendingOut):
    """What was spent in a UTC month, on which clusters, and what it will be at the month's end.

    `accrued` = `posted` + `unposted`; `forecast` = `accrued` + `projected`. All amounts are exact, before promotional
    credit and tax.
    """

    credit: Money = Field(description="Promotional credit that remains; it pays invoices before the wallet does.")
    tax: ExpectedTaxOut | None = Field(
        description="Tax that an invoice would add; null if the account's country has no tax rate."
    )
    balances: list[BalanceOut] = Field(description="Balances of the account that pays, one entry per currency.")
    budgets: list[BudgetOut] = Field(
        description="Budgets created before the end of the month, with its figures and their present amounts."
    )
    unusual_days: list[UnusualDayOut] = Field(
        description="Days of the month, posted as a whole, that cost far more or less than their weekday usually does."
    )


class SummaryQuery(Shape):
    month: Month | None = Field(None, description="Month to summarise. Default: the current UTC month.")
