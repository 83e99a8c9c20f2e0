"""Histories that every run plays; `./dev sim` plays others. Two files play half each, side by side.

The default run plays those that find most planted bugs ([planted bugs](mutants/README.md)).
"""

from __future__ import annotations

import sys

from tests.sim.history import play
from tests.sim.report import missed
from tests.sim.runner import tally
from tests.sim.stage import Stage

FINDERS = (0, 1, 2, 4, 7, 9, 13, 14, 17, 19, 21, 25, 32, 34, 39, 62, 71, 105, 106, 138)
"""In each of these some planted bug is found that the others do not find."""
FIRST, MANY = 3_000_000, 160
HALVES = 2


def play_half(stage: Stage, half: int, *, everything: bool) -> None:
    """Raises AssertionError when a history fails, or when all of them together leave out what histories are for."""
    others = range(FIRST, FIRST + MANY) if everything else ()
    seeds = (*FINDERS, *others)[half::HALVES]
    counted = tally((play(stage, seed) for seed in seeds), progress=sys.stderr)
    wrong = [f"./dev sim --first {failed.seed} --trace  # {failed.failures[0]}" for failed in counted.failed]
    if everything:
        wrong += missed(counted.coverage)
    if wrong:
        raise AssertionError("\n".join(wrong))
