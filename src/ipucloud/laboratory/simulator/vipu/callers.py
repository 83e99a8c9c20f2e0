"""Who asks, as far as it matters: which allocations exist for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Caller:
    """What a caller does not see answers as if it were not there."""

    sees: Callable[[str], bool]

    def within(self, allocation: str) -> Caller:
        """The same caller, about one allocation."""
        return Caller(lambda name: name == allocation and self.sees(name))


EVERYBODY = Caller(lambda _: True)
