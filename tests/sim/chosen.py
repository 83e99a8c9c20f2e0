"""Histories that every run plays; `./dev sim` plays others. Two files play half each, side by side."""

from __future__ import annotations

import sys

from tests.sim.history import play
from tests.sim.report import missed
from tests.sim.runner import tally
from tests.sim.stage import Stage

FIRST = 3_000_000
MANY, FEW = 160, 12
HALVES = 2


def play_half(stage: Stage, half: int, *, everything: bool) -> None:
    """Raises AssertionError when a history fails, or when all of them together leave out what histories are for."""
    seeds = range(FIRST + half, FIRST + (MANY if everything else FEW), HALVES)
    counted = tally((play(stage, seed) for seed in seeds), progress=sys.stderr)
    wrong = [f"./dev sim --first {failed.seed} --trace  # {failed.failures[0]}" for failed in counted.failed]
    if everything:
        wrong += missed(counted.coverage)
    if wrong:
        raise AssertionError("\n".join(wrong))
