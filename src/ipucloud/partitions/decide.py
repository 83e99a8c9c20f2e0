"""What an open operation makes of a look: pure, and the only place where a partition's fate is judged."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from ipucloud.kernel.errors import DEADLINE_EXCEEDED, PARTITION_FAILED, PARTITION_REFUSED, Problem
from ipucloud.kernel.vipu import DOMAIN_IPUS, PartitionShape
from ipucloud.partitions.inputs import Promise, Record
from ipucloud.partitions.look import Answer, Look
from ipucloud.partitions.plan import Verdict, judge
from ipucloud.partitions.states import REMOVE, RESET

UNANSWERED = "the V-IPU controller did not answer; its state is read before anything else is asked"
_ASK = "Try again, or ask the operator with the operation's id."


@dataclass(frozen=True, slots=True)
class Reached:
    """The controller shows what was promised."""


@dataclass(frozen=True, slots=True)
class Pending:
    """Asked for and not there yet."""

    detail: str


@dataclass(frozen=True, slots=True)
class Sent:
    """The controller said yes to a reset."""

    detail: str = "the V-IPU controller resets the partition"


@dataclass(frozen=True, slots=True)
class Announce:
    """A reset is about to be sent, and that has to be on record first."""


@dataclass(frozen=True, slots=True)
class Again:
    """It did not get further, and may the next time. `outage`: the controller did not answer, which says nothing."""

    detail: str
    outage: bool = False


@dataclass(frozen=True, slots=True)
class GiveUp:
    problem: Problem


Decision = Reached | Pending | Sent | Announce | Again | GiveUp


def decide(promise: Promise, partition: Record, look: Look) -> Decision:
    verdict = judge(partition.desired, look.seen.get(partition.external_name))
    if verdict is Verdict.REACHED:
        return Reached()
    if promise.kind == REMOVE or promise.undoing:
        return Pending("the V-IPU controller removes the partition")
    if promise.overdue or verdict in {Verdict.OTHER, Verdict.MISSING}:
        return GiveUp(late() if promise.overdue else _HOPELESS[verdict])
    if verdict is Verdict.BROKEN:
        return Again("the V-IPU controller could not bring it up")
    answer = look.answers.get(partition.external_name)
    if answer is Answer.UNKNOWN:
        return Again(UNANSWERED, outage=True)
    return _reset(answer) if promise.kind == RESET else _make(partition.shape, answer, look)


def _make(shape: PartitionShape | None, answer: Answer | None, look: Look) -> Decision:
    if answer not in {Answer.REFUSED, Answer.BUSY} or shape is None:
        return Pending("the V-IPU controller prepares the partition")
    segments = shape.segments or max(1, shape.size // DOMAIN_IPUS)
    if not look.room.fits(shape.size, segments):
        return GiveUp(_no_room(shape.size, look))
    if answer is Answer.REFUSED:
        return GiveUp(_refused(look))
    return Again("the V-IPU controller cannot do it at the moment")


def _reset(answer: Answer | None) -> Decision:
    match answer:
        case Answer.ANNOUNCE:
            return Announce()
        case Answer.DONE:
            return Sent()
        case Answer.REFUSED | Answer.BUSY:
            return Again("the V-IPU controller would not reset it at the moment")
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


def late() -> Problem:
    return Problem(DEADLINE_EXCEEDED, f"It took longer than it may. {_ASK}")


def no_good(detail: str) -> Problem:
    return Problem(PARTITION_FAILED, f"Given up after several tries: {detail}. {_ASK}")


_HOPELESS = {
    Verdict.OTHER: Problem(PARTITION_FAILED, f"Another partition has its id at the controller. {_ASK}"),
    Verdict.MISSING: Problem(
        PARTITION_FAILED, "The controller does not show the partition any more. Remove it, and make another."
    ),
}
