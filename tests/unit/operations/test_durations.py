"""Usual durations have one source: the site."""

from __future__ import annotations

from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.laboratory.simulator.durations import STAGES
from ipucloud.partitions.operations import PARTITION_OPERATIONS

NO_HARDWARE = {"ACCESS_KEYS", "SSH_KEYS"}
"""Stages that take a few seconds at any site."""


def test_the_simulated_site_says_how_long_each_stage_takes() -> None:
    of_clusters = {step.stage.name for kind in CLUSTER_OPERATIONS for step in kind.steps}
    of_partitions = {step.stage.name for kind in PARTITION_OPERATIONS for step in kind.steps}
    assert of_clusters | of_partitions == {*STAGES, *NO_HARDWARE}
