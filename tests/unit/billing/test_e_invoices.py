"""Electronic invoices keep the published rules of EN 16931, and say what the JSON document says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from ipucloud.billing.invoices.electronic_addresses import SCHEMES
from ipucloud.billing.invoices.tax import Tax
from ipucloud.contract.e_invoices import EInvoiceBuyer, EInvoiceSeller
from ipucloud.contract.invoices import InvoiceOut
from ipucloud.extras.e_invoices.e_invoice import PROFILES, missing, undeliverable, write
from ipucloud.extras.e_invoices.formats import refuse_incomplete
from ipucloud.kernel.errors import STATE_CONFLICT, Problem
from tests.support.e_invoices import ELECTRONIC_ADDRESS_SCHEMES_IN, Rules, published_rules
from tests.unit.billing import invoice_samples as samples

EXEMPT, ZERO = Tax("exempt", "VAT", Decimal(0)), Tax("standard", "VAT", Decimal(0))
SELLER = EInvoiceSeller(
    registration_number="B123456",
    city="Windhof",
    postcode="L-8399",
    electronic_address="9938:LU12345678",
    contact_name="Billing",
    contact_phone="+352 123456",
    contact_email="billing@nordwind.example",
    iban="LU280019400644750000",
    bic="NWRZLULL",
)
BUYER = EInvoiceBuyer(
    registration_number="HRB 1234",
    city="München",
    postcode="80331",
    electronic_address="0088:4012345678901",
    buyer_reference="04011000-12345-34",
    purchase_order="PO-2026-118",
)
DOCUMENTS = {
    "invoice": samples.invoice(samples.lines(3)),
    "reverse charge": samples.invoice(samples.lines(3), tax=samples.REVERSE),
    "exempt": samples.invoice(samples.lines(2), tax=EXEMPT),
    "zero rated": samples.invoice(samples.lines(2), tax=ZERO),
    "promotional credit and wallet": samples.invoice(samples.lines(3), promo="123.45", wallet="50.00"),
    "nothing due": samples.invoice(samples.lines(1), wallet="1000000"),
    "with a correction": samples.invoice([*samples.lines(2), samples.correction()]),
    "of corrections": samples.invoice([samples.correction()]),
    "credit note": samples.credit_note(),
    "in yen": samples.invoice(samples.lines(3), currency="JPY", promo="123"),
}


def complete(document: InvoiceOut, **but: str | None) -> InvoiceOut:
    """With everything that parties can say; `but`: a party's members that differ, such as `customer__city`."""
    changes: dict[str, dict[str, str | None]] = {"seller": {}, "customer": {}}
    for name, value in but.items():
        party, _, field = name.partition("__")
        changes[party][field] = value
    seller = {"e_invoice": SELLER.model_copy(update=changes["seller"])}
    customer = {"e_invoice": BUYER.model_copy(update=changes["customer"])}
    parties = {
        "seller": document.seller.model_copy(update=seller),
        "customer": document.customer.model_copy(update=customer),
    }
    return document.model_copy(update=parties)


@pytest.fixture(scope="module")
def rules() -> Iterator[Rules]:
    with published_rules() as rules:
        yield rules


@pytest.mark.parametrize("form", PROFILES)
@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_kind_of_document_keeps_the_published_rules(rules: Rules, name: str, form: str) -> None:
    profile, document = PROFILES[form], DOCUMENTS[name]
    assert missing(complete(document), profile) == undeliverable(complete(document), profile) == []
    assert rules.broken(write(complete(document), profile), form) == []
    if not missing(document, profile):
        assert rules.broken(write(document, profile), form) == []


@pytest.mark.parametrize("form", ["peppol", "xrechnung"])
def test_what_a_profile_asks_for_is_what_its_rules_ask_for(rules: Rules, form: str) -> None:
    profile = PROFILES[form]
    for need in profile.needs:
        without: dict[str, str | None] = {path.replace(".e_invoice.", "__"): None for path in need.split(" or ")}
        document = complete(DOCUMENTS["invoice"], **without)
        assert missing(document, profile) == [need]
        assert rules.broken(write(document, profile), form), f"{form} does not need {need}"
    ordered = complete(DOCUMENTS["invoice"], customer__buyer_reference=None)
    assert bool(missing(ordered, profile)) == bool(rules.broken(write(ordered, profile), form))


def test_peppol_delivers_to_no_e_mail_address(rules: Rules) -> None:
    document = complete(DOCUMENTS["invoice"], customer__electronic_address="EM:ap@example.com")
    assert rules.broken(write(document, PROFILES["xrechnung"]), "xrechnung") == []
    assert rules.broken(write(document, PROFILES["peppol"]), "peppol")
    with pytest.raises(Problem, match=r"Peppol delivers to no e-mail address, and this is one in customer\.e_invoice"):
        refuse_incomplete(document, "peppol")
    refuse_incomplete(document, "xrechnung")


