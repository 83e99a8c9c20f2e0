"""`invariant_violations{name}`: how many objects break each rule, as of this worker's last audit.

Audits alternate among the workers, and a worker's result grows old while another one audits. It is therefore exported
for only two and a half intervals: the newest result is always exported, and an outdated one never for long.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from prometheus_client import REGISTRY
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from ipucloud.invariants.rules import Finding, Rule

FRESH_INTERVALS = 2.5


@dataclass(frozen=True, slots=True)
class _View:
    """The result of one kind of audit, and until when it is exported."""

    counts: dict[str, int]
    until: float


class Violations(Collector):
    """The collector. Rules without violations are exported with 0."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._views: dict[str, _View] = {}

    def report(self, audit: str, rules: Sequence[Rule], findings: Iterable[Finding], *, interval: float) -> None:
        """Export the result of `audit`, until its next run is overdue."""
        by_rule = Counter(finding.rule.name for finding in findings)
        counts = {rule.name: by_rule[rule.name] for rule in rules}
        self._views[audit] = _View(counts, self._monotonic() + FRESH_INTERVALS * interval)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        family = GaugeMetricFamily("invariant_violations", "Objects that break a rule", labels=["name"])
        for view in self._views.values():
            if self._monotonic() < view.until:
                for name, count in view.counts.items():
                    family.add_metric([name], count)
        yield family


VIOLATIONS = Violations()
REGISTRY.register(VIOLATIONS)
