"""A harness that finds nothing deserves suspicion. Bugs are planted, and must be found; all: `./dev sim --hunt`."""

from __future__ import annotations

import pytest

from tests.sim.mutants.all import MUTANTS
from tests.sim.mutants.hunt import NOT_HUNTED, NOTHING, hunt, read_table
from tests.support.cases import all_cases
from tests.support.postgres import TestServer

FAST = ("never_billed", "freed_when_released", "network_stays", "torn_transactions")
SHARE = 0.89
"""Of all planted bugs the default run finds at least this share."""


@pytest.mark.parametrize("name", ["canary", *FAST])
def test_a_planted_bug_is_found(postgres: TestServer, name: str) -> None:
    (kill,) = hunt([name], seeds=20, first=0, processes=1)
    assert kill.by is not None


def test_what_a_planted_bug_breaks_is_still_there() -> None:
    with all_cases() as case:
        for name, mutant in MUTANTS.items():
            with case(name), mutant.in_force():
                pass


def test_the_table_has_every_planted_bug_and_none_was_hunted_in_vain() -> None:
    rows = read_table()
    assert rows.keys() == MUTANTS.keys(), "run: ./dev sim --hunt --table"
    assert not {NOTHING, NOT_HUNTED} & set(rows.values())
    assert sum("; `./dev" not in found_by for found_by in rows.values()) >= SHARE * len(rows)
