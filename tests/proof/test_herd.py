"""Everything is due at once when a site comes back: the workers keep their pace, and nothing is lost to the rush."""

from __future__ import annotations

import asyncio
import time
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import AsyncExitStack, contextmanager
from pathlib import Path

import pytest
from prometheus_client import REGISTRY

from ipucloud.kernel.failpoints import arm
from ipucloud.site.pace import BURST_SECONDS
from tests.proof.workers import worker
from tests.support.postgres import Database as Scratch
from tests.support.site import running_site
from tests.support.world import open_world

pytestmark = pytest.mark.anyio

WINDOW = 5.0


@contextmanager
def calls_to_the_site() -> Iterator[list[float]]:
    """When this process called the site."""
    at: list[float] = []
    arm(lambda point: at.append(time.monotonic()) if point.startswith("site.before") else None)
    try:
        yield at
    finally:
        arm(None)


def most_in_a_window(at: Sequence[float]) -> int:
    return max(index - bisect_left(at, instant - WINDOW) + 1 for index, instant in enumerate(at))


def stale_results() -> float:
    return REGISTRY.get_sample_value("stale_writes_rejected_total") or 0.0


async def test_a_site_that_comes_back_is_not_run_over(
    database: Scratch, tmp_path: Path, full: bool, figures: Callable[..., None]
) -> None:
    clusters, workers, rate = (60, 8, 2.5) if full else (12, 2, 20.0)
    with running_site(tmp_path / "site", machines=64) as site:
        async with open_world(database, site) as world, AsyncExitStack() as stack:
            made = [await world.create(f"c{number}", "m2000-pod4") for number in range(clusters)]
            await asyncio.to_thread(site.stop)
            stale = stale_results()
            for _ in range(workers):
                await stack.enter_async_context(worker(world, site_calls_per_second=rate))
            with calls_to_the_site() as at:
                await asyncio.to_thread(site.start)
                await stack.enter_async_context(asyncio.timeout(600 if full else 120))
                while await world.value("SELECT count(*) FROM operations WHERE finished_at IS NULL"):
                    await asyncio.sleep(0.1)
            assert {(await world.finished(each.operation)).state for each in made} == {"succeeded"}
            most = most_in_a_window(sorted(at))
            # A machine that stops for a moment lets late calls catch up with the early ones: twice is the most.
            assert most <= 2 * workers * rate * (WINDOW + BURST_SECONDS)
            assert stale_results() == stale, "a lease was lost to waiting"
            figures(clusters=clusters, calls=len(at), allowed=workers * rate * WINDOW, most_in_5_seconds=most)
