"""Every scenario of the benchmarks does its work, at its smallest size; how fast is not asked."""

from __future__ import annotations

import gc
import math
import re
import tempfile
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from bench import report
from bench.enrolment import Scenario, discover
from bench.finding import Finding, at_least
from bench.stage import smallest_stage
from tests.support.machine import Need, need
from tests.support.postgres import TestServer
from tests.support.processes import MARK, marked

PAGE = (Path(__file__).parents[2] / "bench" / "README.md").read_text()
ROWS = dict(re.findall(r"^\| `(\w+)` \|.*\| (.*) \|$", PAGE, re.MULTILINE))
"""The goals of each scenario, as the page has them."""
SCENARIOS = discover()
INFO = report.RunInfo("2026-12-01T00:00:00Z", "a", "3.11", 2, 0.0, 0)
CASES = [
    pytest.param(each, id=name, marks=pytest.mark.slow if Need.BROWSER in each.needs else ())
    for name, each in SCENARIOS.items()
]


def test_the_page_has_every_scenario() -> None:
    assert sorted(ROWS) == sorted(SCENARIOS)


@pytest.mark.parametrize("scenario", CASES)
def test_a_scenario_gives_figures_and_leaves_nothing_behind(
    scenario: Scenario, postgres: TestServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need(*scenario.needs)
    mark = uuid4().hex
    monkeypatch.setenv(MARK, mark)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with smallest_stage(postgres) as stage:
        findings = scenario.run(stage)
    gc.collect()  # what was not closed is a warning, and of this test
    assert (marked(mark), list(tmp_path.iterdir())) == ({}, [])
    assert [each for each in findings if not is_a_figure(each)] == []
    goals = {str(each.goal) for each in findings if each.goal is not None}
    assert goals == set(re.findall(r"[≥≤] [\d.]+", ROWS[scenario.name])), "the page has other goals"
    assert findings, "no figure"


def is_a_figure(finding: Finding) -> bool:
    """Whether something was measured. A short turn may take no tick of those that processor time is counted in."""
    numbers = finding.numbers.values()
    return finding.measured > 0 and math.isfinite(finding.measured) and all(0 <= each < math.inf for each in numbers)


def test_kept_figures_replace_those_of_their_scenarios_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "README.md"
    page.write_text(f"# Benchmarks\n\n{report.HEADING}")
    monkeypatch.setattr(report, "PAGE", page)
    report.keep(INFO, {"reads": [Finding("list", 0.61, goal=at_least(0.6)), Finding("get", 0.5)], "wake": []})
    report.keep(replace(INFO, commit="b"), {"start": [Finding("help", 12.0, "s")]})
    report.keep(replace(INFO, commit="c"), {"reads": [Finding("get", 0.7)]})
    assert page.read_text() == (
        f"# Benchmarks\n\n{report.HEADING}"
        "| reads | get | 0.7 |  |  | 2026-12-01, c, load 0 |\n"
        "| start | help | 12 s |  |  | 2026-12-01, b, load 0 |\n"
    )
