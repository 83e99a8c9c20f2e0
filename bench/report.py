"""Telling what was found: a table for people, a document for programs, and the latest figures on the page."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from os import cpu_count, getloadavg, nice
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from bench.finding import Finding

PAGE = Path(__file__).with_name("README.md")
HEADING = """## Latest figures

| scenario | figure | measured | goal | | when, commit, load |
| --- | --- | ---: | ---: | --- | --- |
"""
Findings = Mapping[str, Sequence[Finding]]
"""What each scenario found, by its name."""


@dataclass(frozen=True, slots=True)
class RunInfo:
    """When, on which code and on what kind of machine a run took place.

    `commit` ends in `+` with changes not in it. `load`: processes that wanted a core before the run began, on average.
    `nice`: the priority the run had among them.
    """

    date: str
    commit: str
    python: str
    cores: int
    load: float
    nice: int


def run_info() -> RunInfo:
    return RunInfo(
        date=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        commit=_commit(),
        python=platform.python_version(),
        cores=cpu_count() or 0,
        load=round(getloadavg()[0], 1),
        nice=nice(0),
    )


def document(info: RunInfo, findings: Findings) -> dict[str, object]:
    return asdict(info) | {
        "findings": [
            {
                "scenario": scenario,
                "what": finding.what,
                "measured": _rounded(finding.measured),
                "unit": finding.unit,
                "goal": None if finding.goal is None else str(finding.goal),
                "verdict": finding.verdict,
                "numbers": {name: _rounded(value) for name, value in finding.numbers.items()},
            }
            for scenario, of_scenario in findings.items()
            for finding in of_scenario
        ]
    }


def keep(info: RunInfo, findings: Findings) -> None:
    """Write the figures into the table of the latest ones, in place of those that these scenarios had."""
    before, heading, rows = PAGE.read_text().partition(HEADING)
    others = [row for row in rows.splitlines() if row.split(" |")[0].removeprefix("| ") not in findings]
    measured = [
        f"| {scenario} | {each.what} | {f'{_short(each.measured)} {each.unit}'.strip()} | {each.goal or ''} |"
        f" {each.verdict} | {info.date[:10]}, {info.commit}, load {info.load:g} |"
        for scenario, of_scenario in findings.items()
        for each in of_scenario
    ]
    PAGE.write_text(before + heading + "\n".join(sorted([*others, *measured])) + "\n")


def show(findings: Findings) -> None:
    table = Table("scenario", "figure", "measured", "goal", "", box=None, header_style="bold")
    for column in (2, 3):
        table.columns[column].justify = "right"
    for scenario, of_scenario in findings.items():
        for number, finding in enumerate(of_scenario):
            colour = {"met": "green", "not met": "red"}.get(finding.verdict, "default")
            table.add_row(
                scenario if number == 0 else "",
                _figure(finding),
                f"{_short(finding.measured)} {finding.unit}".strip(),
                "" if finding.goal is None else str(finding.goal),
                Text(finding.verdict, colour),
            )
    Console().print(table)


def _figure(finding: Finding) -> Text:
    """What was measured, and below it the numbers it was made from."""
    numbers = ", ".join(f"{name} {_short(value)}" for name, value in finding.numbers.items())
    return Text.assemble(finding.what, (f"\n  {numbers}" if numbers else "", "dim"))


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def _commit() -> str:
    try:
        commit = _git("rev-parse", "--short=10", "HEAD")
        return f"{commit}+" if _git("status", "--porcelain", "--", "src", "bench") else commit
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(*arguments: str) -> str:
    answer = subprocess.run(
        ["git", *arguments], cwd=PAGE.parent, capture_output=True, text=True, check=True, timeout=10
    )
    return answer.stdout.strip()
