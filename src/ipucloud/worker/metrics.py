"""The metrics of the worker's own tasks."""

from __future__ import annotations

from prometheus_client import Counter

SWEPT = Counter("sweep_repairs", "Repairs that sweeps have begun, by the rule that was broken", ["rule"])
