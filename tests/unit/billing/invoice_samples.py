"""Documents to be printed, made by the product's own arithmetic without a database."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from uuid import UUID

from ipucloud.billing.invoices.arithmetic import RateTotals, compute_totals
from ipucloud.billing.invoices.calculation import Computed
from ipucloud.billing.invoices.document import Credit, credit_note_document, end_of, issued_document, written
from ipucloud.billing.invoices.line_facts import Corrected, PriceTerm
from ipucloud.billing.invoices.lines import Bill, Line
from ipucloud.billing.invoices.payer import Payer
from ipucloud.billing.invoices.settling import Paid
from ipucloud.billing.invoices.tax import Tax
from ipucloud.contract.charges import CitedReportOut
from ipucloud.contract.e_invoices import EInvoiceSeller
from ipucloud.contract.invoices import InvoiceCreditOut, InvoiceOut, SellerOut
from ipucloud.kernel.money import Money, places_of

ACCOUNT = UUID("01977b1e-7c3a-7c55-9d3f-0a1b2c3d4e5f")
AGREED_UNTIL = datetime(2027, 1, 1, tzinfo=UTC)
APRIL = date(2026, 4, 1)
SELLER = SellerOut(
    legal_name="Nordwind Rechenzentren S.à r.l.",
    address="12, rue de l'Industrie\nL-8399 Windhof",
    country="LU",
    tax_id="LU12345678",
    bank="IBAN LU28 0019 4006 4475 0000, BIC NWRZLULL, Banque du Nord",
    e_invoice=EInvoiceSeller(),
    version=1,
)
CUSTOMER = Payer(
    ACCOUNT,
    "research",
    "Institut für Maschinelles Lernen GmbH",
    "Große Straße 7\n80331 München",
    "DE",
    "DE123456789",
    tax_exempt=False,
    payment_days=30,
    e_invoice={},
)
VAT = Tax("standard", "VAT", Decimal("0.17"))
REVERSE = Tax("reverse_charge", "VAT", Decimal(0))


def _line(project: tuple[int, str], article: tuple[str, str, Decimal], month: date, minutes: int, used: int) -> Line:
    number, name = project
    sku, region, price = article
    end = end_of(month)
    return Line(
        *(ACCOUNT, "EUR", UUID(int=number), name, sku, region, UUID(int=9), price),
        *(month, month, end, minutes, used, 0, used * price),
    )


ARTICLES = [
    ("ipu-m2000", "luxembourg-2", Decimal("0.0625")),
    ("ipu-bow-2000", "amsterdam-2", Decimal("0.0875")),
    ("ipu-c600-8", "lab-1", Decimal("0.07")),
]
LONG_NAME = "a-project-with-a-name-that-is-as-long-as-names-of-projects-may-be"


def lines(count: int) -> list[Line]:
    result = []
    for number in range(count):
        minutes = 43_200 - 97 * number
        project = number, f"training-{number:03}" if number % 5 else LONG_NAME
        result.append(_line(project, ARTICLES[number % 3], APRIL, minutes, minutes * (1 + number % 4)))
    return result


def correction(minutes: int = -90) -> Line:
    return _line((1, "training-001"), ARTICLES[0], date(2026, 3, 1), minutes, minutes)


def machine_failed() -> InvoiceCreditOut:
    first_seen, gone = datetime(2026, 4, 12, 10, 10, 30, tzinfo=UTC), datetime(2026, 4, 12, 10, 30, 30, tzinfo=UTC)
    report = CitedReportOut(
        report_id=UUID(int=77),
        kind="machine",
        machine="lu2-pod1-m3",
        code="bmc_critical",
        message="The machine has failed.",
        first_seen_at=first_seen,
        ended_at=gone,
    )
    return InvoiceCreditOut(
        project_id=UUID(int=1),
        cluster_id=UUID(int=2),
        cluster="bert",
        since=first_seen,
        until=gone,
        machine_minutes=20,
        amount=Money.of("1.25", "EUR"),
        credited_for=[report],
    )


def invoice(
    of: Sequence[Line],
    *,
    tax: Tax = VAT,
    promo: str = "0",
    wallet: str = "0",
    number: str | None = "INV-2026-000042",
    payer: Payer = CUSTOMER,
    credited: Sequence[InvoiceCreditOut] = (),
    settled: Sequence[Paid] = (),
    currency: str = "EUR",
) -> InvoiceOut:
    of = [line._replace(currency=currency) for line in of]
    totals = compute_totals(
        [(line.cost, tax.rate) for line in of], places=places_of(currency), promo=Decimal(promo), wallet=Decimal(wallet)
    )
    computed = Computed(
        bill=Bill(ACCOUNT, currency, APRIL),
        payer=payer,
        seller=SELLER,
        lines=of,
        credits=credited,
        burned=(),
        totals=totals,
        treatment=tax.treatment,
        taxes={line.since: tax for line in of},
        price_terms={UUID(int=9): PriceTerm(UUID(int=9), True, datetime(2026, 1, 1, tzinfo=UTC), AGREED_UNTIL)},
        corrected={
            place: Corrected(place, UUID(int=5), "INV-2026-000011", date(2026, 4, 2))
            for place, line in enumerate(of, start=1)
            if line.usage_month < APRIL
        },
        day=date(2026, 5, 2),
    )
    if number is not None and computed.gives_back:
        number = number.replace("INV", "CN")
    return _as_stored(issued_document(computed, number, settled if computed.gives_back else ()))


def credit_note() -> InvoiceOut:
    credit = Credit([RateTotals(VAT.rate, Decimal("100.00"), Decimal("17.00"))], Decimal("40.00"))
    document = credit_note_document(
        invoice(lines(3)),
        credit,
        number="CN-2026-000003",
        issued_on=date(2026, 5, 9),
        reason="A rack lost power on 12 April; the minutes were billed although nothing could run.",
    )
    return _as_stored(document)


def _as_stored(document: InvoiceOut) -> InvoiceOut:
    return InvoiceOut.model_validate_json(written(document))
