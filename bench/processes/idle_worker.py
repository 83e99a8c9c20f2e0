"""A worker that finds every object as it should be, and reports when it reconciled each.

`python -m bench.processes.idle_worker URL`: says `ready`, works until SIGTERM, then says a JSON object of monotonic
nanoseconds by key.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import time

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.statements import Statements
from ipucloud.kernel.clock import SystemClock
from ipucloud.process import logs
from ipucloud.reconcile.engine import Engine
from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.reconciler import WorkItem


class PassRecorder:
    """Keeps the instant of each pass."""

    kind = "bench"

    def __init__(self) -> None:
        self.reconciled: dict[str, int] = {}

    async def load(self, connection: Statements, item: WorkItem) -> Outcome:
        self.reconciled[item.key] = time.monotonic_ns()
        return Done()

    async def act(self, item: WorkItem, inputs: None) -> None:
        raise AssertionError("there is nothing to act on")

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: None, result: None) -> Outcome:
        raise AssertionError("there is nothing to apply")


async def main(url: str) -> None:
    database = Database(url, pool_size=8)
    recorder = PassRecorder()
    engine = Engine(database, [recorder], clock=SystemClock())
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, engine.stop)
    running = asyncio.create_task(engine.run())
    while not engine.healthy:  # noqa: ASYNC110  # the engine has no event for it
        await asyncio.sleep(0.01)
    print("ready", flush=True)
    await running
    await database.close()
    print(json.dumps(recorder.reconciled), flush=True)


if __name__ == "__main__":
    logs.configure("json", "warning")
    asyncio.run(main(sys.argv[1]))
