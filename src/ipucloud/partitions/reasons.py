"""Why a partition is as it is, in sentences for people: what its controller says of it. Pure."""

from __future__ import annotations

from ipucloud.contract.partitions import Origin
from ipucloud.kernel.vipu import SELF_RESET_SECONDS
from ipucloud.site.vipu_ports import PartitionState, PartitionStatus

SHOWN_ERRORS = 3

MISSING = "the controller no longer shows it, although its removal was not requested here"
LOST = "the V-IPU controller lost it with the cluster's allocation; it is made again automatically"
LOST_IN_REMOVAL = "the V-IPU controller lost it with the cluster's allocation while it was being removed"
NOT_MADE_AGAIN = "the V-IPU controller had lost it with the cluster's allocation, and it could not be made again"
UNKNOWN = "the controller reports a state unknown to this version"
UNEXPLAINED = "one of its machines or links is faulty"


def errors(status: PartitionStatus) -> str:
    """What the controller says is wrong."""
    more = len(status.errors) - SHOWN_ERRORS
    shown = "; ".join(status.errors[:SHOWN_ERRORS]) + (f"; and {more} more" if more > 0 else "")
    return f"the V-IPU controller reports: {shown}" if shown else "the V-IPU controller gives no reason"


def in_error(status: PartitionStatus | None, origin: Origin) -> str:
    """Of a partition in error, and what happens next."""
    cause = UNEXPLAINED if status is None else errors(status)
    if status is not None and status.resets_itself:
        return f"{cause}; {resets_itself(status)}"
    if status is not None and status.max_resets:
        cause += f"; it has reset the partition {status.resets} times in vain"
    if origin is Origin.CUSTOMER:
        return f"{cause}; reset it with `vipu` once its hardware works again"
    return f"{cause}; it is reset automatically once its hardware works again"


def resets_itself(status: PartitionStatus) -> str:
    return f"the controller resets it by itself, {status.resets} of {status.max_resets} times so far"


def coming_up(status: PartitionStatus | None) -> str | None:
    """Of a partition that its controller makes or resets; None: it needs no explanation."""
    if status is None or status.state is not PartitionState.PENDING or not status.resets:
        return None
    return f"the controller resets it by itself, try {status.resets} of {status.max_resets}"


def waited_for(status: PartitionStatus | None, seconds: float) -> bool:
    """Whether a partition in error is left to its controller, after so many seconds of its operation."""
    return status is not None and status.resets_itself and seconds < SELF_RESET_SECONDS
