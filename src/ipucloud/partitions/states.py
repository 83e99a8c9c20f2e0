"""The desired and actual states of a partition, as data."""

from __future__ import annotations

from enum import StrEnum

from ipucloud.contract.clusters import ClusterState

IN_USE = frozenset({ClusterState.ACTIVE, ClusterState.DEGRADED})
"""The states of a cluster in which its partitions can be changed."""


class DesiredState(StrEnum):
    """The desired state, which the reconciler brings about.

    `present`: the partition is made if it is missing. `unmanaged`: it is only observed. `reset`: it is reset, then
    unmanaged. `absent`: it is removed whenever it appears; this is final, because names are not reused.
    """

    PRESENT = "present"
    UNMANAGED = "unmanaged"
    RESET = "reset"
    ABSENT = "absent"
