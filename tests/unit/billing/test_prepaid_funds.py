"""What prepaid money can pay for, against a count piece by piece of usage."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from ipucloud.billing.invoices.arithmetic import compute_totals
from ipucloud.billing.prepaid.arithmetic import Credit, Standing

NOW = datetime(2026, 5, 5, 10, 0, tzinfo=UTC)
ZERO = Decimal(0)
TWO_CENTS = Decimal("0.02")
MINUTE = timedelta(minutes=1)
CENTS = st.integers(0, 5000).map(lambda cents: Decimal(cents) / 100)
RATES = st.sampled_from([ZERO, Decimal("0.17"), Decimal("0.21")])
Used = tuple[tuple[int, Decimal], ...]
"""Cost of usage by the minutes before now in which it began."""
Granted = tuple[tuple[int, Decimal], ...]
"""Amounts of credit by their expiry in minutes from now."""
USED = st.lists(st.tuples(st.integers(-300, -1), CENTS), max_size=6).map(tuple)
GRANTED = st.lists(st.tuples(st.integers(-300, 6000), CENTS.filter(bool)), max_size=5).map(tuple)


def paid_by_credit(used: Used, granted: Granted) -> Decimal:
    """Each piece of usage is paid by the credit that expires first of those still valid when it began."""
    credits_held = sorted(granted)
    rests, paid = [amount for _, amount in credits_held], ZERO
    for began, cost in sorted(used):
        unpaid = cost
        for place, (expires, _) in enumerate(credits_held):
            if expires > began:
                part = min(rests[place], unpaid)
                rests[place] -= part
                unpaid, paid = unpaid - part, paid + part
    return paid


def standing(used: Used, granted: Granted, *, wallet: Decimal = ZERO, rate: Decimal = ZERO) -> Standing:
    """The account now, with what the database would say of each credit."""
    held = [
        Credit(
            NOW + expires * MINUTE,
            amount,
            sum((cost for began, cost in used if began < expires), ZERO) if expires <= 0 else None,
        )
        for expires, amount in granted
    ]
    cost = sum((cost for _, cost in used), ZERO)
    return Standing(NOW, 2, wallet, ZERO, cost, ZERO, ZERO, rate, held)


@settings(max_examples=300)
@given(used=USED, granted=GRANTED)
def test_credit_counts_as_far_as_it_can_be_burned(used: Used, granted: Granted) -> None:
    """Of expired credit what usage before its expiry can still take, of valid credit everything."""
    funds = standing(used, granted)
    later: Used = (*used, (0, Decimal(10**9)))  # more than enough usage, now
    assert funds.credit() == paid_by_credit(later, granted)
    assert funds.credit(until=NOW + timedelta(days=3650)) == paid_by_credit(used, granted)


@settings(max_examples=300)
@given(used=USED, granted=GRANTED, wallet=CENTS, rate=RATES, hold=CENTS.filter(bool))
def test_what_is_accepted_is_paid_and_what_is_refused_is_not(
    used: Used, granted: Granted, wallet: Decimal, rate: Decimal, hold: Decimal
) -> None:
    """The hour that a hold is for, used minute by minute, leaves an invoice that credit and wallet pay."""
    funds = standing(used, granted, wallet=wallet, rate=rate)
    hour = tuple((minute, hold / 60) for minute in range(60))
    until = NOW + timedelta(hours=1)
    costs = [(funds.used + hold, rate)]
    if funds.available(additional=hold, until=until) >= 0:
        promo = paid_by_credit((*used, *hour), granted)
        total = compute_totals(costs, places=2, promo=promo).total
        assert total <= wallet + TWO_CENTS  # minutes are no whole cents
    else:
        lasting = tuple((0 if 0 < expires <= 60 else expires, amount) for expires, amount in granted)
        promo = paid_by_credit((*used, (0, hold)), lasting)
        assert compute_totals(costs, places=2, promo=promo).total > wallet - TWO_CENTS


QUARTERS = st.lists(st.tuples(st.integers(1, 200).map(lambda quarter: quarter * 15), CENTS.filter(bool)), max_size=3)


@settings(max_examples=30)
@given(
    granted=QUARTERS.map(tuple), wallet=CENTS, rate=RATES, per_hour=st.integers(20, 500).map(lambda n: Decimal(n) / 25)
)
def test_every_level_is_reached_once_and_before_the_funds_end(
    granted: Granted, wallet: Decimal, rate: Decimal, per_hour: Decimal
) -> None:
    """Looked at every few minutes while the same clusters go on, an account passes its levels in order."""
    start = replace(standing((), granted, wallet=wallet, rate=rate), per_hour=per_hour)
    levels, before = (24, 4, 1), None
    for minutes in range(0, 3000, 15):
        used = tuple((minute, per_hour * 15 / 60) for minute in range(0, minutes, 15))
        shifted = tuple((expires - minutes, amount) for expires, amount in granted)
        past = tuple((minute - minutes, cost) for minute, cost in used)
        funds = replace(standing(past, shifted, wallet=wallet, rate=rate), per_hour=per_hour)
        remaining, level = funds.remaining(), funds.level(levels)
        assert remaining >= funds.remaining(1) >= funds.remaining(4) >= funds.remaining(24)
        assert before is None or (level is not None and level <= before)
        if remaining <= 0:
            assert minutes == 0 or before == 1
            break
        ends = funds.ends_at()
        assert level is None or (ends is not None and ends <= NOW + timedelta(hours=level))
        before = level
    assert start.remaining() > 0 or start.level(levels) == 1
