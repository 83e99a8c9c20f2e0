"""What an open operation makes of what its controller shows: pure, and the only place that judges a partition."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TypeAlias

from ipucloud.kernel.errors import DEADLINE_EXCEEDED, PARTITION_FAILED, PARTITION_REFUSED, Problem
from ipucloud.kernel.vipu import DOMAIN_IPUS, PartitionShape
from ipucloud.operations.kind import OpenOperation
from ipucloud.operations.results import Achieved, Failed, Pending, StepResult
from ipucloud.partitions.inputs import Record
from ipucloud.partitions.look import Answer, Look
from ipucloud.partitions.plan import Verdict, judge

UNANSWERED = "the V-IPU controller did not answer; its state is read before anything else is asked"
_ASK = "Try again, or ask the operator with the operation's id."


@dataclass(frozen=True, slots=True)
class Confirmed:
    """The controller accepted a reset."""

    detail: str = "the V-IPU controller resets the partition"


@dataclass(frozen=True, slots=True)
class Announce:
    """A reset is about to be sent, and that has to be on record first."""


Decision: TypeAlias = StepResult | Confirmed | Announce
Judge: TypeAlias = Callable[[Record, Look], Decision]
"""How a step is judged, given the partition on record and what its controller shows and answered."""


def made(partition: Record, look: Look) -> Decision:
    """Whether a partition is there that was to be made."""
    verdict = judge(partition.desired, look.seen.get(partition.external_name))
    if verdict is Verdict.REACHED:
        return Achieved()
    answer = look.answers.get(partition.external_name)
    return _unhappy(verdict, answer) or _make(partition.shape, answer, look)


def reset(partition: Record, look: Look) -> Decision:
    """Whether a partition was reset."""
    verdict = judge(partition.desired, look.seen.get(partition.external_name))
    if verdict is Verdict.REACHED:
        return Achieved()
    answer = look.answers.get(partition.external_name)
    return _unhappy(verdict, answer) or _reset(answer)


def removed(partition: Record, look: Look) -> Decision:
    """Whether a partition is gone."""
    verdict = judge(partition.desired, look.seen.get(partition.external_name))
    return Achieved() if verdict is Verdict.REACHED else Pending("the V-IPU controller removes the partition")


def _unhappy(verdict: Verdict, answer: Answer | None) -> Failed | None:
    if verdict in _HOPELESS:
        return _final(_HOPELESS[verdict])
    if verdict is Verdict.BROKEN:
        return Failed("the V-IPU controller could not bring it up")
    return Failed(UNANSWERED, outage=True) if answer is Answer.UNKNOWN else None


def _final(problem: Problem) -> Failed:
    return Failed(problem.detail, final=True, problem=problem)


def _make(shape: PartitionShape | None, answer: Answer | None, look: Look) -> Decision:
    if answer not in {Answer.REFUSED, Answer.BUSY} or shape is None:
        return Pending("the V-IPU controller prepares the partition")
    segments = shape.segments or max(1, shape.size // DOMAIN_IPUS)
    if not look.room.fits(shape.size, segments):
        return _final(_no_room(shape.size, look))
    if answer is Answer.REFUSED:
        return _final(_refused(look))
    return Failed("the V-IPU controller cannot do it at the moment")


def _reset(answer: Answer | None) -> Decision:
    match answer:
        case Answer.ANNOUNCE:
            return Announce()
        case Answer.DONE:
            return Confirmed()
        case Answer.REFUSED | Answer.BUSY:
            return Failed("the V-IPU controller would not reset it at the moment")
        case _:
            return Pending("the V-IPU controller resets the partition")


def _no_room(size: int, look: Look) -> Problem:
    largest = look.room.largest
    fits = f"A partition of {largest} would fit" if largest else "No IPU is free"
    detail = (
        f"No aligned block of {size} IPUs is free: a partition of 2^k IPUs begins at a multiple of 2^k."
        f" {fits}. Remove a partition, or ask for a smaller one."
    )
    return Problem(PARTITION_REFUSED, detail, extra={"rule": "no_room"} | _free(look))


def _refused(look: Look) -> Problem:
    detail = (
        "The V-IPU controller refused the partition although there is room for it. Ask for another routing, sync type"
        " or number of GCDs, or ask the operator with the operation's id."
    )
    return Problem(PARTITION_REFUSED, detail, extra={"rule": "refused_by_controller"} | _free(look))


def _free(look: Look) -> dict[str, object]:
    return {"free_blocks": [asdict(block) for block in look.room.blocks], "largest": look.room.largest}


def failure(operation: OpenOperation, failed: Failed) -> Problem:
    """What an operation ends with whose step was given up without a reason of its own."""
    if operation.overdue:
        return Problem(DEADLINE_EXCEEDED, f"It took longer than it may. {_ASK}")
    return Problem(PARTITION_FAILED, f"Given up after several tries: {failed.detail}. {_ASK}")


_HOPELESS = {
    Verdict.OTHER: Problem(PARTITION_FAILED, f"Another partition has its id at the controller. {_ASK}"),
    Verdict.MISSING: Problem(
        PARTITION_FAILED, "The controller does not show the partition any more. Remove it, and make another."
    ),
}
