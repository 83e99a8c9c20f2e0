"""A process is killed at every failpoint once; the whole matrix is `python -m tests.crash matrix`."""

from __future__ import annotations

import runpy

import pytest

from tests.crash import matrix
from tests.crash.lab import Lab

POINTS = matrix.names()


@pytest.mark.anyio
@pytest.mark.parametrize("point", POINTS)
async def test_a_kill_at_a_failpoint_is_made_good(lab: Lab, point: str) -> None:
    outcome = await matrix.run(lab, matrix.once(point))
    assert outcome.died, f"no process came to {point}; those that it came to: {sorted(set(outcome.points))}"
    assert outcome.faults == ()


def test_the_page_lists_the_failpoints_that_stand_in_the_code() -> None:
    pages = runpy.run_path(str(matrix.DOCS / "generate_failpoints.py"))
    assert pages["PAGE"].read_text() == pages["page"](), "run: python docs/generate_failpoints.py"
