"""What prepaid money can pay for: wallet, promotional credit by its expiry, tax. Pure.

The same arithmetic as an invoice's (`billing.invoices.arithmetic`, `credits.burn`): credit pays for usage that began
before its expiry, the credit that expires first before the others; the rest is taxed and paid from the wallet. Lines
are not rounded here, so a figure differs from the invoice's by at most half a minor unit for each line, and its tax.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Literal

from ipucloud.kernel.money import payable, product, rounded

ZERO = Decimal(0)
FORESEEN_HOURS = 8760
"""Funds that last longer are not said to end."""


@dataclass(frozen=True, slots=True)
class Credit:
    """Promotional credit with a rest. `used_before`: usage that an expired one can still pay for; None: it is valid."""

    expires_at: datetime
    rest: Decimal
    used_before: Decimal | None


@dataclass(frozen=True, slots=True)
class Standing:
    """An account at `now`. `used` is on no invoice yet, `per_hour` what the present clusters cost; both before tax."""

    now: datetime
    places: int
    wallet: Decimal
    outstanding: Decimal
    used: Decimal
    held: Decimal
    per_hour: Decimal
    tax_rate: Decimal
    credits: Sequence[Credit]

    def credit(self, *, until: datetime | None = None) -> Decimal:
        """What credit can pay: for the usage so far, and for more at any time up to `until`.

        What expires before `until` counts for the usage so far alone.
        """
        ends = self.now if until is None else until
        return self._burnable(self.used, lambda each: None if each.expires_at > ends else self.used)

    def tax(self, cost: Decimal, credit: Decimal) -> Decimal:
        """The tax of this cost, of which credit pays what it can."""
        taxed = cost - min(credit, max(ZERO, cost))
        return rounded(product(taxed, self.tax_rate), self.places)

    def available(self, *, additional: Decimal = ZERO, until: datetime | None = None) -> Decimal:
        """What new clusters can use, taxes paid, once `additional` is held as well."""
        credit, cost = self.credit(until=until), self.used + self.held + additional
        return self.wallet + credit - self.outstanding - cost - self.tax(cost, credit)

    def remaining(self, hours: Decimal | int = 0) -> Decimal:
        """What is left before holds when the present clusters have run so many hours more."""
        used = self.used + product(self.per_hour, Decimal(hours))
        ends = self.now + timedelta(hours=float(hours))
        credit = self._burnable(used, lambda each: None if each.expires_at > ends else self._used_by(each.expires_at))
        return self.wallet + credit - self.outstanding - used - self.tax(used, credit)

    @property
    def state(self) -> Literal["funded", "empty"]:
        """Whether anything is left before holds."""
        return "funded" if self.remaining() > 0 else "empty"

    def level(self, hours: Iterable[int]) -> int | None:
        """The smallest of these numbers of hours that the funds do not last."""
        return min((each for each in hours if self.remaining(each) <= 0), default=None)

    def ends_at(self) -> datetime | None:
        """When the present clusters will have used everything, to the hour; None: not within a year."""
        if self.remaining(FORESEEN_HOURS) > 0:
            return None
        low, high = 0, FORESEEN_HOURS
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if self.remaining(middle) <= 0 else (middle + 1, high)
        return self.now + timedelta(hours=low)

    def _used_by(self, instant: datetime) -> Decimal:
        seconds = int((instant - self.now).total_seconds())
        return self.used + payable(self.per_hour * seconds / 3600, self.places)

    def _burnable(self, used: Decimal, limit: Callable[[Credit], Decimal | None]) -> Decimal:
        """Credit by expiry; `limit` is the usage that a valid one can pay for, None: any."""
        burned = ZERO
        for credit in sorted(self.credits, key=lambda credit: credit.expires_at):
            most = limit(credit) if credit.used_before is None else credit.used_before
            usable = credit.rest if most is None else min(credit.rest, payable(min(most, used), self.places) - burned)
            burned += max(ZERO, usable)
        return burned
