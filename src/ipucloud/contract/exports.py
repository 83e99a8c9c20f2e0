"""Cost exports, their schedules and destination buckets."""

from __future__ import annotations

from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Month
from ipucloud.contract.lists import Listed, Page, WholeList
from ipucloud.contract.operations import OperationState


class Dataset(StrEnum):
    """A dataset of the FOCUS specification."""

    COST_AND_USAGE = "cost-and-usage"
    BILLING_PERIOD = "billing-period"
    INVOICE_DETAIL = "invoice-detail"


class FocusVersion(StrEnum):
    """Version of the FOCUS specification."""

    V1_2 = "1.2"
    V1_4 = "1.4"


class FileFormat(StrEnum):
    """Format of an export's file."""

    CSV = "csv"
    PARQUET = "parquet"


MAX_DAYS = 366
PER_DAY = 10
"""Exports that a project or an account may request within 24 hours, unless an operator has set another number."""
MAX_PER_DAY = 10_000
Day = Annotated[
    str,
    Field(
        pattern=r"^20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$",
        examples=["2026-05-04"],
        json_schema_extra={"format": "date"},
    ),
]


class FileChoice(Body):
    """Contents of a file."""

    dataset: Annotated[Dataset, Field(strict=False)] = Dataset.COST_AND_USAGE
    version: Annotated[FocusVersion, Field(strict=False)] = Field(FocusVersion.V1_4, description="Version of FOCUS.")
    format: Annotated[FileFormat, Field(strict=False)] = FileFormat.CSV
    provisional: bool = Field(
        False,
        description="Also rows of usage that is not posted yet, such as that of the running hour; their"
        " `x_Provisional` is `true`. Only in `cost-and-usage`.",
    )


class AccountExportCreate(FileChoice):
    """A file of one billing month, or of the days in [since, until), of all that a billing account pays for."""

    month: Month | None = Field(None, description="Billing month, in UTC; the current month is partial.")
    since: Day | None = Field(None, description="First day, in UTC, instead of `month`.")
    until: Day | None = Field(None, description=f"End date, exclusive; at most {MAX_DAYS} days after `since`.")
    connection: Annotated[UUID | None, Field(strict=False)] = Field(
        None, description="Id of an S3 connection to deliver the file to."
    )


class ExportCreate(AccountExportCreate):
    """A file of one billing month, or of the days in [since, until)."""

    scope: Literal["project", "account"] = Field(
        "project",
        description="`account`: everything that the project's account pays for; if it also pays for other projects,"
        " only operators and payers of the account may request it.",
    )


class ExportOut(Answer):
    """An export and its progress."""

    id: UUID
    operation: UUID
    state: str = Field(description="State of the operation that makes the file.")
    progress: int
    dataset: str
    version: str
    format: str
    provisional: bool = Field(description="Whether it was requested with usage that is not posted yet.")
    month: str | None = Field(description="Billing month; null if the export covers `since` to `until`.")
    since: date
    until: date = Field(description="End date, exclusive.")
    scope: str
    connection: UUID | None
    schedule: UUID | None
    created_at: datetime
    built_at: datetime | None = Field(description="When the file became available; null while it is being built.")
    delivered_at: datetime | None
    expires_at: datetime | None = Field(description="When the file is removed; null while there is none.")
    failed_deliveries: int
    last_error: str | None = Field(description="Why the last attempt failed; null if it did not.")
    manifest: dict[str, Any] | None = Field(
        description="Rows, sums, digest and time of the file; null while it is being built."
    )


class ExportPage(Page[ExportOut]):
    pass


class ExportList(Listed):
    """Exports that match every filter."""

    state: list[OperationState] = Field(
        default_factory=list, description="Only those whose operation is in one of these states."
    )
    dataset: Dataset | None = Field(None, description="Only exports of this data.")


class ExportScheduleCreate(FileChoice):
    """A recurring delivery."""

    connection: Annotated[UUID, Field(strict=False)]
    every: Literal["hour", "day", "month"] = Field(
        "day",
        description="`hour`: the day of the previous hour, so far. `day`: the month of the previous day, so far."
        " `month`: the previous month, once it is sealed.",
    )


class ExportScheduleOut(Answer):
    """A schedule and the result of its last export."""

    id: UUID
    name: str = Field(
        description="Connection, interval and dataset; the schedule can be addressed by it.",
        examples=["finance-bucket.day.cost-and-usage"],
    )
    connection: UUID
    dataset: str
    version: str
    format: str
    provisional: bool = Field(description="Whether its files have usage that is not posted yet.")
    every: str
    next_at: datetime
    created_at: datetime
    last_export: UUID | None
    last_error: str | None = Field(description="Why the last delivery failed; null if it did not.")
    last_delivered_at: datetime | None


class ExportLimitSet(Body):
    """How many exports a project or an account may request within 24 hours, besides those of its schedules."""

    per_day: int = Field(ge=0, le=MAX_PER_DAY, description="Maximum of exports within 24 hours.", examples=[50])


class ExportLimitOut(Answer):
    """How many exports a project or an account may request within 24 hours, and how many it has."""

    per_day: int = Field(description=f"Maximum of exports within 24 hours; {PER_DAY} unless an operator has set it.")
    used: int = Field(description="Exports that were requested in the last 24 hours, without those of schedules.")
    next_at: datetime | None = Field(
        description="When the next export can be requested; null: now, or not before the limit is raised."
    )


class ExportSchedulePage(Page[ExportScheduleOut]):
    pass


class ExportScheduleList(WholeList):
    """Export schedules that match every filter."""

    every: Literal["hour", "day", "month"] | None = Field(None, description="Only those that deliver this often.")
    dataset: Dataset | None = Field(None, description="Only those that deliver this data.")
