"""Invoices and credit notes in the terms of EN 16931, the European standard of electronic invoices.

Keys are the standard's terms: BT-… a value, BG-… a group. Documents are written in its two syntaxes, CII and UBL, and
in the profiles of UBL that countries and networks ask for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, Literal

from ipucloud.billing.invoices.tax import SENTENCES, is_tax_id
from ipucloud.catalogue.queries import ADDRESS_SKU, STORAGE_SKUS
from ipucloud.contract.e_invoices import EInvoiceParty
from ipucloud.contract.invoices import InvoiceLineOut, InvoiceOut, PartyOut
from ipucloud.kernel.money import Money, places_of, total

Group = dict[str, Any]
Syntax = Literal["cii", "ubl"]
_INVOICE, _CREDIT_NOTE = "380", "381"
_MINUTE, _ONE = "MIN", "C62"
"""Units of UN/ECE Recommendation 20."""
_CREDIT_TRANSFER, _SEPA_CREDIT_TRANSFER, _CLEARING = "30", "58", "97"
"""Payment means of UNTDID 4461. Credit notes are cleared against open invoices and the wallet."""
_REVERSE_CHARGE = "VATEX-EU-AE"
MOST_PLACES = 2
"""Decimal places of amounts (BR-DEC-*)."""
_NO_CHARACTER = re.compile("[\ufffe\uffff\ud800-\udfff]")
_CENT = Decimal("0.01")
_SLACK = Decimal("0.02")
"""By which a line may differ from its quantity at its price (PEPPOL-EN16931-R120)."""
_UBL = "{urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2}"
_STREET_LINES = 3


@dataclass(frozen=True, slots=True)
class Profile:
    """A syntax, and what a profile asks for beside EN 16931. `needs`: paths of members; `or` joins them."""

    syntax: Syntax
    specification: str | None = None
    needs: Sequence[str] = ()
    takes_mail: bool = True
    """Whether parties may receive documents by e-mail, which Peppol cannot deliver (PEPPOL-EN16931-CL008)."""


_PROCESS = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"
_ADDRESSES = ("seller.e_invoice.electronic_address", "customer.e_invoice.electronic_address")
PROFILES: Mapping[str, Profile] = {
    "factur-x": Profile("cii"),
    "cii": Profile("cii"),
    "ubl": Profile("ubl"),
    "peppol": Profile(
        "ubl",
        "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0",
        (*_ADDRESSES, "customer.e_invoice.buyer_reference or customer.e_invoice.purchase_order"),
        takes_mail=False,
    ),
    "xrechnung": Profile(
        "ubl",
        "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
        (
            *_ADDRESSES,
            "customer.e_invoice.buyer_reference",
            "customer.e_invoice.city",
            "customer.e_invoice.postcode",
            "seller.e_invoice.city",
            "seller.e_invoice.postcode",
            "seller.e_invoice.contact_name",
            "seller.e_invoice.contact_phone",
            "seller.e_invoice.contact_email",
            "seller.e_invoice.iban",
        ),
    ),
}
"""By format. Sources: EN 16931-1; Peppol BIS Billing 3.0; XRechnung 3.0 (KoSIT)."""


def missing(document: InvoiceOut, profile: Profile) -> list[str]:
    """The members that the profile needs and the document lacks, such as `seller.tax_id`."""
    needs = ("seller.tax_id", "seller.country", *profile.needs)
    return [need for need in needs if not any(_member(document, path) for path in need.split(" or "))]


def undeliverable(document: InvoiceOut, profile: Profile) -> list[str]:
    """The electronic addresses that the profile's network does not know."""
    if profile.takes_mail:
        return []
    return [path for path in _ADDRESSES if not str(_member(document, path)).partition(":")[0].isdecimal()]


def write(document: InvoiceOut, profile: Profile) -> bytes:
    """The XML of an issued document that lacks nothing, in a currency with at most `MOST_PLACES` decimal places."""
    from facturx import generate_xml
    from lxml import etree

    flavor = "ubl-2.1" if profile.syntax == "ubl" else "factur-x"
    written: bytes = generate_xml(_terms(document), flavor, "en16931", check_xsd=False, check_schematron=None)
    if profile.specification is None:
        return written
    root = etree.fromstring(written)  # our own
    root.find(f"{_UBL}CustomizationID").text = profile.specification
    in_profile: bytes = etree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return in_profile


def _member(document: InvoiceOut, path: str) -> object:
    value: object = document
    for name in path.split("."):
        value = getattr(value, name)
    return value


