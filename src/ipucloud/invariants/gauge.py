"""`invariant_violations{name}`: how many objects break each rule, as this worker last saw it.

Audits take turns among the workers. What a worker saw grows old while another one looks, so it is shown for two and a
half intervals only: of several workers the newest view always shows, and one that is outdated for long never does.
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
    """What one kind of audit saw, and until when that is shown."""

    counts: dict[str, int]
    until: float


class Violations(Collector):
    """The collector. Rules that hold are shown with 0."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._views: dict[str, _View] = {}

    def saw(self, audit: str, rules: Sequence[Rule], findings: Iterable[Finding], *, interval: float) -> None:
        """Show what `audit` saw now, and forget it when it should have been made again."""
        found = Counter(finding.rule.name for finding in findings)
        counts = {rule.name: found[rule.name] for rule in rules}
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
