"""Runs the tests that must notice a planted bug, with the bug planted: `python -m tests.sim.mutants.directed NAME`."""

from __future__ import annotations

import sys

import pytest

from tests.sim.mutants.all import MUTANTS

_OPTIONS = ("-q", "-x", "-p", "no:cacheprovider", "-W", "ignore::pytest.PytestAssertRewriteWarning")
"""Planted bugs import what pytest would rewrite: a warning, and so an error, which would pass for a found bug."""


def main(name: str) -> int:
    """pytest's exit code: 1 when a test failed, and so the bug was found."""
    mutant = MUTANTS[name]
    if mutant.directed is None:
        raise SystemExit(f"{name} is found by the simulation: ./dev sim --mutant {name}")
    with mutant.in_force():
        return int(pytest.main([*_OPTIONS, *mutant.directed.split()]))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