def _terms(document: InvoiceOut) -> Group:
    """The whole document."""
    gives_back = document.kind == "credit_note"
    lines = _lines(document) if document.lines else _credit_lines(document)
    differences = _differences(document)
    since, until = _period(document)
    terms: Group = {
        "BT-1": document.number,
        "BT-2": document.issued_on,
        "BT-3": _CREDIT_NOTE if gives_back else _INVOICE,
        "BT-5": document.currency,
        "BT-9": document.due_on,
        "BT-10": document.customer.e_invoice.buyer_reference,
        "BT-13": document.customer.e_invoice.purchase_order,
        "BT-20": None if gives_back else _payment_terms(document),
        "BT-23": _PROCESS,
        "BT-72": document.period.until - timedelta(days=1),
        "BT-73": since,
        "BT-74": until - timedelta(days=1),
        "BG-1": [{"BT-22": _text(each)} for each in [*filter(None, [document.reason]), *document.notes]],
        "BG-3": _corrected(document),
        "BG-4": _party(document.seller, document.seller.country, document.seller.e_invoice)
        | {"contacts": _contacts(document)},
        "BG-7": _party(
            document.customer, document.customer.country or document.seller.country, document.customer.e_invoice
        ),
        "BG-20": [_difference(document, rate, amount) for rate, amount in differences.items() if amount > 0],
        "BG-21": [_difference(document, rate, -amount) for rate, amount in differences.items() if amount < 0],
        "BG-23": [_breakdown(document, place) for place in range(len(document.taxes))],
        "BG-25": lines,
    }
    return _present(terms | _payment(document) | _totals(document, differences))


def _period(document: InvoiceOut) -> tuple[date, date]:
    """From the first day of the earliest line: those of corrections lie in earlier months (PEPPOL-EN16931-R110)."""
    lines = document.lines or ()
    since = min([document.period.since, *(line.since for line in lines if line.since is not None)])
    return since, max([document.period.until, *(line.until for line in lines if line.until is not None)])


def _totals(document: InvoiceOut, differences: Mapping[str, Decimal]) -> Group:
    gives_back = document.kind == "credit_note"
    of_lines = total(_net_of_lines(document).values())
    taxable = total(each.taxable.amount for each in document.taxes)
    paid = Decimal(0) if gives_back or document.wallet_applied is None else document.wallet_applied.amount
    figures = {
        "BT-106": of_lines,
        "BT-107": total(amount for amount in differences.values() if amount > 0),
        "BT-108": -total(amount for amount in differences.values() if amount < 0),
        "BT-109": taxable,
        "BT-110": document.tax.amount,
        "BT-112": document.total.amount,
        "BT-113": paid,
        "BT-115": document.total.amount - paid,
    }
    return {name: _figure(amount, document.currency) for name, amount in figures.items()}


def _net_of_lines(document: InvoiceOut) -> dict[str, Decimal]:
    """What the lines come to, by tax rate."""
    if not document.lines:
        return {each.rate: each.taxable.amount for each in document.taxes}
    rates = dict.fromkeys(line.tax_rate for line in document.lines)
    return {rate: total(line.amount.amount for line in document.lines if line.tax_rate == rate) for rate in rates}


def _differences(document: InvoiceOut) -> dict[str, Decimal]:
    """What promotional credit takes off the lines, by tax rate."""
    taxable = {Decimal(each.rate): each.taxable.amount for each in document.taxes}
    return {rate: net - taxable.get(Decimal(rate), Decimal(0)) for rate, net in _net_of_lines(document).items()}


def _difference(document: InvoiceOut, rate: str, amount: Decimal) -> Group:
    category = _category(document, rate)
    return {
        "amount": _figure(amount, document.currency),
        "reason": "Promotional credit",
        "vat_category_code": category,
        "vat_rate": _percent(rate),
    }


def _lines(document: InvoiceOut) -> list[Group]:
    return [_line(document, line) for line in document.lines or ()]


def _line(document: InvoiceOut, line: InvoiceLineOut) -> Group:
    """Minutes below zero have a quantity below zero: a price cannot be (BR-27)."""
    rounded_off = line.machine_minutes * line.unit_price.amount - line.amount.amount
    rounding = {"amount": f"{abs(rounded_off).quantize(_CENT)}", "reason": f"Rounding to {document.currency}"}
    return _present(
        {
            "BT-126": str(line.line),
            "BT-129": str(line.machine_minutes),
            "BT-130": _MINUTE,
            "BT-131": _figure(line.amount.amount, document.currency),
            "BT-134": line.since,
            "BT-135": line.until and line.until - timedelta(days=1),
            "BT-146": _exact(line.unit_price),
            "BT-151": _category(document, line.tax_rate),
            "BT-152": _percent(line.tax_rate),
            "BT-153": f"{line.sku}, {line.region}",
            "BT-154": _text(_described(line)),
            "BT-155": line.sku,
            "BG-27": [rounding] if rounded_off > _SLACK else [],
            "BG-28": [rounding] if rounded_off < -_SLACK else [],
        }
    )


