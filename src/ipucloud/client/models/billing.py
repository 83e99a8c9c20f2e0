"""Who pays, what was charged and why, and the price book."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from ipucloud.client.models.base import Answer, Money


class BillingAccount(Answer):
    """Somebody who pays."""

    id: str
    name: str
    currency: str
    legal_name: str | None = None
    address: str | None = None
    tax_id: str | None = None
    country: str | None = None
    tax_exempt: bool = False
    payment_days: int


class Balance(Answer):
    """What an account has, or below 0 owes."""

    code: str
    balance: Money


class ProjectAccount(BillingAccount):
    """The account that pays for a project, up to the last hour that was closed."""

    balances: Sequence[Balance] = ()


class ChargedUsage(Answer):
    """The fact: so many machines were in use in [started_at, ended_at)."""

    anchor_at: datetime
    started_at: datetime
    ended_at: datetime | None = None
    machines: int


class ChargedPrice(Answer):
    """The price that was in force."""

    sku: str
    region: str
    unit_price: Money
    list_unit_price: Money
    contract: bool
    valid_from: datetime
    valid_to: datetime | None = None
    source: str


class Charge(Answer):
    """Minutes of one hour as they were posted, and what the cost was made from."""

    id: str
    billing_month: date
    hour: datetime
    started_at: datetime
    ended_at: datetime
    correction: bool
    first_minute: int
    minutes: int
    cost: Money
    formula: str
    usage: ChargedUsage
    price: ChargedPrice


class ExportFile(Answer):
    """A file by its bytes."""

    name: str
    bytes: int
    sha256: str


class ExportManifest(Answer):
    """What a file is; `final` says that it never changes any more."""

    final: bool
    rows: int
    files: Sequence[ExportFile]


class Export(Answer):
    """Days of the bill in [since, until) as a file, and how far it is. `month` is None when they are not a month."""

    id: str
    operation: str
    state: str
    progress: int
    dataset: str
    version: str
    format: str
    month: str | None = None
    since: date
    until: date
    created_at: datetime
    delivered_at: datetime | None = None
    expires_at: datetime | None = None
    last_error: str | None = None
    manifest: ExportManifest | None = None


class S3Connection(Answer):
    """A bucket that exports are delivered to."""

    id: str
    name: str
    endpoint: str
    region: str
    bucket: str
    prefix: str


class ExportSchedule(Answer):
    """What is delivered again and again."""

    id: str
    connection: str
    dataset: str
    every: str
    next_at: datetime
    last_error: str | None = None
    last_delivered_at: datetime | None = None


class ReportSums(Answer):
    """Figures in one currency."""

    minutes: int
    machine_minutes: int
    cost: Money
    list_cost: Money


class ReportRow(ReportSums):
    """The figures of one group."""

    group: dict[str, str | None]


class Report(Answer):
    """What was charged for usage in [since, until); hours from `posted_until` on are not closed."""

    since: datetime
    until: datetime
    posted_until: datetime | None = None
    columns: Sequence[str]
    rows: Sequence[ReportRow]
    totals: Sequence[ReportSums]


class BookedPrice(Answer):
    """A price in [valid_from, valid_to), for everybody or for one account."""

    id: str
    account_id: str | None = None
    sku: str
    region: str
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = None
    source: str


class PricesAdded(Answer):
    """How many were not there before."""

    added: int
