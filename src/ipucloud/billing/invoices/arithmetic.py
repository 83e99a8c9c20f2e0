"""The arithmetic of one invoice: lines, adjustment, promotional credit, tax, wallet.

Only lines are rounded. The sum of rounding differences is one adjustment, so that the exported rows (exact usage,
adjustment, credit, tax) sum exactly to the payable total.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ipucloud.kernel.money import exact, product, rounded, total, whole_cents

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class InvoiceTotals:
    """An invoice's figures, all in one currency; everything but `cost` and `adjustment` is in whole cents.

    `cost` is the exact usage, `subtotal` the sum of the lines' amounts. `wallet_applied` below 0: put into the wallet.
    """

    cost: Decimal
    subtotal: Decimal
    promo_applied: Decimal
    tax: Decimal
    wallet_applied: Decimal

    @property
    def adjustment(self) -> Decimal:
        """Sum of the lines minus the exact usage."""
        return self.subtotal - self.cost

    @property
    def taxable(self) -> Decimal:
        return self.subtotal - self.promo_applied

    @property
    def total(self) -> Decimal:
        return self.taxable + self.tax

    @property
    def due(self) -> Decimal:
        """Amount due; never negative."""
        return self.total - self.wallet_applied


def settle(costs: Sequence[Decimal], rate: Decimal, *, promo: Decimal = ZERO, wallet: Decimal = ZERO) -> InvoiceTotals:
    """Round the lines, apply promotional credit, tax the rest, then pay from the wallet.

    `costs` are the exact costs of the lines; `rate` 0.17 is 17 %. `promo` and `wallet` are the balances that may be
    used; only whole cents of them are, never more than there is to pay, and never a negative one. What corrections
    make less than nothing is put into the wallet, which pays the next invoice.
    """
    subtotal = total(rounded(exact(cost)) for cost in costs)
    promo_applied = _usable(promo, subtotal)
    tax = rounded(product(subtotal - promo_applied, rate))
    payable = subtotal - promo_applied + tax
    wallet_applied = payable if payable < 0 else _usable(wallet, payable)
    return InvoiceTotals(total(costs), subtotal, promo_applied, tax, wallet_applied)


def _usable(balance: Decimal, wanted: Decimal) -> Decimal:
    return max(ZERO, min(whole_cents(exact(balance)), wanted))
