"""Metrics of validations."""

from __future__ import annotations

from prometheus_client import Counter

VALIDATED = Counter(
    "machines_validated", "Machines whose validation ended, by result: passed, failed, abandoned", ["result"]
)
