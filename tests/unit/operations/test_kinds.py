"""A kind of operation that is declared incompletely, or that no worker could carry out, fails when it is declared."""

from __future__ import annotations

import random
from dataclasses import MISSING, fields
from typing import Any
from uuid import uuid4

import pytest

from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.kind import ClusterKind, ClusterStep
from ipucloud.clusters.operations.suspend import SUSPEND
from ipucloud.clusters.steps.build import check_ipus
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.operations import OperationState
from ipucloud.invariants.states import KINDS
from ipucloud.operations.kind import Billing, DeclarationError, Kind, OpenOperation, OpenStep, Undo
from ipucloud.operations.runner import Runner
from ipucloud.operations.step import Stage, expected_seconds, plan_of
from ipucloud.partitions.operations import PARTITION_OPERATIONS

STEP = ClusterStep(name="count", stage=Stage("REBOOT", 90), act=check_ipus)
ENDURING = ClusterStep(name="stop", stage=Stage("REBOOT", 30), act=check_ipus, endures=True)
DECLARED = tuple(each.name for each in fields(Kind) if each.init)


def declared(kind: Kind[Any, Any] = CREATE, **changes: Any) -> ClusterKind:
    """The kind, declared once more with changes."""
    return ClusterKind(**{name: getattr(kind, name) for name in DECLARED} | changes)


def test_everything_has_to_be_declared_and_has_a_name_of_its_own() -> None:
    assert all(each.default is MISSING and each.default_factory is MISSING for each in fields(Kind) if each.init)
    assert {name for name in KINDS if name.startswith("partition.")} == {kind.name for kind in PARTITION_OPERATIONS}


@pytest.mark.parametrize("omitted", DECLARED)
def test_an_omission_is_refused(omitted: str) -> None:
    kept = {name: getattr(CREATE, name) for name in DECLARED if name != omitted}
    with pytest.raises(TypeError, match=omitted):
        ClusterKind(**kept)


@pytest.mark.parametrize("omitted", ["name", "stage", "act"])
def test_a_step_without_its_name_stage_or_action_is_refused(omitted: str) -> None:
    kept = {"name": "count", "stage": STEP.stage, "act": check_ipus}
    del kept[omitted]
    with pytest.raises(TypeError, match=omitted):
        ClusterStep(**kept)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"name": "reboot"}, "a name is <object>.<verb>"),
        ({"steps": ()}, "it has no step"),
        ({"steps": (STEP, STEP)}, "two of its steps have one name"),
        ({"failure": None}, "declares no `failure`"),
        ({"undo": None}, "declares no undo"),
        ({"success": ClusterState.RESUMING, "billing": Billing.UNCHANGED}, "creating does not lead to resuming"),
        ({"begins_in": frozenset({ClusterState.DELETED})}, "deleted does not lead to creating"),
        ({"success": ClusterState.ERROR}, "it starts billing and leads to error"),
        ({"billing": Billing.ENDS}, "it ends billing and leads to active"),
    ],
)
def test_what_cannot_be_carried_out_is_refused(changes: dict[str, Any], fault: str) -> None:
    with pytest.raises(DeclarationError, match=fault):
        declared(**changes)


@pytest.mark.parametrize(
    ("step", "cancelled", "fault"),
    [
        (STEP, ClusterState.DELETED, "its undo may give up at count"),
        (ENDURING, ClusterState.SUSPENDED, "creating does not lead to suspended"),
    ],
)
def test_an_undo_that_may_give_up_or_leads_nowhere_is_refused(
    step: ClusterStep, cancelled: ClusterState, fault: str
) -> None:
    with pytest.raises(DeclarationError, match=fault):
        declared(undo=Undo(steps=(step,), what="creation", cancelled=cancelled, failed=ClusterState.ERROR))


def test_a_create_takes_fifteen_minutes_and_less_where_steps_do_not_apply() -> None:
    """What the documentation says of a POD16."""
    assert expected_seconds(plan_of(CREATE.steps, {}), {}) == 15 * 60
    without = plan_of(CREATE.steps, {"V-IPU": "no controller", "machines of their own": "one server"})
    assert expected_seconds(without, {}) == 585
    assert expected_seconds(without, {"NETWORK": 1}) == 526


def test_a_step_that_does_not_apply_says_why() -> None:
    plan = plan_of(SUSPEND.steps, {"V-IPU users": "no users here"})
    assert {step.name: step.skipped for step in plan if step.skipped} == {"remove_vipu_user": "no users here"}


@pytest.mark.parametrize(
    ("kind", "step", "undoing", "known"),
    [
        ("cluster.create", "attach_network", False, True),
        ("cluster.create", "verify_clean", True, True),
        ("cluster.create", "verify_clean", False, True),
        ("cluster.suspend", "verify_clean", False, False),
        ("cluster.create", "attach_satellite", False, False),
        ("cluster.teleport", "attach_network", False, False),
    ],
)
def test_a_runner_knows_what_it_can_carry_out(kind: str, step: str, *, undoing: bool, known: bool) -> None:
    """A worker leaves alone what a newer or older version began, instead of failing at it."""
    current = OpenStep(ordinal=1, name=step, stage="NETWORK", attempts=0, detail=None, last=False)
    operation = OpenOperation(
        id=uuid4(),
        project_id=uuid4(),
        kind=kind,
        state=OperationState.RUNNING,
        request_id="r",
        undoing=undoing,
        overdue=False,
        step=current,
    )
    runner = Runner([CREATE, SUSPEND], attempts=5, pause=1.0, draw=random.Random(1))  # noqa: S311
    assert runner.knows(operation) is known
