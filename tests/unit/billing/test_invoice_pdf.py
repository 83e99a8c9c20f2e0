"""The printed invoice: looked at as a picture, and as text where it stands on the page."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

import pypdfium2 as pdfium  # type: ignore[import-untyped]  # it comes without types
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.invoices.settling import Paid
from ipucloud.contract.invoices import InvoiceOut
from tests.support.own_process import Call, own_process
from tests.unit.billing.invoice_samples import (
    CUSTOMER,
    REVERSE,
    correction,
    credit_note,
    invoice,
    lines,
    machine_failed,
)

POINTS = 72 / 25.4
Box = tuple[float, float, float, float]
USUAL = invoice([*lines(3), correction()], promo="250", wallet="1000")
LONG = invoice([*lines(120), correction()], tax=REVERSE)
CREDITED = invoice([lines(1)[0]._replace(credited_machine_minutes=20)], credited=[machine_failed()])
OWED = invoice([correction(-9000)], settled=[Paid("INV-2026-000009", Decimal("20.00"))])
DOCUMENTS = {
    "usual": USUAL,
    "long": LONG,
    "credit note": credit_note(),
    "draft": invoice(lines(2), number=None),
    "of somebody with a long address": invoice(lines(2), payer=CUSTOMER._replace(address="A line\n" * 140)),
    "with credited machines": CREDITED,
    "owed to the customer": OWED,
    "of somebody in Tokyo": invoice(
        lines(2), currency="JPY", payer=CUSTOMER._replace(legal_name="株式会社サンプル", address="千代田区1-1\n東京都")
    ),
}


def rendered(document: InvoiceOut) -> bytes:
    """What makes PDFs takes much memory: only a process of its own imports it, and a test that needs more of it."""
    from ipucloud.extras.e_invoices.pdf import render

    return render(document)


@dataclass(frozen=True)
class Printed:
    """Documents as they are printed, in a process that opens the fonts."""

    call: Call

    def render(self, document: InvoiceOut) -> bytes:
        return self.call(rendered, document)

    @contextmanager
    def opened(self, document: InvoiceOut) -> Iterator[pdfium.PdfDocument]:
        pdf = pdfium.PdfDocument(self.render(document))
        try:
            yield pdf
        finally:
            pdf.close()

    def texts(self, document: InvoiceOut) -> list[str]:
        """Each page's text."""
        with self.opened(document) as pdf:
            return [text_of(page) for page in pdf]


@pytest.fixture(scope="module")
def printed() -> Iterator[Printed]:
    with own_process() as call:
        yield Printed(call)


def text_of(page: pdfium.PdfPage) -> str:
    """Its text, its runs of blanks made one."""
    return " ".join(page.get_textpage().get_text_range().split())


def boxes(page: pdfium.PdfPage) -> list[Box]:
    """Where each piece of text stands: left, bottom, right, top, in points from the lower left."""
    text = page.get_textpage()
    return [text.get_rect(number) for number in range(text.count_rects())]


def overlap(one: Box, other: Box) -> bool:
    wide = min(one[2], other[2]) - max(one[0], other[0])
    high = min(one[3], other[3]) - max(one[1], other[1])
    return wide > 0.5 and high > 0.5


def test_what_is_credited_is_printed_with_its_reason(printed: Printed) -> None:
    [page] = printed.texts(CREDITED)
    assert "without 20 credited machine-minutes" in page
    assert "bert: 20 machine-minutes from 2026-04-12 10:10:30 to 2026-04-12 10:30:30 UTC are not billed" in page
    assert "(1.25 EUR). The machine has failed." in page
    assert "(bmc_critical, seen 2026-04-12 10:10:30, report 00000000-0000-0000-0000-00000000004d)" in page


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_text_stays_within_the_margins_and_nothing_overlaps(printed: Printed, document: InvoiceOut) -> None:
    from ipucloud.extras.e_invoices.sheet import BOTTOM, HEIGHT, LEFT, RIGHT, TOP

    with printed.opened(document) as pdf:
        for page in pdf:
            rects = boxes(page)
            assert len(rects) > 10
            assert min(box[0] for box in rects) >= LEFT * POINTS
            assert max(box[2] for box in rects) <= RIGHT * POINTS
            assert max(box[3] for box in rects) <= (HEIGHT - TOP + 8) * POINTS
            assert min(box[1] for box in rects) >= (BOTTOM - 14) * POINTS
            assert [pair for pair in combinations(rects, 2) if overlap(*pair)] == []


