"""What a worker exports from its start, though it imports later what counts most of it."""

from __future__ import annotations

from prometheus_client import REGISTRY, Counter
from prometheus_client.registry import Collector

from ipucloud.clusters import metrics as of_clusters
from ipucloud.invariants import gauge as of_audits
from ipucloud.observation import metrics as of_observation
from ipucloud.operations import metrics as of_operations
from ipucloud.process.logs import LostLines
from ipucloud.validation import metrics as of_validation
from ipucloud.worker import measures

_REGISTERING = (of_audits, of_clusters, of_observation, of_operations, of_validation, measures)
"""Importing these registers their metrics."""
REGISTRY.register(LostLines())
SWEPT = Counter("sweep_repairs", "Repairs that sweeps have begun, by the rule that was broken", ["rule"])


def export(collector: Collector) -> None:
    """Export what it collects, too."""
    REGISTRY.register(collector)
