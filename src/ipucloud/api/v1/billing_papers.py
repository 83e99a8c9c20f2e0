"""What invoices, credit notes and drafts look like, and how they are answered: as JSON or as PDF."""

from __future__ import annotations

import asyncio
from datetime import date, datetime
from typing import Annotated, Literal
from uuid import UUID

import orjson
from fastapi import Path
from pydantic import BaseModel, Field
from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from ipucloud.api.etag import tagged
from ipucloud.api.shapes import Page
from ipucloud.billing.invoices.pdf import render
from ipucloud.kernel.money import Money

PDF = "application/pdf"
ONE_VERSION = 1
"""Of a document that was issued: there is never another."""
Number = Annotated[str, Path(description="of an invoice or a credit note", examples=["INV-2026-000001"])]


class _Number(Convertor[str]):
    """A number in a path ends before what is asked of its document, as in `INV-2026-000001:credit-note`."""

    regex = "[^/:]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("paper", _Number())


class PaperRow(BaseModel):
    """An invoice or a credit note in a list."""

    kind: Literal["invoice", "credit_note"]
    number: str = Field(examples=["INV-2026-000001"])
    invoice: str | None = Field(description="which a credit note is about")
    month: str = Field(description="of the bill", examples=["2026-04"])
    issued_at: datetime
    due_on: date | None
    total: Money
    open: Money = Field(description="still to be paid")


class PaperPage(Page[PaperRow]):
    pass


class PartyOut(BaseModel):
    """Who issued it, or whom it is for, as it was then."""

    legal_name: str
    address: str | None
    country: str | None = Field(examples=["LU"])
    tax_id: str | None


class IssuerOut(PartyOut):
    """Who issued it, and where to pay."""

    bank: str | None


class RecipientOut(PartyOut):
    """Whom it is for."""

    account_id: UUID


class InvoicePeriodOut(BaseModel):
    """Days in [since, until)."""

    since: date
    until: date


class InvoiceLineOut(BaseModel):
    """What a project used of a SKU in a region under one price version."""

    line: int
    project_id: UUID
    project: str
    sku: str
    region: str
    price_id: UUID
    usage_month: str = Field(examples=["2026-04"])
    correction: bool = Field(description="of a month that was billed before")
    minutes: int
    machine_minutes: int
    unit_price: Money
    cost: Money = Field(description="exact")
    amount: Money = Field(description="rounded to cents")
    tax_rate: str = Field(examples=["0.17"])


class InvoiceTaxOut(BaseModel):
    """The tax of one rate."""

    name: str
    rate: str = Field(description="0.17 is 17 %", examples=["0.17"])
    taxable: Money
    tax: Money


class PaperOut(BaseModel):
    """An invoice, a credit note or a draft. A member that its kind does not have is left out."""

    kind: Literal["invoice", "credit_note", "draft"]
    number: str | None = Field(description="null: a draft")
    issued_on: date
    due_on: date | None = None
    payment_days: int | None = None
    period: InvoicePeriodOut
    currency: str
    seller: IssuerOut
    customer: RecipientOut
    invoice: str | None = Field(None, description="credit note: which invoice it is about")
    invoice_issued_on: date | None = None
    reason: str | None = Field(None, description="credit note")
    lines: list[InvoiceLineOut] | None = None
    cost: Money | None = Field(None, description="exact usage")
    adjustment: Money | None = Field(None, description="what rounding the lines added")
    subtotal: Money | None = Field(None, description="of the lines")
    promo_applied: Money | None = None
    taxable: Money | None = None
    net: Money | None = Field(None, description="credit note: what is given back without tax")
    taxes: list[InvoiceTaxOut]
    tax: Money
    total: Money
    wallet_applied: Money | None = Field(None, description="paid from the wallet; below 0: put into it")
    to_wallet: Money | None = Field(None, description="credit note: put into the wallet")
    due: Money | None = Field(None, description="when it was issued")
    tax_treatment: Literal["standard", "reverse_charge", "exempt"]
    notes: list[str] = Field(description="what it has to say about tax")


class PaperFormat(BaseModel):
    format: Literal["json", "pdf"] | None = Field(None, description="goes before `Accept`")


async def paper(request: Request, query: PaperFormat, document: bytes) -> Response:
    """The document itself, or its picture."""
    if query.format == "pdf" or (query.format is None and PDF in request.headers.get("accept", "")):
        known = orjson.loads(document)
        name = known["number"] or "draft"
        headers = {"Content-Disposition": f'inline; filename="{name}.pdf"'}
        return Response(await asyncio.to_thread(render, known), 200, headers, PDF)
    return tagged(request, document, ONE_VERSION)
