"""A worker process that takes a work item of kind `test`, reports it, and never ends its pass."""

from __future__ import annotations

import asyncio
import sys

from ipucloud.reconcile.outcomes import Done, Outcome
from ipucloud.reconcile.reconciler import WorkItem
from tests.worker.engines import Bench, Scripted


async def main(url: str) -> None:
    async def act(item: WorkItem) -> Outcome:
        print("running", file=sys.stderr, flush=True)
        await asyncio.Event().wait()
        return Done()

    async with Bench(url).engine(Scripted(act)):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
