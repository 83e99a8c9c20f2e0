"""The worker as it is, with a clock around what it does for clusters.

`python -m bench.processes.timed_worker`: works until SIGTERM, then says a JSON object: for each step its passes
and the seconds spent in `load`, `act`, `apply` and `commit` (from the end of `apply` until the next pass over the same
cluster under the same lease begins: writing the fence, committing, getting a connection).
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from typing import Any

from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.reconciler import ClusterReconciler
from ipucloud.config import Settings
from ipucloud.reconcile.reconciler import WorkItem
from ipucloud.worker.main import run

Phase = Callable[..., Awaitable[Any]]

spent: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
applied: dict[tuple[str, int], tuple[str, float]] = {}
"""By cluster and fence: the step applied last, and when."""


def timed(load: Phase) -> Phase:
    async def timed_load(self: ClusterReconciler, connection: Any, item: WorkItem) -> Any:
        started = time.perf_counter()
        step, ended = applied.pop((item.key, item.fence), ("", started))
        if step:
            spent[step]["commit"] += started - ended
        inputs = await load(self, connection, item)
        if isinstance(inputs, ClusterInputs):
            spent[inputs.operation.step.name]["passes"] += 1
            spent[inputs.operation.step.name]["load"] += time.perf_counter() - started
        return inputs

    return timed_load


def timed_step(phase: Phase, name: str, inputs_at: int) -> Phase:
    async def timed_phase(*arguments: Any) -> Any:
        step = arguments[inputs_at].operation.step.name
        started = time.perf_counter()
        try:
            return await phase(*arguments)
        finally:
            ended = time.perf_counter()
            spent[step][name] += ended - started
            if name == "apply":
                item: WorkItem = arguments[inputs_at - 1]
                applied[item.key, item.fence] = step, ended

    return timed_phase


def main() -> None:
    for name, wrapped in (
        ("load", timed(ClusterReconciler.load)),
        ("act", timed_step(ClusterReconciler.act, "act", inputs_at=2)),
        ("apply", timed_step(ClusterReconciler.apply, "apply", inputs_at=3)),
    ):
        setattr(ClusterReconciler, name, wrapped)
    run(Settings())
    print(json.dumps(spent), flush=True)


if __name__ == "__main__":
    main()
