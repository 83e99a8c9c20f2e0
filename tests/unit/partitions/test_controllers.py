"""Waiting for controllers: one that does not answer is left alone ever longer, one that resets has its tries."""

from __future__ import annotations

import random
from datetime import UTC, datetime

import pytest

from ipucloud.partitions.controllers import MAX_CONCURRENT, Controllers
from ipucloud.partitions.decide import waited_for
from ipucloud.site.ports import VipuAddress
from ipucloud.site.vipu_ports import PartitionState, PartitionStatus

SILENT, OTHER = VipuAddress("10.0.0.1", 8091), VipuAddress("10.0.0.2", 8091)


class ManualClock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        self.seconds += seconds


def controllers(clock: ManualClock) -> Controllers:
    return Controllers(clock, random.Random(1), pause=1.0)  # noqa: S311  # repeatable, not secret


def test_only_so_many_passes_run_at_one_controller() -> None:
    shared = controllers(ManualClock())
    passes = [shared.pass_at(OTHER) for _ in range(MAX_CONCURRENT)]
    for one in passes:
        assert shared.wait_for(OTHER) is None
        one.__enter__()
    assert shared.wait_for(OTHER) is not None
    assert shared.wait_for(SILENT) is None
    passes[0].__exit__(None, None, None)
    assert shared.wait_for(OTHER) is None


def test_one_that_fails_is_left_alone_ever_longer_and_others_are_not() -> None:
    clock = ManualClock()
    shared = controllers(clock)
    pauses = []
    for _ in range(12):
        with shared.pass_at(SILENT):
            pauses.append(shared.failed(SILENT))
        assert shared.wait_for(SILENT) is not None
        assert shared.wait_for(OTHER) is None
        clock.seconds += pauses[-1]
        assert shared.wait_for(SILENT) is None
        with shared.pass_at(SILENT):
            assert shared.wait_for(SILENT) is not None
    assert max(pauses) > 5.0
    assert max(pauses) <= 60.0
    shared.answered(SILENT)
    with shared.pass_at(SILENT):
        assert shared.wait_for(SILENT) is None


@pytest.mark.parametrize(
    ("resets", "seconds", "waited"),
    [(0, 25.0, True), (1, 65.0, True), (2, 190.0, True), (3, 25.0, False), (2, 600.0, False)],
)
def test_a_partition_is_left_to_a_controller_that_has_tries_left(resets: int, seconds: float, waited: bool) -> None:
    status = PartitionStatus(PartitionState.ERROR, errors=("3 of 4 IPUs came up",), resets=resets, max_resets=3)
    assert waited_for(status, seconds) is waited


def test_one_that_works_or_is_not_told_of_needs_no_waiting() -> None:
    assert not waited_for(None, 1.0)
    assert not waited_for(PartitionStatus(PartitionState.ACTIVE, max_resets=3), 1.0)
