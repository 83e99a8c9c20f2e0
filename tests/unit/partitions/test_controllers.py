"""A controller that does not answer takes no more of a worker than one pass at a time, ever later."""

from __future__ import annotations

import random
from datetime import UTC, datetime

from ipucloud.partitions.controllers import MAX_CONCURRENT, Controllers
from ipucloud.site.ports import VipuAddress

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
