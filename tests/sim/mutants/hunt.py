"""Looking for planted bugs: which history or test notices each, and whether the default run has it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.sim.chosen import FINDERS
from tests.sim.mutants.all import MUTANTS
from tests.sim.mutants.planting import Mutant
from tests.sim.runner import play_many

TABLE = Path(__file__).with_name("README.md")
_NAMED = re.compile(r"- `(\w+)`: ")
_HEAD = """\
# Planted bugs

Each bug below is planted into the running product, by replacing a part of it while the tests run, and a test or a
history of the simulation must find it. The modules beside this list say what each one breaks. `./dev sim --hunt
--table` writes the list; it tries the histories of the default run first. `./dev test` finds a bug unless its line
names another run.

"""
DEFAULT, ALL, LONGER = "./dev test", "./dev test --all", "./dev sim"
NOTHING, NOT_HUNTED = "nothing", "not hunted yet"


@dataclass(frozen=True)
class Kill:
    """How a planted bug was found: by the test or history `by`, which is of the `run`; None: not at all."""

    mutant: Mutant
    by: str | None
    run: str
    why: str

    def row(self) -> str:
        others = "" if self.run == DEFAULT else f"; `{self.run}`"
        return _row(self.mutant, f"{self.by}{others}" if self.by else NOTHING)


def _row(mutant: Mutant, found_by: str) -> str:
    return f"- `{mutant.name}`: {found_by}\n"


def hunt(names: Sequence[str], *, seeds: int, first: int, processes: int) -> list[Kill]:
    """Plant one bug after the other. Needs a running server."""
    kills = []
    for name in names:
        kill = (
            _by_test(MUTANTS[name]) if MUTANTS[name].directed else _by_history(MUTANTS[name], seeds, first, processes)
        )
        print(f"{name}: {kill.by or 'SURVIVED'} ({kill.run}) {kill.why}"[:200], flush=True)
        kills.append(kill)
    return kills


def write_table(kills: Sequence[Kill]) -> None:
    """Write the rows of these; the rows of other bugs stay as the last hunt left them."""
    TABLE.parent.mkdir(exist_ok=True)
    lines = TABLE.read_text().splitlines(keepends=True) if TABLE.exists() else []
    rows = {name: _row(mutant, NOT_HUNTED) for name, mutant in MUTANTS.items()}
    rows |= {match[1]: line for line in lines if (match := _NAMED.match(line)) and match[1] in MUTANTS}
    rows |= {kill.mutant.name: kill.row() for kill in kills}
    TABLE.write_text(_HEAD + "".join(row for _, row in sorted(rows.items())))


def _by_history(mutant: Mutant, seeds: int, first: int, processes: int) -> Kill:
    others = [seed for seed in range(first, first + seeds) if seed not in FINDERS]
    order = [*FINDERS, *others]
    verdicts = play_many(order, processes=processes, mutant=mutant.name, until_failure=True)
    for seed, verdict in zip(order, verdicts, strict=False):
        if verdict.failures:
            return Kill(mutant, f"history {seed}", DEFAULT if seed in FINDERS else LONGER, verdict.failures[0])
    return Kill(mutant, None, LONGER, f"in {len(order)} histories")


def _by_test(mutant: Mutant) -> Kill:
    """A test that fails with the bug planted."""
    command = [sys.executable, "-m", "tests.sim.mutants.directed", mutant.name]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    killer = f"`{mutant.directed}`" if run.returncode == 1 else None
    return Kill(mutant, killer, DEFAULT if _tests(mutant.directed or "") & _tests("") else ALL, "")


@cache
def _tests(named: str) -> frozenset[str]:
    """The tests that pytest collects for these arguments; without any, those of the default run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *named.split()]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return frozenset(line for line in listed if "::" in line)
