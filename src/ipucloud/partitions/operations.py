"""The operations on partitions."""

from __future__ import annotations

from ipucloud.clusters.states import PARTITIONS
from ipucloud.contract.partitions import PartitionState
from ipucloud.operations.kind import Billing, Kind, Repeated, Undo
from ipucloud.operations.step import Stage, Step
from ipucloud.partitions import decide, record
from ipucloud.partitions.decide import Judge
from ipucloud.partitions.inputs import Operated

_STAGE = Stage("PARTITION", 30)
_REMOVE = Step[Judge, Operated](name="remove_partition", stage=_STAGE, act=decide.removed, endures=True)
_LEAVE = Step[Judge, Operated](name="leave_partition", stage=_STAGE, act=decide.kept, endures=True)


class PartitionKind(Kind[Judge, Operated]):
    """A kind of operation on partitions; the reconciler records their states from what the controller shows."""


CREATE = PartitionKind(
    name="partition.create",
    work_kind=PARTITIONS,
    steps=(Step(name="make_partition", stage=_STAGE, act=decide.created),),
    states=None,
    begins_in=frozenset(),
    during=PartitionState.CREATING,
    success=PartitionState.ACTIVE,
    undo=Undo(steps=(_REMOVE,), what="making the partition", cancelled=None, failed=None, on_begin=record.undo),
    cancellable=True,
    repeated=Repeated.REFUSED,
    billing=Billing.UNCHANGED,
    deadline=None,
    preceding=(),
    replacing=(),
    failure=decide.failure,
)
RESET = PartitionKind(
    name="partition.reset",
    work_kind=PARTITIONS,
    steps=(Step(name="reset_partition", stage=_STAGE, act=decide.reset),),
    states=None,
    begins_in=frozenset(PartitionState) - {PartitionState.MISSING, PartitionState.REMOVING, PartitionState.REMOVED},
    during=PartitionState.RESETTING,
    success=PartitionState.ACTIVE,
    undo=Undo(steps=(_LEAVE,), what="the reset", cancelled=None, failed=None, on_begin=record.keep),
    cancellable=True,
    repeated=Repeated.REFUSED,
    billing=Billing.UNCHANGED,
    deadline=None,
    preceding=(),
    replacing=(),
    failure=decide.failure,
)
REMOVE = PartitionKind(
    name="partition.remove",
    work_kind=PARTITIONS,
    steps=(_REMOVE,),
    states=None,
    begins_in=frozenset(PartitionState) - {PartitionState.REMOVED},
    during=PartitionState.REMOVING,
    success=PartitionState.REMOVED,
    undo=None,
    cancellable=False,
    repeated=Repeated.JOINS,
    billing=Billing.UNCHANGED,
    deadline=None,
    preceding=(),
    replacing=(),
    failure=None,
)

PARTITION_OPERATIONS: tuple[PartitionKind, ...] = (CREATE, RESET, REMOVE)
