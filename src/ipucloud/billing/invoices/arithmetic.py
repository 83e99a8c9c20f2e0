"""The arithmetic of one invoice: lines, adjustment, promotional credit, tax by rate, wallet.

Only lines are rounded. The sum of rounding differences is one adjustment, so that the exported rows (exact usage,
adjustment, credit, tax) sum exactly to the payable total.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from ipucloud.kernel.money import exact, payable, product, rounded, total

ZERO = Decimal(0)


@dataclass(frozen=True, slots=True)
class RateTotals:
    """The tax of one rate: 0.17 is 17 %. `taxable` is without what promotional credit paid of it."""

    rate: Decimal
    taxable: Decimal
    tax: Decimal


@dataclass(frozen=True, slots=True)
class InvoiceTotals:
    """An invoice's figures, all in one currency; everything but `cost` and `adjustment` can be paid in it.

    `cost` is the exact usage, `subtotal` the sum of the lines' amounts. `wallet_applied` below 0: put into the wallet.
    """

    cost: Decimal
    subtotal: Decimal
    promo_applied: Decimal
    taxes: tuple[RateTotals, ...]
    wallet_applied: Decimal

    @property
    def adjustment(self) -> Decimal:
        """Sum of the lines minus the exact usage."""
        return self.subtotal - self.cost

    @property
    def taxable(self) -> Decimal:
        return self.subtotal - self.promo_applied

    @property
    def tax(self) -> Decimal:
        """Sum of the taxes of all rates."""
        return total(each.tax for each in self.taxes)

    @property
    def total(self) -> Decimal:
        return self.taxable + self.tax

    @property
    def due(self) -> Decimal:
        """Amount due; never negative."""
        return self.total - self.wallet_applied


def compute_totals(
    costs: Sequence[tuple[Decimal, Decimal]], *, places: int, promo: Decimal = ZERO, wallet: Decimal = ZERO
) -> InvoiceTotals:
    """Round the lines, apply promotional credit, tax the rest of each rate, then pay from the wallet.

    `costs` are the exact costs of the lines and their tax rates; `places` are the decimal places of the currency.
    `promo` and `wallet` are the balances that may be used: what of them can be paid, never more than there is to pay,
    and never a negative one. Promotional credit is divided over the rates in proportion to what is billed at each.
    What corrections make less than nothing is put into the wallet.
    """
    subtotals: dict[Decimal, Decimal] = {}
    for cost, rate in costs:
        subtotals[rate] = subtotals.get(rate, ZERO) + rounded(exact(cost), places)
    subtotal = total(subtotals.values())
    promo_applied = _usable(promo, subtotal, places)
    discounts = divided(promo_applied, subtotals, places)
    taxes = tuple(
        RateTotals(rate, amount - discounts[rate], rounded(product(amount - discounts[rate], rate), places))
        for rate, amount in subtotals.items()
    )
    to_pay = subtotal - promo_applied + total(each.tax for each in taxes)
    wallet_applied = to_pay if to_pay < 0 else _usable(wallet, to_pay, places)
    return InvoiceTotals(total(cost for cost, _ in costs), subtotal, promo_applied, taxes, wallet_applied)


def divided(amount: Decimal, shares: Mapping[Decimal, Decimal], places: int) -> dict[Decimal, Decimal]:
    """`amount` divided over the positive shares in proportion, to the currency's decimal places and without a rest.

    `amount` is between 0 and the sum of the positive shares, and so is each part between 0 and its share. Rounded are
    the sums of the parts so far, halves up, so no part depends on which comes last.
    """
    # By whole numbers of the smallest amount: a quotient may have no last decimal place.
    units = {key: max(0, int(share.scaleb(places))) for key, share in shares.items()}
    to_divide, whole = int(amount.scaleb(places)), sum(units.values())
    parts, so_far, previous = {}, 0, 0
    for key, share in units.items():
        so_far += share
        up_to = (2 * to_divide * so_far + whole) // (2 * whole) if whole else 0
        parts[key], previous = Decimal(up_to - previous).scaleb(-places), up_to
    return parts


def _usable(balance: Decimal, amount: Decimal, places: int) -> Decimal:
    return max(ZERO, min(payable(exact(balance), places), amount))
