"""Judges a partition and its open operation by what its controller shows. Pure; nothing else judges partitions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeAlias

from ipucloud.kernel.errors import DEADLINE_EXCEEDED, PARTITION_FAILED, PARTITION_REFUSED, Problem
from ipucloud.kernel.vipu import DOMAIN_IPUS, PartitionShape
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.partitions.inputs import Record
from ipucloud.partitions.observation import Answer, Observation
from ipucloud.partitions.plan import Verdict, judge

UNANSWERED = "the V-IPU controller did not answer; the next check reads its state first"
_ASK = "Try again, or contact the operator with the operation's id."


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The controller accepted a reset."""

    detail: str = "the V-IPU controller resets the partition"


@dataclass(frozen=True, slots=True)
class Announce:
    """A reset is about to be sent, and must be recorded first."""


Decision: TypeAlias = StepResult | Confirmed | Announce
Judge: TypeAlias = Callable[[Record, Observation], Decision]
"""Judges a step by the recorded partition and by what its controller shows and answered."""


def made(partition: Record, observation: Observation) -> Decision:
    """Whether a partition that was to be made exists."""
    verdict = judge(partition.desired, observation.seen.get(partition.external_name))
    if verdict is Verdict.REACHED:
        return Achieved()
    answer = observation.answers.get(partition.external_name)
    return _unhappy(verdict, answer) or _make(partition.shape, answer, observation)


def reset(partition: Record, observation: Observation) -> Decision:
    """Whether a partition was reset."""
    verdict = judge(partition.desired, observation.seen.get(partition.external_name))
    if verdict is Verdict.REACHED:
        return Achieved()
    answer = observation.answers.get(partition.external_name)
    return _unhappy(verdict, answer) or _reset(answer)


def removed(partition: Record, observation: Observation) -> Decision:
    """Whether a partition is gone."""
    verdict = judge(partition.desired, observation.seen.get(partition.external_name))
    return Achieved() if verdict is Verdict.REACHED else Pending("the V-IPU controller removes the partition")


def _unhappy(verdict: Verdict, answer: Answer | None) -> Failed | None:
    if verdict in _HOPELESS:
        return _final(_HOPELESS[verdict])
    if verdict is Verdict.BROKEN:
        return Failed("the V-IPU controller could not bring it up")
    return Failed(UNANSWERED, outage=True) if answer is Answer.UNKNOWN else None


def _final(problem: Problem) -> Failed:
    return Failed(problem.detail, final=True, problem=problem)


def _make(shape: PartitionShape | None, answer: Answer | None, observation: Observation) -> Decision:
    if answer not in {Answer.REFUSED, Answer.BUSY} or shape is None:
        return Pending("the V-IPU controller prepares the partition")
    segments = shape.segments or max(1, shape.size // DOMAIN_IPUS)
    if not observation.room.fits(shape.size, segments):
        return _final(_no_room(shape.size, observation))
    if answer is Answer.REFUSED:
        return _final(_refused(observation))
    return Failed("the V-IPU controller cannot do it now")


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


def _refused(observation: Observation) -> Problem:
    detail = (
        "The V-IPU controller refused the partition although there is room for it. Ask for another routing, sync type"
        " or number of GCDs, or contact the operator with the operation's id."
    )
    return Problem(PARTITION_REFUSED, detail, extra={"rule": "refused_by_controller"} | _free(observation))


def _free(observation: Observation) -> dict[str, object]:
    return {"free_blocks": [asdict(block) for block in observation.room.blocks], "largest": observation.room.largest}


def failure(operation: OpenOperation, failed: Failed) -> Problem:
    """The problem of an operation whose step was given up without a reason of its own."""
    if operation.overdue:
        return Problem(DEADLINE_EXCEEDED, f"It took longer than allowed. {_ASK}")
    return Problem(PARTITION_FAILED, f"Given up after several tries: {failed.detail}. {_ASK}")


_HOPELESS = {
    Verdict.OTHER: Problem(PARTITION_FAILED, f"Another partition has its id at the controller. {_ASK}"),
    Verdict.MISSING: Problem(
        PARTITION_FAILED, "The controller no longer shows the partition. Remove it, and make another."
    ),
}
