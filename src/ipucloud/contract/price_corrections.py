"""Corrections of past prices: what is asked for, what it changes, and how far it is."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from pydantic import Field

from ipucloud.contract.fields import Answer, Body, Instant, Slug
from ipucloud.contract.lists import Page
from ipucloud.kernel.money import Money

REASON = r"^[^\x00-\x1f\x7f]+$"


class PriceCorrectionBody(Body):
    """Another price for a period that began in the past."""

    account_id: Annotated[UUID, Field(strict=False)] | None = Field(
        None, description="Account whose contract price is corrected, or should have been there; null: the list price."
    )
    sku: Slug
    region: Slug
    unit_price: Money = Field(description="Price per minute of the SKU's unit, with at most ten decimal places.")
    valid_from: Instant = Field(description="Start of the corrected period: a whole second in the past.")
    valid_to: Instant | None = Field(
        None,
        description="End of the period, exclusive, in the past; null: the end of the version in force at `valid_from`.",
    )
    reason: str = Field(
        min_length=1, max_length=500, pattern=REASON, examples=["The price of July was entered a day late."]
    )


class PriceCorrectionOrder(PriceCorrectionBody):
    """A correction that was previewed."""

    preview: str = Field(
        min_length=16,
        max_length=64,
        pattern="^[0-9a-f]+$",
        description="`preview` of the preview: the request is refused if the price book has changed since.",
        examples=["6f1ed002ab559585"],
    )


class CorrectedVersionOut(Answer):
    """A version of the price book that loses time to the correction."""

    id: UUID
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = Field(description="End of validity before the correction; null: no end.")


class CorrectionEffectOut(Answer):
    """What a correction changes for a project's month, up to the time of the answer. Amounts are before tax."""

    account_id: UUID = Field(description="Account that pays.")
    account: str = Field(description="Name of the account.", examples=["Research"])
    project_id: UUID = Field(description="Project whose clusters were used.")
    project: str = Field(description="Slug of the project.", examples=["vision"])
    month: str = Field(description="Month of the usage.", examples=["2026-05"])
    clusters: int = Field(description="Clusters with minutes in the period.")
    minutes: int = Field(description="Minutes of the period that have a price now.")
    before: Money = Field(description="Cost by the present price book.")
    after: Money = Field(description="Cost by the corrected one.")
    difference: Money = Field(description="`after` − `before`.")
    settled_by: Literal["open_month", "next_invoice", "credit_note"] = Field(
        description="`open_month`: the month is not sealed, its invoice will be right. Of a sealed one, more is charged"
        " on the next invoice, and less is credited by a credit note that is issued with it."
    )


class PriceCorrectionPreviewOut(Answer):
    """What a correction would change. Nothing is changed yet."""

    account_id: UUID | None = Field(description="Account of a contract price; null for the list price.")
    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = Field(description="End of the corrected period, exclusive; null: no end.")
    replaces: list[CorrectedVersionOut] = Field(description="Versions that lose time to it.")
    effects: list[CorrectionEffectOut] = Field(description="What changes for whom; without changes left out.")
    difference: Money = Field(description="Sum of all differences.")
    preview: str = Field(
        description="To be sent with the correction itself: it is refused if the price book has changed since.",
        examples=["6f1ed002ab559585"],
    )


class PriceCorrectionOut(Answer):
    """A correction, and how far its re-rating is."""

    id: UUID
    account_id: UUID | None = Field(description="Account of a contract price; null for the list price.")
    sku: str = Field(examples=["ipu-m2000"])
    region: str = Field(examples=["luxembourg-2"])
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = Field(description="End of the corrected period, exclusive; null: no end.")
    reason: str = Field(examples=["The price of July was entered a day late."])
    created_at: datetime
    finished_at: datetime | None = Field(description="When every closed hour was rated again; null: not yet.")
    hours_left: int = Field(description="Closed hours that are still to be rated again.")
    effects: list[CorrectionEffectOut] = Field(
        description="What it changes for whom, as computed when it was accepted."
    )
    difference: Money = Field(description="Sum of all differences.")


class PriceCorrectionPage(Page[PriceCorrectionOut]):
    pass
