"""Renders a document's JSON as PDF, on A4 pages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from typing import TypeVar

from ipucloud.catalogue.queries import ADDRESS_SKU, STORAGE_SKUS
from ipucloud.contract.invoices import InvoiceCreditOut, InvoiceLineOut, InvoiceOut, PartyOut
from ipucloud.extras.e_invoices.factur_x import PDF_A, embed_invoice
from ipucloud.extras.e_invoices.sheet import GREY, LEFT, RIGHT, TOP, Column, Row, Sheet
from ipucloud.kernel.money import Money, places_of, written

Finished = TypeVar("Finished")
TITLES = {"invoice": "Invoice", "credit_note": "Credit note", "draft": "Draft invoice"}
MAX_LINES = 8
"""Of an address or a bank account; the document has all."""
_HALF = 82.0
_TOTALS = 112.0
_MINUS = "-"
_CLOSING = 120.0
"""Millimetres of sums and remarks that are kept on one page; longer remarks may break."""


def render(document: InvoiceOut) -> bytes:
    """The PDF of an invoice, a credit note or a draft; the same release always returns the same bytes."""
    pages = _drawn(document, 1, Sheet.page_no)
    return _drawn(document, pages, lambda sheet: bytes(sheet.output()))


def render_with(document: InvoiceOut, xml: bytes) -> bytes:
    """The Factur-X (ZUGFeRD) PDF of an invoice or a credit note: a PDF/A-3 that contains its XML."""
    pages = _drawn(document, 1, Sheet.page_no)

    def finish(sheet: Sheet) -> bytes:
        embed_invoice(sheet, xml, author=document.seller.legal_name, day=document.issued_on)
        return bytes(sheet.output())

    return _drawn(document, pages, finish, PDF_A)


@dataclass(frozen=True, slots=True)
class _Total:
    """A line of the sums: `strong` ones stand out."""

    name: str
    amount: str
    strong: bool = False


def _drawn(
    document: InvoiceOut, pages: int, finish: Callable[[Sheet], Finished], standard: str | None = None
) -> Finished:
    """What `finish` makes of the sheet that was drawn for so many pages, and complies with `standard`."""
    seller = document.seller
    title = " ".join(filter(None, (TITLES[document.kind], document.number)))
    foot = ", ".join(filter(None, (seller.legal_name, seller.tax_id, seller.e_invoice.registration_number)))
    with Sheet(title, foot, datetime.combine(document.issued_on, time(), UTC), pages, standard) as sheet:
        _head(sheet, document)
        totals = _credit_totals(document) if document.kind == "credit_note" else _invoice_totals(document)
        remarks = [*document.notes, *map(_credit, document.credits or ()), *_terms(document)]
        closing = _height_of(totals) + sum(sheet.height_of(each, 9) + 2 for each in remarks)
        keep = closing if closing <= _CLOSING else _height_of(totals)
        if document.kind == "credit_note" and document.lines is None:
            sheet.print_table(_note_columns(document.currency), [_credit_row(document)], keep=keep)
        else:
            sheet.print_table(
                _columns(document.currency), [_line(line) for line in _printed_lines(document)], keep=keep
            )
        sheet.need(keep)
        _totals(sheet, totals)
        _remarks(sheet, remarks)
        return finish(sheet)


def _head(sheet: Sheet, document: InvoiceOut) -> None:
    seller, customer = document.seller, document.customer
    y = sheet.text_at(LEFT, TOP, seller.legal_name, width=_HALF, size=12, bold=True)
    left = sheet.text_at(LEFT, y + 1, _address(seller), width=_HALF, size=9, colour=GREY)
    right = sheet.text_at(RIGHT - _HALF, TOP, TITLES[document.kind], width=_HALF, size=22, bold=True, align="R")
    y = max(left, right, TOP + 22) + 12
    left = sheet.text_at(LEFT, y, "Billed to", width=_HALF, size=8, colour=GREY)
    left = sheet.text_at(LEFT, left + 1, customer.legal_name, width=_HALF, size=10.5, bold=True)
    left = sheet.text_at(LEFT, left + 0.5, _address(customer), width=_HALF, size=9.5)
    right = sheet.facts(RIGHT - _HALF, y, _HALF, _facts(document))
    sheet.set_y(max(left, right) + 10)


def _address(party: PartyOut) -> str:
    tax_id = f"Tax ID {party.tax_id}" if party.tax_id else None
    country = f"Country {party.country}" if party.country else None
    return "\n".join(filter(None, (_few_lines(party.address), country, tax_id)))


def _few_lines(text: str | None) -> str:
    """Truncates text to fit the head of a page."""
    return "\n".join((text or "").split("\n")[:MAX_LINES])


def _facts(document: InvoiceOut) -> list[tuple[str, str]]:
    period = document.period
    facts = [("Number", document.number or "not given yet"), ("Date", str(document.issued_on))]
    if document.kind == "credit_note":
        facts += [("Corrects", f"{number} of {day}") for number, day in _corrected(document)]
    elif document.due_on is not None:
        facts.append(("Due date", str(document.due_on)))
    more = document.customer.e_invoice
    references = {"Your order": more.purchase_order, "Your reference": more.buyer_reference}
    return [
        *facts,
        *((name, value) for name, value in references.items() if value is not None),
        ("Period of service", f"{period.since} to {period.until - timedelta(days=1)}"),
        ("Currency", document.currency),
        ("Account", str(document.customer.account_id)),
    ]


def _corrected(document: InvoiceOut) -> list[tuple[str, str]]:
    """The documents that a credit note corrects: all are named on paper. Older ones have but one, in `invoice`."""
    if document.corrects is None:
        return [(document.invoice or "", str(document.invoice_issued_on))]
    return [(each.number, str(each.issued_on)) for each in document.corrects]


def _columns(currency: str) -> tuple[Column, ...]:
    return (
        Column("No.", 10),
        Column("Project and what it used", 61),
        Column("Minutes", 20, "R"),
        Column("Machine-min.", 24, "R"),
        Column(f"Unit price {currency}", 27, "R"),
        Column(f"Amount {currency}", 28, "R"),
    )


def _note_columns(currency: str) -> tuple[Column, ...]:
    return (Column("No.", 10), Column("What is given back", 132), Column(f"Amount {currency}", 28, "R"))


def _printed_lines(document: InvoiceOut) -> list[InvoiceLineOut]:
    """Without charges that cancel each other out, which are the last lines."""
    return [
        line for line in document.lines or () if line.minutes or line.machine_minutes or line.credited_machine_minutes
    ]


def _line(line: InvoiceLineOut) -> Row:
    used = f"{line.sku}, {line.region}"
    if line.sku in STORAGE_SKUS:
        used += "; GiB-minutes"
    elif line.sku == ADDRESS_SKU:
        used += "; address-minutes"
    if line.since is not None and line.until is not None:
        used += f"; {line.since} to {line.until - timedelta(days=1)}"
    if line.correction:
        used += f"; correction of {line.corrects or line.usage_month}"
    if line.contract is not None and line.price_since is not None:
        used += f"; {'contract' if line.contract else 'list'} price from {_second(line.price_since)}"
        used += "" if line.price_until is None else f" to {_second(line.price_until)}"
    if line.credited_machine_minutes:
        used += f"; without {line.credited_machine_minutes:,} credited machine-minutes"
    return Row(
        (
            str(line.line),
            line.project,
            f"{line.minutes:,}",
            f"{line.machine_minutes:,}",
            written(line.unit_price.amount, line.unit_price.currency),
            _printed(line.amount),
        ),
        note=used,
    )


def _credit(credit: InvoiceCreditOut) -> str:
    """`bert: 20 machine-minutes from … are not billed (1.25 EUR). The machine has failed (bmc_critical, report …).`"""
    reasons = "; ".join(
        f"{each.message or each.kind} ({each.code}, seen {_second(each.first_seen_at)}, report {each.report_id})"
        for each in credit.credited_for
    )
    amount = str(credit.amount)
    return (
        f"{credit.cluster}: {credit.machine_minutes:,} machine-minutes from {_second(credit.since)} to"
        f" {_second(credit.until)} UTC are not billed ({amount}). {reasons}"
    )


def _second(instant: datetime) -> str:
    return f"{instant:%Y-%m-%d %H:%M:%S}"


def _credit_row(document: InvoiceOut) -> Row:
    return Row(("1", document.reason or "", _printed(document.net)), note=f"Credit for invoice {document.invoice}")


def _invoice_totals(document: InvoiceOut) -> list[_Total]:
    totals = [_Total("Subtotal", _printed(document.subtotal))]
    if _amount(document.promo_applied):
        totals.append(_Total("Promotional credit", _printed(document.promo_applied, sign=_MINUS)))
        totals.append(_Total("Net", _printed(document.taxable)))
    totals += _taxes(document)
    totals.append(_Total(f"Total {document.currency}", _printed(document.total), strong=True))
    wallet = _amount(document.wallet_applied)
    if wallet > 0:
        totals.append(_Total("Paid from the wallet", _printed(document.wallet_applied, sign=_MINUS)))
    if wallet < 0:
        totals.append(_Total("Put into the wallet", _figure(-wallet, document.currency)))
    return [*totals, _Total(f"Amount due {document.currency}", _printed(document.due), strong=True)]


def _credit_totals(document: InvoiceOut) -> list[_Total]:
    totals = [_Total("Net credited", _printed(document.net)), *_taxes(document)]
    return [*totals, _Total(f"Total {document.currency}", _printed(document.total), strong=True)]


def _taxes(document: InvoiceOut) -> list[_Total]:
    """The tax of each rate, and their sum if there are several."""
    taxes = [
        _Total(f"{tax.name} {_percent(tax.rate)} on {_printed(tax.taxable)}", _printed(tax.tax))
        for tax in document.taxes
    ]
    return [*taxes, _Total("Tax", _printed(document.tax))] if len(taxes) > 1 else taxes


def _height_of(totals: Sequence[_Total]) -> float:
    return sum(8.3 if each.strong else 6.2 for each in totals) + 10


def _totals(sheet: Sheet, totals: Sequence[_Total]) -> None:
    """The sums, together on one page."""
    y = sheet.get_y() + 4
    for total in totals:
        if total.strong:
            sheet.set_y(y)
            sheet.rule(_TOTALS)
            y += 1.6
        size = 10.5 if total.strong else 9.5
        end = sheet.text_at(_TOTALS, y, total.name, width=50, size=size, bold=total.strong)
        sheet.text_at(_TOTALS, y, total.amount, size=size, bold=total.strong, align="R")
        y = end + 1.8
    sheet.set_y(y + 6)


def _terms(document: InvoiceOut) -> list[str]:
    currency = document.currency
    remarks = []
    adjustment = _amount(document.adjustment)
    if adjustment:
        cost = f"{_amount(document.cost):,}"
        remarks.append(
            f"Prices are per machine-minute and exact; every line is rounded to what can be paid. The exact usage is"
            f" {cost} {currency}; rounding comes to {written(adjustment, currency)} {currency}."
        )
    if document.kind == "credit_note":
        return [*remarks, *_credit_remarks(document)]
    if document.kind == "draft":
        return [*remarks, "This is not an invoice: it shows what was charged so far, and changes until the month ends."]
    if not _amount(document.due):
        return [*remarks, "Nothing is left to pay."]
    terms = (
        f"Please pay {_printed(document.due)} {currency} within {document.payment_days} days, by"
        f" {document.due_on}, and name {document.number}."
    )
    bank = document.seller.bank
    return [*remarks, terms, *([_few_lines(bank)] if bank else [])]


def _credit_remarks(document: InvoiceOut) -> list[str]:
    """Why a credit note was issued, if no line of its table says so, and where its amount went."""
    wallet, currency = _amount(document.to_wallet), document.currency
    remarks = [document.reason or ""] if document.lines is not None else []
    amount = f"{_figure(wallet, currency)} {currency}"
    if not wallet:
        remarks.append(f"The amount is taken off what is due of invoice {document.invoice}.")
    elif wallet == document.total.amount:
        remarks.append(f"{amount} was put into the wallet of the account.")
    else:
        remarks.append(
            f"{amount} was put into the wallet of the account; the rest is taken off invoice {document.invoice}."
        )
    paid = [f"{_printed(each.amount)} {currency} of invoice {each.number}" for each in document.settled or ()]
    return [*remarks, *([f"The wallet paid {', '.join(paid)} with it."] if paid else [])]


def _remarks(sheet: Sheet, remarks: Sequence[str]) -> None:
    for remark in remarks:
        sheet.need(sheet.height_of(remark, 9))
        sheet.set_y(sheet.text_at(LEFT, sheet.get_y(), remark, size=9) + 2)


def _printed(money: Money | None, *, sign: str = "") -> str:
    return "" if money is None else f"{sign}{_figure(money.amount, money.currency)}"


def _figure(amount: Decimal, currency: str) -> str:
    """`1,234.50` in EUR, `1,234` in JPY."""
    return f"{amount:,.{places_of(currency)}f}"


def _amount(money: Money | None) -> Decimal:
    """Nothing, where a document of its kind has none."""
    return Decimal(0) if money is None else money.amount


def _percent(rate: str) -> str:
    number = Decimal(rate) * 100
    return f"{number.normalize():f} %"
