"""What a corruption of the database is."""

from __future__ import annotations

from dataclasses import dataclass

from ipucloud.invariants.repairing import Outcome


@dataclass(frozen=True)
class Corruption:
    """`statements` break `rule`, with the guards in `off` switched off; a heal of it ends as `outcome`.

    `lasting`: the rule stays broken until a worker, who is not there, has done its part.
    """

    rule: str
    outcome: Outcome
    statements: tuple[str, ...]
    off: tuple[str, ...] = ()
    lasting: bool = False
