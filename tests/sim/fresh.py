"""Every commit plays histories that nobody played before. Four files play a quarter each, side by side."""

from __future__ import annotations

import sys

from tests.sim.history import play
from tests.sim.report import missed
from tests.sim.runner import commit, tally
from tests.sim.stage import Stage

FRESH = 500
QUARTERS = 4


def seeds(quarter: int) -> range:
    """One quarter of the seeds of this commit."""
    first = int(commit()[:8], 16)
    return range(first + quarter, first + FRESH, QUARTERS)


def play_quarter(stage: Stage, quarter: int) -> None:
    """Raises AssertionError when a history fails, and when what should go wrong in so many histories did not."""
    counted = tally((play(stage, seed) for seed in seeds(quarter)), progress=sys.stderr)
    wrong = [f"./dev sim --first {failed.seed} --trace  # {failed.failures[0]}" for failed in counted.failed]
    wrong += missed(counted.coverage)
    if wrong:
        raise AssertionError("\n".join(wrong))
