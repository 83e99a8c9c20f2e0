"""Looking for planted bugs: which history or test notices each, and whether the default run has it."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill

from tests.sim.chosen import FINDERS
from tests.sim.mutants.all import MUTANTS
from tests.sim.mutants.planting import Mutant
from tests.sim.runner import play_many

TABLE = Path(__file__).with_name("README.md")
_ROW = re.compile(r"^- (.+?):\s+(`.+?)(?=^- |\Z)", re.MULTILINE | re.DOTALL)
_HEAD = """\
# Planted bugs

Each bug below is planted into the running product, by replacing a part of it while the tests run, and a test or a
history of the simulation must find it. The modules beside this list say what each one breaks, and name its test if a
test finds it. `./dev sim --hunt --table` writes the list; it tries the histories of the default run first. `./dev test`
finds a bug unless its line names another run.

"""
DEFAULT, ALL, LONGER = "./dev test", "./dev test --all", "./dev sim"
OWN_TEST, NOTHING, NOT_HUNTED = "the test that its module names", "nothing", "not hunted yet"


@dataclass(frozen=True)
class Kill:
    """How a planted bug was found: by the test or history `by`, which is of the `run`; None: not at all."""

    mutant: Mutant
    by: str | None
    run: str
    why: str

    def finder(self) -> str:
        if self.by is None:
            return NOTHING
        return self.by if self.run == DEFAULT else f"{self.by}; `{self.run}`"


def hunt(names: Sequence[str], *, seeds: int, first: int, processes: int) -> list[Kill]:
    """Plant one bug after the other. Needs a running server."""
    kills = []
    for name in names:
        mutant = MUTANTS[name]
        kill = _by_test(mutant) if mutant.directed else _by_history(mutant, seeds, first, processes)
        print(f"{name}: {kill.by or 'SURVIVED'} ({kill.run}) {kill.why}"[:200], flush=True)
        kills.append(kill)
    return kills


def read_table() -> dict[str, str]:
    """What finds each bug, as the last hunts left it."""
    rows = _ROW.findall(TABLE.read_text()) if TABLE.exists() else []
    return {name: finder for finder, names in rows for name in re.findall(r"`(\w+)`", names)}


def write_table(kills: Sequence[Kill]) -> None:
    """Write what found these; what is written of other bugs stays."""
    finders = dict.fromkeys(MUTANTS, NOT_HUNTED)
    finders |= {name: finder for name, finder in read_table().items() if name in MUTANTS}
    finders |= {kill.mutant.name: kill.finder() for kill in kills}
    listed: defaultdict[str, list[str]] = defaultdict(list)
    for name, finder in sorted(finders.items()):
        listed[finder].append(f"`{name}`")
    rows = (f"- {finder}: {', '.join(names)}" for finder, names in sorted(listed.items(), key=_place))
    TABLE.write_text(
        _HEAD + "".join(f"{fill(row, 120, subsequent_indent='  ', break_long_words=False)}\n" for row in rows)
    )


def _place(row: tuple[str, object]) -> tuple[int, str]:
    """Histories in the order of their seeds, then the rest."""
    seed = re.match(r"history (\d+)", row[0])
    return int(seed[1]) if seed else sys.maxsize, row[0]


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
    killer = OWN_TEST if run.returncode == 1 else None
    return Kill(mutant, killer, DEFAULT if _tests(mutant.directed or "") & _tests("") else ALL, "")


@cache
def _tests(named: str) -> frozenset[str]:
    """The tests that pytest collects for these arguments; without any, those of the default run."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", *named.split()]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return frozenset(line for line in listed if "::" in line)
