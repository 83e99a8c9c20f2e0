"""Every change of the code plays histories that nobody played before. Two files play half each, side by side."""

from __future__ import annotations

import sys

from tests.sim.history import play
from tests.sim.report import missed
from tests.sim.runner import tally
from tests.sim.stage import Stage
from tests.support.present_code import number_of_the_code

FRESH = 160
HALVES = 2


def seeds(half: int) -> range:
    """Half of the seeds of this code."""
    first = number_of_the_code()
    return range(first + half, first + FRESH, HALVES)


def play_half(stage: Stage, half: int) -> None:
    """Raises AssertionError when a history fails."""
    counted = tally((play(stage, seed) for seed in seeds(half)), progress=sys.stderr)
    wrong = [f"./dev sim --first {failed.seed} --trace  # {failed.failures[0]}" for failed in counted.failed]
    wrong += missed(counted.coverage)
    if wrong:
        raise AssertionError("\n".join(wrong))