def test_the_schemes_of_electronic_addresses_are_those_of_the_published_list() -> None:
    lists = re.findall(r"' ([0-9A-Z ]+) '", ELECTRONIC_ADDRESS_SCHEMES_IN.read_text())
    assert SCHEMES in [frozenset(each.split()) for each in lists]


def read(xml: bytes) -> dict[str, Any]:
    """By the numbers of EN 16931. What reads it takes much memory, so few import it."""
    import facturx
    from lxml import etree

    fields: dict[str, Any] = facturx.parse_ubl_cii_xml(etree.fromstring(xml))
    return fields


def test_the_xml_says_what_the_document_says() -> None:
    document = complete(DOCUMENTS["promotional credit and wallet"])
    said = read(write(document, PROFILES["ubl"]))
    assert (said["BT-1"], said["BT-2"], said["BT-9"]) == (document.number, document.issued_on, document.due_on)
    assert said["BT-10"] == "04011000-12345-34"
    assert said["BT-13"] == "PO-2026-118"
    assert said["BT-84"] == "LU280019400644750000"
    assert said["BG-4"]["city"] == "Windhof"
    assert said["BG-4"]["addr_l1"] == "12, rue de l'Industrie"
    assert "addr_l2" not in said["BG-4"]
    assert said["BG-7"]["vat_identifier"] == "DE123456789"
    assert (document.lines, document.subtotal, document.due) != (None, None, None)
    assert [Decimal(line["BT-129"]) for line in said["BG-25"]] == [
        Decimal(line.machine_minutes) for line in document.lines or ()
    ]
    assert Decimal(said["BT-107"]) == Decimal("123.45")
    assert Decimal(said["BT-113"]) == Decimal("50.00")
    assert document.due is not None
    assert Decimal(said["BT-115"]) == document.due.amount


def test_profiles_name_their_specification() -> None:
    from lxml import etree

    document = complete(DOCUMENTS["invoice"])
    named = {form: etree.fromstring(write(document, PROFILES[form])) for form in ("ubl", "peppol", "xrechnung")}
    identifiers = {form: root.findtext("{*}CustomizationID") for form, root in named.items()}
    assert identifiers["ubl"] == "urn:cen.eu:en16931:2017"
    assert "peppol" in str(identifiers["peppol"])
    assert "xrechnung_3.0" in str(identifiers["xrechnung"])


def test_what_a_profile_needs_is_named() -> None:
    plain = DOCUMENTS["invoice"]
    assert missing(plain, PROFILES["cii"]) == []
    assert missing(plain, PROFILES["peppol"]) == [
        "seller.e_invoice.electronic_address",
        "customer.e_invoice.electronic_address",
        "customer.e_invoice.buyer_reference or customer.e_invoice.purchase_order",
    ]
    unknown = plain.model_copy(update={"seller": plain.seller.model_copy(update={"tax_id": None})})
    assert missing(unknown, PROFILES["factur-x"]) == ["seller.tax_id"]


def test_amounts_have_the_decimal_places_of_their_currency() -> None:
    said = read(write(DOCUMENTS["in yen"], PROFILES["cii"]))
    lines = DOCUMENTS["in yen"].lines or []
    assert said["BT-5"] == "JPY"
    assert [Decimal(line["BT-131"]) for line in said["BG-25"]] == [line.amount.amount for line in lines]
    assert all(line.amount.amount == line.amount.amount.to_integral_value() for line in lines)


def test_a_currency_with_three_decimal_places_and_a_draft_have_none() -> None:
    dinars, draft = samples.invoice(samples.lines(1), currency="KWD"), samples.invoice(samples.lines(1), number=None)
    for document, sentence in (
        (dinars, "at most 2 decimal places, and KWD has more"),
        (draft, "A draft is no invoice"),
    ):
        with pytest.raises(Problem, match=sentence) as refused:
            refuse_incomplete(document, "ubl")
        assert refused.value.kind is STATE_CONFLICT


def test_a_factur_x_is_a_pdf_with_the_xml_and_always_the_same() -> None:
    import facturx

    from ipucloud.extras.e_invoices.pdf import render_with

    document = complete(DOCUMENTS["invoice"])
    xml = write(document, PROFILES["factur-x"])
    pdf = render_with(document, xml)
    assert pdf == render_with(document, xml)
    assert facturx.get_facturx_xml_from_pdf(pdf, check_xsd=True, check_schematron=False) == ("factur-x.xml", xml)
    assert b"<pdfaid:part>3</pdfaid:part>" in pdf
    assert b"<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>" in pdf


def test_letters_that_xml_cannot_have_are_left_out() -> None:
    document = DOCUMENTS["invoice"]
    hostile = document.lines[0].model_copy(update={"project": "a<b>&\ufffe\"'"}) if document.lines else None
    changed = document.model_copy(update={"lines": [hostile], "issued_on": date(2026, 5, 2)})
    xml = write(changed, PROFILES["cii"])
    assert "project a&lt;b&gt;&amp;" in xml.decode()
