"""Looking for planted bugs: how many histories until the simulation notices each, or which test does."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.sim.mutants.all import MUTANTS
from tests.sim.mutants.planting import Mutant
from tests.sim.runner import play_many

TABLE = Path(__file__).parents[3] / "docs" / "reliability" / "mutants.md"
_NAMED = re.compile(r"\| `(\w+)` \|")
_HEAD = """\
# Planted bugs

For people who change the code or its tests. A test that never failed proves little, so each bug below is planted into
the running product, by replacing a part of it while the tests run (`tests/sim/mutants`), and a test must find it. The
table is written by `./dev sim --hunt --table`. The figure is the number of histories played until one failed, from the
first seed on; for a bug that a directed test finds, the test is named instead.

| bug | what is broken | found by | after |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Kill:
    """How a planted bug was found: after so many histories (None: not at all), or 0 when a test did it."""

    mutant: Mutant
    after: int | None
    why: str

    def row(self) -> str:
        return _row(
            self.mutant, "not found" if self.after is None else "—" if self.mutant.directed else str(self.after)
        )


def _row(mutant: Mutant, after: str) -> str:
    by = f"`{mutant.directed}`" if mutant.directed else "the simulation" if after.isdecimal() else ""
    return f"| `{mutant.name}` | {mutant.breaks} | {by} | {after} |\n"


def hunt(names: Sequence[str], *, seeds: int, first: int, processes: int) -> list[Kill]:
    """Plant one bug after the other. Needs a running server."""
    found = []
    for name in names:
        kill = (
            _by_test(MUTANTS[name]) if MUTANTS[name].directed else _by_history(MUTANTS[name], seeds, first, processes)
        )
        print(f"{name}: {'SURVIVED' if kill.after is None else kill.after} {kill.why}"[:200], flush=True)
        found.append(kill)
    return found


def write_table(kills: Sequence[Kill]) -> None:
    """Write the rows of these; the rows of other bugs stay as the last hunt left them."""
    TABLE.parent.mkdir(exist_ok=True)
    lines = TABLE.read_text().splitlines(keepends=True) if TABLE.exists() else []
    rows = {name: _row(mutant, "not hunted yet") for name, mutant in MUTANTS.items()}
    rows |= {found[1]: line for line in lines if (found := _NAMED.match(line)) and found[1] in MUTANTS}
    rows |= {kill.mutant.name: kill.row() for kill in kills}
    TABLE.write_text(_HEAD + "".join(row for _, row in sorted(rows.items())))


def _by_history(mutant: Mutant, seeds: int, first: int, processes: int) -> Kill:
    played = 0
    for verdict in play_many(range(first, first + seeds), processes=processes, mutant=mutant.name, until_failure=True):
        played += 1
        if verdict.failures:
            return Kill(mutant, played, verdict.failures[0])
    return Kill(mutant, None, f"in {played} histories")


def _by_test(mutant: Mutant) -> Kill:
    """A test that fails with the bug planted; 0 histories."""
    command = [sys.executable, "-m", "tests.sim.mutants.directed", mutant.name]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return Kill(mutant, 0 if run.returncode == 1 else None, f"by {mutant.directed}")
