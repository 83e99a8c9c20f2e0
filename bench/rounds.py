"""Measuring sides in turns, so that a machine that gets slower or faster meanwhile does it to all of them."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Side = Callable[[], float]
"""Does its work once and gives its rate, per second."""


@dataclass(frozen=True, slots=True)
class Rates:
    """The rates of each side, one per round."""

    by_side: Mapping[str, list[float]]

    def median(self, side: str) -> float:
        return statistics.median(self.by_side[side])

    def ratio(self, side: str, to: str) -> float:
        """The median over the rounds of one side's rate over the other's in the same round."""
        return statistics.median(self._ratios(side, to))

    def numbers(self, side: str, to: str) -> dict[str, float]:
        """Both medians, and how far the middle half of the rounds' ratios spreads."""
        low, high = self.middle(side, to)
        return {f"{side}/s": self.median(side), f"{to}/s": self.median(to), "from": low, "to": high}

    def middle(self, side: str, to: str) -> tuple[float, float]:
        """Between what the middle half of the rounds' ratios lies; of a single round: its ratio, twice."""
        ratios = self._ratios(side, to)
        if len(ratios) == 1:
            return ratios[0], ratios[0]
        low, _, high = statistics.quantiles(ratios, n=4, method="inclusive")
        return low, high

    def _ratios(self, side: str, to: str) -> list[float]:
        return [rate / base for rate, base in zip(self.by_side[side], self.by_side[to], strict=True)]


def alternate(sides: Mapping[str, Side], rounds: int) -> Rates:
    """Run all sides once unmeasured, then `rounds` times in turns; every other round backwards."""
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for side in sides.values():
        side()
    for number in range(rounds):
        turn = list(sides.items())
        for name, side in turn if number % 2 == 0 else reversed(turn):
            rates[name].append(side())
    return Rates(rates)
