"""What is wanted of a partition, and what there is of it, as data."""

from __future__ import annotations

from enum import StrEnum

from ipucloud.contract.clusters import ClusterState

IN_USE = frozenset({ClusterState.ACTIVE, ClusterState.DEGRADED})
"""The states of a cluster in which its partitions can be changed."""


class DesiredState(StrEnum):
    """What the reconciler brings about.

    `present`: the partition is made when it is missing. `unmanaged`: nothing is done about it, whatever becomes of it.
    `reset`: it is reset, then unmanaged. `absent`: it is removed whenever it shows; this is final, because names are
    not used again.
    """

    PRESENT = "present"
    UNMANAGED = "unmanaged"
    RESET = "reset"
    ABSENT = "absent"
