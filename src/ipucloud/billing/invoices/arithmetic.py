"""The arithmetic of one invoice: lines, adjustment, promotional credit, tax, wallet.

Nothing is rounded before the line. What rounding the lines adds or takes is one adjustment, so that the exported
rows (exact usage, adjustment, credit, tax) sum to the payable total to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from ipucloud.kernel.money import exact, product, rounded, total, whole_cents

ZERO = Decimal(0)
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class LineInput:
    """The exact cost of one project x SKU x price version; `tax_rate` 0.17 is 17 %."""

    cost: Decimal
    tax_rate: Decimal


@dataclass(frozen=True, slots=True)
class InvoiceLine:
    """A line as it is printed: `amount` is `cost` rounded to cents, halves away from zero."""

    cost: Decimal
    amount: Decimal
    tax_rate: Decimal


@dataclass(frozen=True, slots=True)
class TaxLine:
    """The tax of one rate: `taxable` is the rounded subtotal of that rate less its part of the credit."""

    rate: Decimal
    taxable: Decimal
    tax: Decimal


@dataclass(frozen=True, slots=True)
class InvoiceTotals:
    """An invoice's figures, all in one currency; everything but `cost` and `adjustment` is in whole cents."""

    lines: tuple[InvoiceLine, ...]
    taxes: tuple[TaxLine, ...]
    promo_applied: Decimal
    wallet_applied: Decimal

    @property
    def cost(self) -> Decimal:
        """The exact usage."""
        return total(line.cost for line in self.lines)

    @property
    def subtotal(self) -> Decimal:
        return total(line.amount for line in self.lines)

    @property
    def adjustment(self) -> Decimal:
        """What rounding the lines added to the exact usage; negative when it took."""
        return self.subtotal - self.cost

    @property
    def taxable(self) -> Decimal:
        return total(line.taxable for line in self.taxes)

    @property
    def tax(self) -> Decimal:
        return total(line.tax for line in self.taxes)

    @property
    def total(self) -> Decimal:
        return self.taxable + self.tax

    @property
    def due(self) -> Decimal:
        """What is left to pay; negative when corrections exceed usage, and then owed to the customer."""
        return self.total - self.wallet_applied

    @property
    def export_rows(self) -> tuple[Decimal, ...]:
        """The amounts of the invoice's rows in a cost export; they sum to `total` exactly."""
        usage = (line.cost for line in self.lines)
        return (*usage, self.adjustment, -self.promo_applied, *(line.tax for line in self.taxes))


def settle(lines: Sequence[LineInput], *, promo: Decimal = ZERO, wallet: Decimal = ZERO) -> InvoiceTotals:
    """Round the lines, burn promotional credit, tax what is left per rate, then pay from the wallet.

    `promo` and `wallet` are the balances that may be used; only whole cents of them are, never more than there is
    to pay, and never a negative one. Credit is spread over the tax rates in proportion to their subtotals.
    """
    printed = tuple(InvoiceLine(exact(line.cost), rounded(line.cost), exact(line.tax_rate)) for line in lines)
    subtotals: dict[Decimal, Decimal] = {}
    for line in sorted(printed, key=lambda line: line.tax_rate):
        subtotals[line.tax_rate] = subtotals.get(line.tax_rate, ZERO) + line.amount
    promo_applied = _usable(promo, total(subtotals.values()))
    parts = _spread(promo_applied, list(subtotals.values()))
    taxes = tuple(
        TaxLine(rate, subtotal - part, rounded(product(subtotal - part, rate)))
        for (rate, subtotal), part in zip(subtotals.items(), parts, strict=True)
    )
    payable = total(line.taxable + line.tax for line in taxes)
    return InvoiceTotals(printed, taxes, promo_applied, _usable(wallet, payable))


def _usable(balance: Decimal, wanted: Decimal) -> Decimal:
    return max(ZERO, min(whole_cents(exact(balance)), wanted))


def _spread(amount: Decimal, weights: Sequence[Decimal]) -> list[Decimal]:
    """`amount` cents over the positive weights in proportion; cents left over go to the largest remainders."""
    positive = [max(ZERO, weight) for weight in weights]
    whole = total(positive)
    if not whole:
        return [ZERO for _ in weights]
    cents, scale = int(amount * 100), int(whole * 100)
    shares = [divmod(cents * int(weight * 100), scale) for weight in positive]
    left = cents - sum(share for share, _ in shares)
    by_remainder = sorted(range(len(shares)), key=lambda index: -shares[index][1])
    lucky = set(by_remainder[:left])
    return [CENT * (share + (index in lucky)) for index, (share, _) in enumerate(shares)]
