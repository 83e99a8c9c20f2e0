"""How long a step of a cluster's operation waits, and when it looks for the hardware that keeps it."""

from __future__ import annotations

import random
from uuid import UUID

import pytest

from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.contract.operations import OperationState
from ipucloud.operations.kind import OpenOperation, OpenStep
from ipucloud.operations.results import Achieved, Failed, Pending
from ipucloud.operations.runner import Runner

RUNNER = Runner(CLUSTER_OPERATIONS, attempts=5, pause=1.0, draw=random.Random(7))  # noqa: S311
USUAL = 900.0
COUNTING = Pending("counting the IPUs")


def running(step: str, seconds: float, *, kind: str = "cluster.create", attempts: int = 0) -> OpenOperation:
    return OpenOperation(
        id=UUID(int=1),
        project_id=UUID(int=2),
        kind=kind,
        state=OperationState.RUNNING,
        request_id="req",
        undoing=False,
        overdue=False,
        step=OpenStep(3, step, "POST_DEPLOY_SETUP", attempts, None, last=True, running_for=seconds),
        usual=USUAL,
    )


def test_a_step_that_waits_longer_than_twice_the_operation_usually_takes_has_failed() -> None:
    assert RUNNER.limited(running("check_ipus", 2 * USUAL), COUNTING) is COUNTING
    failed = RUNNER.limited(running("check_ipus", 2 * USUAL + 1), COUNTING)
    assert isinstance(failed, Failed)
    assert (failed.detail, failed.final) == ("counting the IPUs: not done within 30 minutes", False)


@pytest.mark.parametrize(
    ("operation", "result"),
    [
        pytest.param(
            running("check_ipus", 1e6), Pending("carrying out the user data", endless=True), id="a customer's"
        ),
        pytest.param(running("check_ipus", 1e6), Pending("waiting for its turn", recheck=5.0), id="of a known time"),
        pytest.param(running("detach_network", 1e6, kind="cluster.delete"), Pending("detaching"), id="clean-up"),
        pytest.param(running("check_ipus", 1e6), Achieved(), id="done"),
    ],
)
def test_other_waits_have_no_limit(operation: OpenOperation, result: Pending) -> None:
    assert RUNNER.limited(operation, result) is result


def test_hardware_is_looked_at_when_a_wait_is_unusual_or_nothing_answers_again() -> None:
    outage = Failed("no answer", outage=True)
    assert not RUNNER.stuck(running("check_ipus", 10.0), COUNTING)
    assert RUNNER.stuck(running("check_ipus", 100.0), COUNTING)
    assert not RUNNER.stuck(running("check_ipus", 1.0), outage)
    assert RUNNER.stuck(running("check_ipus", 1.0, attempts=1), outage)
    assert not RUNNER.stuck(running("check_ipus", 1.0, attempts=1), Failed("it differs", final=True))
