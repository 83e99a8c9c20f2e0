"""Histories, half 1 of 2."""

from __future__ import annotations

from tests.sim.chosen import play_half
from tests.sim.stage import Stage


def test_nothing_is_leaked_doubled_lost_or_stuck(stage: Stage, everything: bool) -> None:
    play_half(stage, 0, everything=everything)
