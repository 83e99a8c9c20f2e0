"""Two revisions in turns on one machine: what the figures of this one are, measured in those of the other."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parents[1]
CHECKOUTS = ROOT / ".tools" / "against"
TURNS = 2
"""How often each revision is measured; every other time in reverse order."""

Figures = dict[tuple[str, str], list[float]]
"""What was measured in each turn, by scenario and figure."""


def compare(revision: str, arguments: Sequence[str]) -> None:
    """Run `./dev bench` with these arguments in both checkouts, in turns, and print each figure's ratio.

    Raises CalledProcessError when there is no such revision, or one of its scenarios breaks.
    """
    other = _checkout(revision)
    figures: Mapping[Path, Figures] = {other: {}, ROOT: {}}
    for turn in range(TURNS):
        for place in (other, ROOT) if turn % 2 == 0 else (ROOT, other):
            print(
                f"{place.name if place == other else 'this checkout'}, turn {turn + 1} …", file=sys.stderr, flush=True
            )
            for finding in _measured(place, arguments):
                figures[place].setdefault((finding["scenario"], finding["what"]), []).append(finding["measured"])
    _show(figures[other], figures[ROOT], other.name)


def _checkout(revision: str) -> Path:
    """A clone at the revision, with an environment of its own; kept for the next time."""
    commit = _git(ROOT, "rev-parse", "--short=10", "--verify", f"{revision}^{{commit}}")
    place = CHECKOUTS / commit
    if not place.exists():
        CHECKOUTS.mkdir(parents=True, exist_ok=True)
        _git(ROOT, "clone", "--quiet", "--shared", "--no-checkout", str(ROOT), str(place))
        _git(place, "checkout", "--quiet", commit)
    return place


def _measured(place: Path, arguments: Sequence[str]) -> Sequence[Mapping[str, Any]]:
    command = [str(place / "dev"), "bench", "--json", *arguments]
    answer = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, text=True, check=True)
    findings: Sequence[Mapping[str, Any]] = json.loads(answer.stdout.splitlines()[-1])["findings"]
    return findings


def _show(other: Figures, this: Figures, name: str) -> None:
    table = Table("scenario", "figure", name, "here", "ratio", box=None, header_style="bold")
    for column in (2, 3, 4):
        table.columns[column].justify = "right"
    for key, values in this.items():
        here = statistics.median(values)
        before = statistics.median(other[key]) if key in other else None
        ratio = f"{here / before:.2f}" if before else ""
        table.add_row(*key, "" if before is None else f"{before:.4g}", f"{here:.4g}", ratio)
    Console().print(table)


def _git(folder: Path, *arguments: str) -> str:
    answer = subprocess.run(["git", *arguments], cwd=folder, stdout=subprocess.PIPE, text=True, check=True)
    return answer.stdout.strip()