def test_a_page_is_a4_and_its_edges_are_white(printed: Printed) -> None:
    from ipucloud.extras.e_invoices.sheet import HEIGHT, LEFT, WIDTH

    with printed.opened(USUAL) as pdf:
        page = pdf[0]
        assert [round(side / POINTS) for side in page.get_size()] == [WIDTH, HEIGHT]
        picture = page.render(scale=1, grayscale=True).to_pil()
        wide, high = picture.size
        edge = int((LEFT - 2) * POINTS)
        for area in ((0, 0, edge, high), (wide - edge, 0, wide, high), (0, 0, wide, 30), (0, high - 25, wide, high)):
            assert picture.crop(area).getextrema() == (255, 255)
        [dark, light] = picture.getextrema()
        assert (dark < 100, light) == (True, 255)


def test_it_says_all_that_a_finance_department_looks_for(printed: Printed) -> None:
    [text] = printed.texts(USUAL)
    for phrase in (
        "Nordwind Rechenzentren S.à r.l. 12, rue de l'Industrie L-8399 Windhof Country LU Tax ID LU12345678",
        "Institut für Maschinelles Lernen GmbH Große Straße 7 80331 München Country DE Tax ID DE123456789",
        "Number INV-2026-000042 Date 2026-05-02 Due date 2026-06-01",
        "Period of service 2026-04-01 to 2026-04-30",
        "ipu-bow-2000, amsterdam-2; 2026-04-01 to 2026-04-30",
        "43,103 86,206 0.0875 7,543.03",
        "2026-03-01 to 2026-03-31; correction of INV-2026-000011",
        "contract price from 2026-01-01 00:00:00 to 2027-01-01 00:00:00",
        "Subtotal 19,268.66 Promotional credit -250.00 Net 19,018.66 VAT 17 % on 19,018.66 3,233.17",
        "Total EUR 22,251.83 Paid from the wallet -1,000.00 Amount due EUR 21,251.83",
        "Please pay 21,251.83 EUR within 30 days, by 2026-06-01, and name INV-2026-000042.",
        "IBAN LU28 0019 4006 4475 0000",
        "Page 1 of 1",
    ):
        assert phrase in text, (phrase, text)


def test_taxes_of_several_rates_are_added_up(printed: Printed) -> None:
    [text] = printed.texts(USUAL.model_copy(update={"taxes": USUAL.taxes * 2}))
    assert "VAT 17 % on 19,018.66 3,233.17 VAT 17 % on 19,018.66 3,233.17 Tax 3,233.17 Total EUR" in text


@pytest.mark.parametrize(("currency", "amount"), [("JPY", r"[0-9,]+"), ("KWD", r"[0-9,]+\.[0-9]{3}")])
def test_amounts_have_the_decimal_places_of_their_currency(printed: Printed, currency: str, amount: str) -> None:
    [text] = printed.texts(invoice(lines(2), currency=currency))
    for name in (f"Total {currency}", f"Amount due {currency}", "Subtotal", r"VAT 17 % on \S+"):
        assert re.search(rf"{name} {amount}(?: |$)", text), (name, text)


def test_many_lines_go_over_pages_each_with_the_titles(printed: Printed) -> None:
    pages = printed.texts(LONG)
    assert len(pages) > 4
    for number, text in enumerate(pages, start=1):
        assert text.count("No. Project and what it used Minutes") == 1
        assert f"Page {number} of {len(pages)}" in text
    everything = " ".join(pages)
    places = [everything.index(f" {line.line} {line.project[:10]}") for line in LONG.lines or ()]
    assert places == sorted(places)
    assert "Reverse charge: VAT is to be accounted for by the recipient of the service." in pages[-1]
    assert "Amount due EUR" in pages[-1]


