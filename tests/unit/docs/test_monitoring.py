"""The dashboard and the alert rules of deploy/ against the metrics that the product exports."""

from __future__ import annotations

import importlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from prometheus_client import REGISTRY
from prometheus_client.metrics import MetricWrapperBase
from prometheus_client.registry import Collector

from ipucloud.api.metrics import Metrics
from ipucloud.catalogue.current import CurrentCatalogue
from tests.support.cases import all_cases
from tests.support.machine import Need, needs, program

CHECKOUT = Path(__file__).parents[3]
PROMETHEUS = CHECKOUT / "deploy" / "prometheus"
INCIDENTS = CHECKOUT / "docs" / "operations" / "incidents.md"
RULES: list[dict[str, Any]] = yaml.safe_load((PROMETHEUS / "alerts.yml").read_text())["groups"][0]["rules"]
DASHBOARD: dict[str, Any] = json.loads((CHECKOUT / "deploy" / "grafana" / "ipucloud.json").read_text())
PANELS = [panel for panel in DASHBOARD["panels"] if panel["type"] != "row"]

OF_PROMETHEUS = {"up": {"job", "instance"}}
TARGET = {"job", "instance"}
"""Labels that Prometheus adds to every series."""
KEYWORDS = {"or", "and", "unless", "bool"}


def exported() -> dict[str, set[str]]:
    """Every series that API processes and workers export, with its labels, read from their registries."""
    importlib.import_module("ipucloud.worker.main")  # registers what a worker exports
    collectors: list[Collector] = [CurrentCatalogue(None), *_registered(Metrics().registry), *_registered(REGISTRY)]
    series = dict(OF_PROMETHEUS)
    for collector in collectors:
        for family in collector.collect():
            source: Any = collector if isinstance(collector, MetricWrapperBase) else family
            labels = set(source._labelnames)
            for suffix, more in SUFFIXES.get(family.type, {"": set()}).items():
                series[family.name + suffix] = labels | more | TARGET
    return series


SUFFIXES: dict[str, dict[str, set[str]]] = {
    "counter": {"_total": set()},
    "histogram": {"_bucket": {"le"}, "_count": set(), "_sum": set()},
}


def _registered(registry: Any) -> list[Collector]:
    """The product's collectors; not those of the Python process."""
    return [
        each
        for each in registry._collector_to_names
        if isinstance(each, MetricWrapperBase) or not type(each).__module__.startswith("prometheus_client")
    ]


def expressions() -> Iterator[str]:
    for rule in RULES:
        yield rule["expr"]
    for panel in PANELS:
        for target in panel["targets"]:
            yield target["expr"]


def used(expression: str) -> tuple[dict[str, set[str]], set[str]]:
    """The series that an expression names, each with the labels it is selected by; and the labels it groups by."""
    grouped = {
        label
        for names in re.findall(r"\b(?:by|without|on|ignoring)\s*\(([^)]*)\)", expression)
        for label in re.findall(r"\w+", names)
    }
    rest = re.sub(r"\b(?:by|without|on|ignoring)\s*\([^)]*\)", "", expression)
    series: dict[str, set[str]] = {}
    selectors = re.sub(r'"[^"]*"', '""', rest)
    selectors = re.sub(r"\[\w+\]", "", selectors)
    for name, _, matchers in re.findall(
        r"\b([a-z_]\w*)\b(?!\s*\()\s*(\{([^}]*)\})?", re.sub(r"(\{[^}]*\})", r"\1", selectors)
    ):
        if name not in KEYWORDS:
            series.setdefault(name, set()).update(re.findall(r"(\w+)\s*[=!]", matchers))
    return series, grouped


def test_every_metric_and_label_exists() -> None:
    known = exported()
    with all_cases() as case:
        for expression in sorted(set(expressions())):
            series, grouped = used(expression)
            with case(expression):
                assert series
                assert set(series) - set(known) == set()
                for name, labels in series.items():
                    assert labels - known[name] == set(), name
                assert grouped - set().union(*(known[name] for name in series)) == set()


def test_an_unknown_metric_or_label_is_noticed() -> None:
    series, grouped = used('sum by (kind) (rate(no_such_total{state="x"}[5m])) > 2 or vector(0)')
    assert (series, grouped) == ({"no_such_total": {"state"}}, {"kind"})


def test_every_installation_wide_metric_is_on_the_dashboard() -> None:
    shown = {name for panel in PANELS for target in panel["targets"] for name in used(target["expr"])[0]}
    measured = {"machines", "open_operations", "work_items", "work_oldest_due_seconds", "hour_close_age_seconds"}
    measured |= {"clusters", "health_reports", "credited_machines", "observation_age_seconds", "inventory_findings"}
    assert measured <= shown


def test_every_alert_leads_to_a_paragraph_that_exists_and_has_a_test() -> None:
    headings = re.findall(r"^#+ (.+)$", INCIDENTS.read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w -]", "", heading).strip().lower().replace(" ", "-") for heading in headings}
    for rule in RULES:
        page, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert CHECKOUT / page == INCIDENTS
        assert anchor in anchors, rule["alert"]
        assert rule["labels"]["severity"] in {"page", "ticket"}
    tests = (PROMETHEUS / "alerts_test.yml").read_text()
    assert [rule["alert"] for rule in RULES if rule["alert"] not in tests] == []


def test_panels_do_not_overlap() -> None:
    occupied: set[tuple[int, int]] = set()
    for panel in DASHBOARD["panels"]:
        at = panel["gridPos"]
        cells = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        assert not cells & occupied, panel["title"]
        assert at["x"] + at["w"] <= 24
        occupied |= cells
    assert len({panel["id"] for panel in DASHBOARD["panels"]}) == len(DASHBOARD["panels"])


@needs(Need.PROMTOOL)
@pytest.mark.parametrize("command", [("check", "rules", "alerts.yml"), ("test", "rules", "alerts_test.yml")])
def test_promtool_agrees(command: tuple[str, ...]) -> None:
    done = subprocess.run([program("promtool"), *command], cwd=PROMETHEUS, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
