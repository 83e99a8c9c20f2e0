"""Workers die at random points and moments, one after another; more of it: `python -m tests.crash random`."""

from __future__ import annotations

import pytest

from tests.crash import chaos, matrix
from tests.crash.lab import Lab
from tests.crash.shares import FAILURES_SHOWN, POINT, Order, What, divided, one_process_per_core
from tests.support.postgres import TestServer
from tests.support.selection import Figures

KILLS, PARTS = 2000, 4
SEEDS_IN_SHORT = (1, 2)


@pytest.mark.anyio
@pytest.mark.parametrize("seed", SEEDS_IN_SHORT)
async def test_whatever_moment_workers_die_at_others_finish(lab: Lab, seed: int) -> None:
    await lab.clear()
    played = await chaos.history(lab, seed, matrix.names())
    assert played.kills
    assert played.faults == [], f"died at {played.died_at}"


@pytest.mark.full
@pytest.mark.parametrize("part", range(PARTS))
def test_two_thousand_kills(postgres: TestServer, part: int, figures: Figures) -> None:
    kills = KILLS // PARTS
    tally = divided(Order(What.RANDOM, kills=kills, seed=part * kills), one_process_per_core())
    points = sum(1 for note in tally.notes if note.startswith(POINT))
    figures(histories=tally.trials, kills=tally.kills, last_points=points, seconds=round(tally.seconds))
    assert not tally.failures, "\n".join(tally.failures[:FAILURES_SHOWN])
    assert tally.kills >= kills
