"""Fresh histories, quarter 1 of 4."""

from __future__ import annotations

from tests.sim.fresh import play_quarter
from tests.sim.stage import Stage


def test_nothing_is_leaked_doubled_lost_or_stuck(stage: Stage) -> None:
    play_quarter(stage, 0)
