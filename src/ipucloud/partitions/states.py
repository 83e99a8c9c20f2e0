"""What is wanted of a partition, and what there is of it, as data."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    """Who made a partition: the cluster's own creation, a request to this API, or a customer at the controller."""

    CLUSTER = "cluster"
    API = "api"
    CUSTOMER = "customer"


class Wish(StrEnum):
    """What the reconciler sees to.

    `made`: it is made when it is not there. `kept`: nothing is done about it, whatever becomes of it. `reset`: it is
    reset, then kept. `gone`: it is removed whenever it shows; this is final, because names are not used again.
    """

    MADE = "made"
    KEPT = "kept"
    RESET = "reset"
    GONE = "gone"


class PartitionState(StrEnum):
    """What a customer sees. `missing`: somebody removed it at the controller. `removed` ones are history."""

    CREATING = "creating"
    ACTIVE = "active"
    RESETTING = "resetting"
    ERROR = "error"
    UNKNOWN = "unknown"
    MISSING = "missing"
    REMOVING = "removing"
    REMOVED = "removed"


CREATE = "partition.create"
RESET = "partition.reset"
REMOVE = "partition.remove"
KINDS = (CREATE, RESET, REMOVE)
"""The kinds of operations on partitions."""

STAGE = "PARTITION"
STEPS = {CREATE: "make_partition", RESET: "reset_partition", REMOVE: "remove_partition"}
"""The one step of each kind."""
