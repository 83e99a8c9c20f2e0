"""The worked examples of the billing rules, one test each, at 0.0625 EUR per machine-minute."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from uuid import UUID

from ipucloud.billing.invoices.arithmetic import LineInput, settle
from ipucloud.billing.metering.minutes import minutes_between
from ipucloud.billing.pricing.charge import Charge, PriceBook, PriceKey, PriceVersion, UsageInterval, charge, cost

M2000 = PriceKey("ipu-m2000", "luxembourg-2", "EUR")
LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


def prices(*, raised_at: datetime | None = None) -> PriceBook:
    """0.0625 for ever, or 0.0625 and from `raised_at` on 0.0700."""
    versions = [PriceVersion(UUID(int=1), M2000, Decimal("0.0625"), LONG_AGO, raised_at)]
    if raised_at is not None:
        versions.append(PriceVersion(UUID(int=2), M2000, Decimal("0.0700"), raised_at))
    return PriceBook(versions)


def one_machine(start: str, end: str, *, book: PriceBook | None = None, cuts: Sequence[str] = ()) -> tuple[Charge, ...]:
    usage = UsageInterval(at(start), M2000, 1, at(start), at(end))
    return charge([usage], book or prices(), until=at(end), cuts=[at(cut) for cut in cuts])


def minutes(charges: Sequence[Charge]) -> list[int]:
    return [part.minutes for part in charges]


def test_resize_and_price_change_across_the_end_of_a_month() -> None:
    start, resized, ended = map(at, ("2026-03-31T23:59:30Z", "2026-04-01T00:10:10Z", "2026-04-01T00:20:01Z"))
    month = at("2026-04-01T00:00:00Z")
    charges = charge(
        [UsageInterval(start, M2000, 4, start, resized), UsageInterval(start, M2000, 8, resized, ended)],
        prices(raised_at=at("2026-04-01T00:15:00Z")),
        until=ended,
        cuts=[month],
    )
    assert minutes(charges) == [1, 10, 5, 5]
    assert [part.cost for part in charges] == [Decimal(c) for c in ("0.25", "2.50", "2.50", "2.80")]
    assert cost(charges) == Decimal("8.05")
    assert cost(part for part in charges if part.started_at < month) == Decimal("0.25")
    assert cost(part for part in charges if part.started_at >= month) == Decimal("7.80")


def test_a_whole_minute() -> None:
    charges = one_machine("2026-05-01T10:00:00Z", "2026-05-01T10:01:00Z")
    assert minutes(charges) == [1]
    assert cost(charges) == Decimal("0.0625")


def test_one_second_is_a_minute() -> None:
    charges = one_machine("2026-05-01T10:00:00Z", "2026-05-01T10:00:01Z")
    assert minutes(charges) == [1]
    assert cost(charges) == Decimal("0.0625")


def test_a_second_more_than_a_minute_is_two() -> None:
    charges = one_machine("2026-05-01T10:00:00Z", "2026-05-01T10:01:01Z")
    assert minutes(charges) == [2]
    assert cost(charges) == Decimal("0.125")


def test_hours_cut_a_lifetime_where_its_minutes_start() -> None:
    charges = one_machine(
        "2026-05-01T09:30:45Z", "2026-05-01T11:30:45Z", cuts=["2026-05-01T10:00:00Z", "2026-05-01T11:00:00Z"]
    )
    # 09:59:45 is the 30th start and 10:59:45 the 90th.
    assert minutes(charges) == [30, 60, 30]
    assert cost(charges) == Decimal("7.50")


def test_whole_months_of_a_running_cluster() -> None:
    start = at("2026-01-10T12:34:56Z")
    february, march, april = (datetime(2026, month, 1, tzinfo=UTC) for month in (2, 3, 4))
    assert minutes_between(start, february, march) == 40_320
    assert minutes_between(start, march, april) == 44_640


def test_a_price_change_in_the_middle_of_a_minute_counts_from_the_next() -> None:
    charges = one_machine(
        "2026-05-01T10:00:30Z", "2026-05-01T10:10:00Z", book=prices(raised_at=at("2026-05-01T10:05:30Z"))
    )
    assert [(part.minutes, part.unit_price) for part in charges] == [
        (5, Decimal("0.0625")),
        (5, Decimal("0.07")),
    ]
    assert cost(charges) == Decimal("0.6625")


def test_failed_provisioning_costs_nothing() -> None:
    # A cluster that was never active has no interval.
    assert charge([], prices(), until=LONG_AGO + timedelta(minutes=14)) == ()


def test_invoice_with_credit_wallet_and_tax() -> None:
    invoice = settle([LineInput(Decimal("18.1234"), Decimal("0.17"))], promo=Decimal("10.00"), wallet=Decimal("5.00"))
    assert [line.amount for line in invoice.lines] == [Decimal("18.12")]
    assert invoice.adjustment == Decimal("-0.0034")
    assert invoice.taxable == Decimal("8.12")
    assert invoice.tax == Decimal("1.38")
    assert invoice.total == Decimal("9.50")
    assert invoice.wallet_applied == Decimal("5.00")
    assert invoice.due == Decimal("4.50")
    assert sum(invoice.export_rows) == Decimal("9.50")


def test_invoice_rounds_half_a_cent_away_from_zero() -> None:
    usage = 11 * Decimal("0.095")
    invoice = settle([LineInput(usage, Decimal("0.17"))])
    assert usage == Decimal("1.045")
    assert invoice.subtotal == Decimal("1.05")
    assert invoice.tax == Decimal("0.18")
    assert invoice.total == Decimal("1.23")
    assert invoice.adjustment == Decimal("0.005")
    assert sum(invoice.export_rows) == Decimal("1.23")
