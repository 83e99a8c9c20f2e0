"""What is wanted of a partition, and what there is of it, as data."""

from __future__ import annotations

from enum import StrEnum

from ipucloud.contract.clusters import ClusterState

IN_USE = frozenset({ClusterState.ACTIVE, ClusterState.DEGRADED})
"""The states of a cluster in which its partitions can be changed."""


class DesiredState(StrEnum):
    """What the reconciler sees to.

    `made`: it is made when it is not there. `kept`: nothing is done about it, whatever becomes of it. `reset`: it is
    reset, then kept. `gone`: it is removed whenever it shows; this is final, because names are not used again.
    """

    MADE = "made"
    KEPT = "kept"
    RESET = "reset"
    GONE = "gone"
