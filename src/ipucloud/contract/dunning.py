"""Dunning: reminders of overdue invoices, and restrictions of their account."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body
from ipucloud.kernel.money import Money

Days = Annotated[int, Field(ge=1, le=365)]
REMIND_AFTER = (1, 8, 15)


class DunningPolicy(Body):
    """What follows when an invoice of the account is overdue, by days after its due date."""

    remind_after: list[Days] = Field(
        list(REMIND_AFTER), max_length=5, description="Remind after so many days, once each; empty: never."
    )
    refuse_creates_after: Days | None = Field(
        None, description="Refuse to create and resume clusters from so many days on; null: never."
    )
    suspend_after: Days | None = Field(
        None, description="Suspend active clusters from so many days on, and refuse to create others; null: never."
    )


class DunningOut(Answer):
    """What follows when invoices of the account are overdue, and what is overdue now."""

    account_id: UUID
    remind_after: list[int] = Field(description="Days after the due date at which is reminded; empty: never.")
    refuse_creates_after: int | None = Field(
        description="Days after which creates and resumes are refused; null: never."
    )
    suspend_after: int | None = Field(description="Days after which active clusters are suspended; null: never.")
    restriction: Literal["refuse_creates", "suspend"] | None = Field(
        description="The account's restriction, as last reported; null: none."
    )
    overdue: Money = Field(description="What is unpaid of invoices after their due date.")
    overdue_since: date | None = Field(description="The earliest due date of these; null: nothing is overdue.")
