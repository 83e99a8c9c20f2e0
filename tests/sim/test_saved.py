"""Seeds that failed once, and that a seed is one history wherever it is played."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from tests.sim.history import play
from tests.sim.mutants.all import MUTANTS
from tests.sim.runner import HERE, saved_seeds
from tests.sim.stage import Stage
from tests.sim.swarm import MACHINES

SEEDS = range(3, 6)
_TABLES = (
    "SELECT oid::regclass::text FROM pg_class WHERE relkind IN ('r', 'p') AND relnamespace = 'public'::regnamespace"
)


@pytest.mark.parametrize("seed", saved_seeds())
def test_a_seed_that_failed_once_holds(stage: Stage, seed: int) -> None:
    assert play(stage, seed).failures == []


def test_a_seed_is_one_history_whatever_was_played_before(stage: Stage) -> None:
    first, second = io.StringIO(), io.StringIO()
    before = play(stage, SEEDS[0], first)
    play(stage, SEEDS[1])
    after = play(stage, SEEDS[0], second)
    assert first.getvalue().splitlines() == second.getvalue().splitlines()
    assert (before.digest, before.statements) == (after.digest, after.statements)


def test_a_history_leaves_nothing_to_the_next_one(stage: Stage) -> None:
    stage.clear(MACHINES)
    before = _rows(stage)
    for seed in SEEDS:
        play(stage, seed)
        stage.clear(MACHINES)
        assert _rows(stage) == before


@pytest.mark.parametrize("name", ["torn_transactions", "cancel_ignored"])
def test_a_history_that_fails_leaves_nothing_to_the_next_one(stage: Stage, name: str) -> None:
    expected = [play(stage, seed).digest for seed in SEEDS]
    with MUTANTS[name].in_force():
        assert any(play(stage, seed).failures for seed in range(20))
    assert [play(stage, seed).digest for seed in SEEDS] == expected


def _rows(stage: Stage) -> dict[str, list[str]]:
    tables = stage.control.execute(_TABLES).fetchall()
    return {
        table: sorted(
            str(row)
            for (row,) in stage.control.execute(
                f"SELECT to_jsonb(t) FROM {table} t".encode()  # noqa: S608  # the catalogue's names
            )
        )
        for (table,) in tables
    }


def test_seeds_differ(stage: Stage) -> None:
    assert len({play(stage, seed).digest for seed in SEEDS}) == len(SEEDS)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_a_seed_is_one_history_in_every_process(stage: Stage, hash_seed: str) -> None:
    played = subprocess.run(
        [sys.executable, "-m", "tests.sim", "--digests", "--first", str(SEEDS[0]), "--seeds", str(len(SEEDS)), "-n1"],
        env=os.environ | {"PYTHONHASHSEED": hash_seed},
        cwd=HERE.parents[1],
        capture_output=True,
        text=True,
        check=True,
    )
    elsewhere = played.stdout.splitlines()[: len(SEEDS)]
    assert elsewhere == [f"{seed} {play(stage, seed).digest}" for seed in SEEDS]
