"""A process is killed at every failpoint; with `--full` at its first and second hit, in every kind of operation."""

from __future__ import annotations

import runpy

import pytest

from tests.crash import matrix
from tests.crash.lab import Lab
from tests.crash.shares import FAILURES_SHOWN, Order, What, divided, one_process_per_core
from tests.support.postgres import TestServer
from tests.support.selection import Figures

POINTS = matrix.names()


@pytest.mark.sample(3)
@pytest.mark.anyio
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_a_failpoint_is_made_good(lab: Lab, point: str) -> None:
    outcome = await matrix.run(lab, matrix.once(point))
    assert outcome.died, f"no process came to {point}; those that it came to: {sorted(set(outcome.points))}"
    assert outcome.faults == ()


@pytest.mark.full
def test_kills_at_every_failpoint_in_every_operation(postgres: TestServer, figures: Figures) -> None:
    tally = divided(Order(What.MATRIX), one_process_per_core())
    figures(failpoints=len(POINTS), trials=tally.trials, kills=tally.kills, seconds=round(tally.seconds))
    assert not tally.failures, "\n".join(tally.failures[:FAILURES_SHOWN])


def test_the_page_lists_the_failpoints_that_stand_in_the_code() -> None:
    pages = runpy.run_path(str(matrix.DOCS / "generate_failpoints.py"))
    assert pages["PAGE"].read_text() == pages["page"](), "run: python docs/generate_failpoints.py"
