"""Waits for accepted calls: the controller returns immediately and continues in the background."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_pb2 as pb

Sleep = Callable[[float], Awaitable[object]]

FIRST_POLL = 0.05
LONGEST_POLL = 1.0


async def until_active(controller: Controller, partition: str, seconds: float, sleep: Sleep) -> None:
    """Return when the partition is ready. Raises VipuProblem if it fails or is not ready in time."""

    async def ready() -> bool:
        status = await controller.status(partition)
        if status.ready_state == pb.PS_ERROR:
            raise VipuProblem(_failure(status))
        return status.ready_state == pb.PS_ACTIVE

    await _poll(ready, seconds, sleep, "ready; it may still become ready")


async def until_gone(controller: Controller, partition: str, seconds: float, sleep: Sleep) -> None:
    """Return when the partition is removed. Raises VipuProblem if its removal fails or takes too long."""

    async def gone() -> bool:
        try:
            status = await controller.status(partition)
        except VipuProblem as problem:
            if problem.missing:
                return True
            raise
        if status.operation_state == pb.POS_FAILED:
            raise VipuProblem(f"{_failure(status)}; use --force to remove it anyway")
        return status.ready_state == pb.PS_REMOVED

    await _poll(gone, seconds, sleep, "removed; its removal continues")


async def until_tested(
    read: Callable[[], Awaitable[admin.ClusterTest]], seconds: float, sleep: Sleep
) -> admin.ClusterTest:
    """The test of a cluster once it ended. Raises VipuProblem when that takes too long."""
    test = await read()

    async def ended() -> bool:
        nonlocal test
        test = await read()
        return test.state != admin.TS_RUNNING

    await _poll(ended, seconds, sleep, "tested; the test continues", "cluster")
    return test


async def _poll(
    done: Callable[[], Awaitable[bool]], seconds: float, sleep: Sleep, what: str, noun: str = "partition"
) -> None:
    waited, pause = 0.0, FIRST_POLL
    while not await done():
        if waited >= seconds:
            raise VipuProblem(f"after {seconds:g} s the {noun} is not {what}")
        await sleep(pause)
        waited += pause
        pause = min(LONGEST_POLL, 1.5 * pause)


def _failure(status: pb.PartitionStatus) -> str:
    errors = "; ".join(status.errors) or "the controller gives no reason"
    remaining = status.max_auto_reset_retries - status.auto_reset_retry_count
    return f"{errors} (it resets itself {remaining} more times)" if remaining > 0 else errors