@given(st.integers(1, 40), st.sampled_from(["0", "250"]))
@settings(max_examples=12)
def test_the_sums_and_the_terms_are_on_one_page_with_the_last_line(printed: Printed, count: int, promo: str) -> None:
    *before, last = printed.texts(invoice(lines(count), promo=promo, wallet="1000"))
    for phrase in ("Subtotal", "Amount due EUR", "Please pay", "IBAN"):
        assert phrase in last
        assert not any(phrase in page for page in before)
    assert "; 2026-04-01 to 2026-04-30" in last


def test_a_credit_note_names_its_invoice(printed: Printed) -> None:
    [text] = printed.texts(credit_note())
    assert "Credit note" in text
    assert "Number CN-2026-000003 Date 2026-05-09 Corrects INV-2026-000042 of 2026-05-02" in text
    assert "Net credited 100.00 VAT 17 % on 100.00 17.00 Total EUR 117.00" in text


def test_corrections_below_zero_are_a_credit_note_of_what_they_correct(printed: Printed) -> None:
    """9,000 minutes at 0.0625 are 562.50, and 658.13 with tax; nobody is asked to pay them by a day."""
    [text] = printed.texts(OWED)
    assert "Credit note" in text
    assert "Number CN-2026-000042 Date 2026-05-02 Corrects INV-2026-000011 of 2026-04-02" in text
    assert "correction of INV-2026-000011" in text
    assert "9,000 9,000 0.0625 562.50" in text
    assert "Net credited 562.50 VAT 17 % on 562.50 95.63 Total EUR 658.13" in text
    assert "658.13 EUR was put into the wallet" in text
    assert "The wallet paid 20.00 EUR of invoice INV-2026-000009 with it." in text
    assert "Due date" not in text
    assert "-562.50" not in text


@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS.keys())
def test_made_again_it_is_the_same_to_the_byte(printed: Printed, document: InvoiceOut) -> None:
    assert printed.render(document) == printed.render(document)


NAMES = {
    "Japanese": "株式会社サンプル",
    "Chinese": "示例大学北京",
    "Korean": "서울대학교연구소",
    "Arabic": "جامعة المثال",
    "Persian": "دانشگاه می\u200cخواهم",  # noqa: RUF001  # letters, not look-alikes
    "Hebrew": "אוניברסיטת הדוגמה",
}
"""Names that need other fonts than the sentences around them."""


def test_names_of_any_language_are_printed_or_replaced(printed: Printed) -> None:
    from ipucloud.extras.e_invoices.fonts import can_print, printable

    assert printable("Große Straße, Besançon – 5 €") == "Große Straße, Besançon – 5 €"
    named = "Łódź, Győr, Çeşme, İzmir; Ωμέγα, «Ромашка»; Công ty Cổ phần Đông Á"
    for name in (named, *NAMES.values()):
        assert (can_print(name), printable(name)) == (True, name)
    for name in ("ไทย", "हिन्दी", "🙂", "a\u202eb", "a\tb"):
        assert (can_print(name), "?" in printable(name)) == (False, True), name
    odd = CUSTOMER._replace(legal_name="株式会社 " + named, address="A very long line " * 12)
    [text] = printed.texts(invoice(lines(1), payer=odd))
    assert "株式会社 " + named in text


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_a_name_in_another_script_has_a_glyph_for_each_letter(printed: Printed, name: str) -> None:
    """A PDF's text is found again by its glyphs; those of Arabic are forms of letters, which NFKC makes letters."""
    from ipucloud.extras.e_invoices.sheet import LEFT, RIGHT

    long = f"{name} Łódź, Győr, Çeşme, İzmir; Ωμέγα, «Ромашка»; Công ty Cổ phần Đông Á"
    document = invoice(lines(1), payer=CUSTOMER._replace(legal_name=long, address=f"{name} 12"))
    with printed.opened(document) as pdf:
        [text] = map(text_of, pdf)
        placed = boxes(pdf[0])
    assert "«Ромашка»; Công ty Cổ phần Đông Á" in text
    assert all(box[0] >= LEFT * POINTS and box[2] <= RIGHT * POINTS for box in placed)
    letters = Counter(each for each in unicodedata.normalize("NFKC", 2 * name) if each.isalpha())
    assert letters <= Counter(unicodedata.normalize("NFKC", text))
