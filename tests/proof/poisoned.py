"""A worker whose work items do what their keys say: `python -c` it with a database URL in its arguments."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

import structlog

from ipucloud.db.engine import Database
from ipucloud.kernel.clock import SystemClock
from ipucloud.reconcile.engine import Engine, EngineSettings
from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.reconciler import WorkItem
from tests.worker.engines import NoJitter, Scripted

PROGRAM = "from tests.proof.poisoned import main; main()"


async def _act(item: WorkItem) -> Outcome:
    if item.key.startswith("dies"):
        os.kill(os.getpid(), signal.SIGKILL)
    if item.key.startswith("raises"):
        raise ValueError("out of order")
    return Done()


async def _run(url: str) -> None:
    database = Database(url, pool_size=4)
    settings = EngineSettings(slots=32, lease=30.0, poll=0.05, reap=0.05, drain=5.0)
    engine = Engine(database, [Scripted(_act)], clock=SystemClock(), settings=settings, draw=NoJitter())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, engine.stop)
    await engine.run()
    await database.close()


def main() -> None:
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(50))
    asyncio.run(_run(sys.argv[1]))