def _described(line: InvoiceLineOut) -> str:
    unit = "GiB" if line.sku in STORAGE_SKUS else "Address" if line.sku == ADDRESS_SKU else "Machine"
    what = f"{unit}-minutes of project {line.project}"
    if line.correction:
        what += f"; correction of {line.corrects or line.usage_month}"
    if line.credited_machine_minutes:
        what += f"; without {line.credited_machine_minutes} credited machine-minutes"
    return what


def _credit_lines(document: InvoiceOut) -> list[Group]:
    """A credit note for a part of an invoice has an amount for each rate: EN 16931 wants a line (BR-16)."""
    return [
        {
            "BT-126": str(place),
            "BT-129": "1",
            "BT-130": _ONE,
            "BT-131": _figure(each.taxable.amount, document.currency),
            "BT-146": _figure(each.taxable.amount, document.currency),
            "BT-151": _category(document, each.rate),
            "BT-152": _percent(each.rate),
            "BT-153": f"Credit for invoice {document.invoice}",
        }
        for place, each in enumerate(document.taxes, start=1)
    ]


def _breakdown(document: InvoiceOut, place: int) -> Group:
    tax = document.taxes[place]
    return _present(
        {
            "BT-116": _figure(tax.taxable.amount, document.currency),
            "BT-117": _figure(tax.tax.amount, document.currency),
            "BT-118": _category(document, tax.rate),
            "BT-119": _percent(tax.rate),
            "BT-120": SENTENCES.get(document.tax_treatment),
            "BT-121": _REVERSE_CHARGE if document.tax_treatment == "reverse_charge" else None,
        }
    )


def _category(document: InvoiceOut, rate: str) -> str:
    """A code of UNTDID 5305: reverse charge, exempt, zero rated or standard."""
    match document.tax_treatment:
        case "reverse_charge":
            return "AE"
        case "exempt":
            return "E"
    return "S" if Decimal(rate) else "Z"


def _corrected(document: InvoiceOut) -> list[Group]:
    if document.corrects is not None:
        return [{"BT-25": each.number, "BT-26": each.issued_on} for each in document.corrects]
    if document.invoice is None:
        return []
    return [{"BT-25": document.invoice, "BT-26": document.invoice_issued_on}]


def _party(party: PartyOut, country: str | None, more: EInvoiceParty) -> Group:
    scheme, _, address = (more.electronic_address or "").partition(":")
    known = country is not None and is_tax_id(party.tax_id, country)
    streets = _streets(party.address, more)
    return _present(
        {
            "name": _text(party.legal_name),
            "country_code": country,
            "city": more.city,
            "postcode": more.postcode,
            **{f"addr_l{place}": line for place, line in enumerate(streets, start=1)},
            "legal_identifier": more.registration_number,
            "vat_identifier": re.sub(r"[\s.\-/]", "", party.tax_id or "").upper() if known else None,
            "tax_identifier": None if known else party.tax_id,
            "einvoicing_addr": address,
            "einvoicing_addr_schemeid": scheme,
        }
    )


def _streets(address: str | None, more: EInvoiceParty) -> list[str]:
    """The lines of an address without that of the city, of which there may be three."""
    city = {more.city, more.postcode, f"{more.postcode} {more.city}"}
    lines = [_text(line.strip()) for line in (address or "").split("\n") if line.strip() and line.strip() not in city]
    return [*lines[: _STREET_LINES - 1], *filter(None, [", ".join(lines[_STREET_LINES - 1 :])])]


def _contacts(document: InvoiceOut) -> list[Group]:
    more = document.seller.e_invoice
    contact = _present({"name": more.contact_name, "phone": more.contact_phone, "email": more.contact_email})
    return [contact] if contact else []


def _payment(document: InvoiceOut) -> Group:
    if document.kind == "credit_note":
        return {"BT-81": _CLEARING}
    more = document.seller.e_invoice
    if more.iban is None:
        return {}
    means = _SEPA_CREDIT_TRANSFER if document.currency == "EUR" else _CREDIT_TRANSFER
    return {"BT-81": means, "BT-83": document.number, "BT-84": more.iban, "BT-86": more.bic}


def _payment_terms(document: InvoiceOut) -> str:
    if document.due is None or not document.due.amount:
        return "Nothing is left to pay."
    terms = f"Please pay within {document.payment_days} days, by {document.due_on}, and name {document.number}."
    bank = document.seller.bank if document.seller.e_invoice.iban is None else None
    return _text("\n".join(filter(None, (terms, bank))))


def _figure(amount: Decimal, currency: str) -> str:
    return f"{amount:.{places_of(currency)}f}"


def _exact(price: Money) -> str:
    return f"{price.amount:f}"


def _percent(rate: str) -> str:
    return f"{(Decimal(rate) * 100).normalize():f}"


def _text(text: str) -> str:
    """Without what XML cannot have."""
    return _NO_CHARACTER.sub("", text)


def _present(group: Group) -> Group:
    return {name: value for name, value in group.items() if value not in (None, "", [])}
