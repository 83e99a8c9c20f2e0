"""Judges a partition and its open operation by what its controller shows. Pure; nothing else judges partitions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TypeAlias

from ipucloud.contract.partitions import Origin
from ipucloud.kernel.errors import DEADLINE_EXCEEDED, PARTITION_FAILED, PARTITION_REFUSED, Problem
from ipucloud.kernel.vipu import DOMAIN_IPUS, SELF_RESET_SECONDS
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.partitions.inputs import Record
from ipucloud.partitions.observation import Answer, Observation
from ipucloud.partitions.plan import Verdict, judge
from ipucloud.site.vipu_ports import PartitionState, PartitionStatus

UNANSWERED = "the V-IPU controller did not answer; the next check reads its state first"
SHOWN_NAMES = 3
_ASK = "Try again, or contact the operator with the operation's id."


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The controller accepted a reset."""

    detail: str = "the V-IPU controller resets the partition"


@dataclass(frozen=True, slots=True)
class Announce:
    """A reset is about to be sent, and must be recorded first."""


Decision: TypeAlias = StepResult | Confirmed | Announce
Judge: TypeAlias = Callable[[Record, Observation, float], Decision]
"""Judges a step by the recorded partition, by what its controller shows and answered, and by its age in seconds."""


def created(partition: Record, observation: Observation, running_for: float) -> Decision:
    """Whether a partition that was to be made exists."""
    if observation.lost:
        return _final(_LOST)
    verdict = judge(partition.desired, observation.partitions.get(partition.external_name))
    if verdict is Verdict.REACHED:
        return Achieved()
    if verdict is Verdict.BROKEN:
        return _broken(partition, observation, running_for)
    answer = observation.answers.get(partition.external_name)
    return _unhappy(verdict, answer) or _make(partition, answer, observation)


def reset(partition: Record, observation: Observation, running_for: float) -> Decision:
    """Whether a partition was reset."""
    if observation.lost:
        return _final(_LOST)
    verdict = judge(partition.desired, observation.partitions.get(partition.external_name))
    if verdict is Verdict.REACHED:
        return Achieved()
    if verdict is Verdict.BROKEN:
        return _broken(partition, observation, running_for)
    answer = observation.answers.get(partition.external_name)
    return _unhappy(verdict, answer) or _reset(answer)


def kept(partition: Record, observation: Observation, running_for: float) -> Decision:  # noqa: ARG001
    """A reset that was given up leaves the partition as its controller has it."""
    return Achieved()


def removed(partition: Record, observation: Observation, running_for: float) -> Decision:  # noqa: ARG001
    """Whether a partition is gone."""
    verdict = judge(partition.desired, observation.partitions.get(partition.external_name))
    return Achieved() if verdict is Verdict.REACHED else Pending("the V-IPU controller removes the partition")


def _unhappy(verdict: Verdict, answer: Answer | None) -> Failed | None:
    if verdict in _HOPELESS:
        return _final(_HOPELESS[verdict])
    return Failed(UNANSWERED, outage=True) if answer is Answer.UNKNOWN else None


def _broken(partition: Record, observation: Observation, running_for: float) -> Decision:
    """It is in error: its controller may still reset it by itself, or has given up."""
    status = observation.statuses.get(partition.external_name)
    if status is None:
        return Failed("the V-IPU controller could not bring it up")
    if waited_for(status, running_for):
        return Pending(f"{errors(status)}; {resets_itself(status)}")
    detail = f"The V-IPU controller could not bring the partition up: {errors(status)}. {_ASK}"
    return _final(Problem(PARTITION_FAILED, detail, extra={"errors": list(status.errors), "resets": status.resets}))


def _final(problem: Problem) -> Failed:
    return Failed(problem.detail, final=True, problem=problem)


def _make(partition: Record, answer: Answer | None, observation: Observation) -> Decision:
    shape = partition.shape
    if answer not in {Answer.REFUSED, Answer.BUSY} or shape is None:
        return Pending("the V-IPU controller prepares the partition")
    segments = shape.segments or max(1, shape.size // DOMAIN_IPUS)
    if not observation.room.fits(shape.size, segments):
        if observation.room_without.fits(shape.size, segments):
            return Pending(f"it has room once {_names(observation.leaving)} removed", blocked=True)
        return _final(_no_room(shape.size, observation))
    if answer is Answer.REFUSED:
        return _final(_refused(partition, observation))
    why = observation.refusals.get(partition.external_name)
    return Failed("the V-IPU controller cannot do it now" + (f" ({why})" if why else ""))


def _names(leaving: Sequence[str]) -> str:
    shown = ", ".join(leaving[:SHOWN_NAMES]) + (" and others" if len(leaving) > SHOWN_NAMES else "")
    return f"partition {shown} is" if len(leaving) == 1 else f"partitions {shown} are"


def _reset(answer: Answer | None) -> Decision:
    match answer:
        case Answer.ANNOUNCE:
            return Announce()
        case Answer.DONE:
            return Confirmed()
        case Answer.REFUSED | Answer.BUSY:
            return Failed("the V-IPU controller does not reset it now")
        case _:
            return Pending("the V-IPU controller resets the partition")


def _no_room(size: int, observation: Observation) -> Problem:
    largest = observation.room.largest
    fits = f"A partition of {largest} would fit" if largest else "No IPU is free"
    detail = (
        f"No aligned block of {size} IPUs is free: a partition of 2^k IPUs begins at a multiple of 2^k."
        f" {fits}. Remove a partition, or ask for a smaller one."
    )
    return Problem(PARTITION_REFUSED, detail, extra={"rule": "no_room"} | _free(observation))


def _refused(partition: Record, observation: Observation) -> Problem:
    why = observation.refusals.get(partition.external_name, "no reason given")
    detail = (
        f"The V-IPU controller refused the partition although there is room for it: {why}. Ask for another routing,"
        " sync type or number of GCDs, or contact the operator with the operation's id."
    )
    return Problem(PARTITION_REFUSED, detail, extra={"rule": "refused_by_controller"} | _free(observation))


def _free(observation: Observation) -> dict[str, object]:
    return {"free_blocks": [asdict(block) for block in observation.room.blocks], "largest": observation.room.largest}


def failure(operation: OpenOperation, failed: Failed) -> Problem:
    """The problem of an operation whose step was given up without a reason of its own."""
    if operation.overdue:
        return Problem(DEADLINE_EXCEEDED, f"It took longer than allowed. {_ASK}")
    return Problem(PARTITION_FAILED, f"Given up after several tries: {failed.detail}. {_ASK}")


_LOST = Problem(
    PARTITION_FAILED,
    "The V-IPU controller has lost the cluster's allocation, and with it all of its partitions. They are made again"
    " automatically. Try again when the cluster is no longer degraded.",
    extra={"rule": "allocation_lost"},
)
_HOPELESS = {
    Verdict.OTHER: Problem(PARTITION_FAILED, f"Another partition has its id at the controller. {_ASK}"),
    Verdict.MISSING: Problem(
        PARTITION_FAILED, "The controller no longer shows the partition. Remove it, and make another."
    ),
}


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
