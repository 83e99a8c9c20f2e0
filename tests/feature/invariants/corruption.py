"""What a corruption of the database is."""

from __future__ import annotations

from dataclasses import dataclass

from ipucloud.invariants.repairing import Outcome


@dataclass(frozen=True)
class Corruption:
    """`statements` break `rule`, with the guards in `off` switched off; a repair of it ends as `outcome`.

    `lasting`: the rule stays broken until a worker, who is not there, has done its part.
    """

    rule: str
    outcome: Outcome
    statements: tuple[str, ...]
    off: tuple[str, ...] = ()
    lasting: bool = False


def corruption(
    rule: str, outcome: Outcome, *statements: str, off: tuple[str, ...] = (), lasting: bool = False
) -> Corruption:
    """A `Corruption` whose statements are written one after another."""
    return Corruption(rule, outcome, statements, off, lasting)


def refused(rule: str, *statements: str, off: tuple[str, ...] = (), lasting: bool = False) -> Corruption:
    """One that nothing repairs before somebody decides."""
    return Corruption(rule, Outcome.REFUSED, statements, off, lasting)
