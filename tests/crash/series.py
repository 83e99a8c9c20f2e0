"""Long runs: many trials in one process, and a fresh lab after each failure."""

from __future__ import annotations

import json
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from tests.crash.lab import Lab, open_lab
from tests.crash.victims import template_process
from tests.support.postgres import TestServer
from tests.support.site import SECURE, running_site

Trial = TypeVar("Trial")


@dataclass
class Tally:
    """What a run has seen. `notes` counts whatever its kind of trial thinks worth counting."""

    trials: int = 0
    kills: int = 0
    seconds: float = 0.0
    notes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Tally) -> None:
        self.trials += other.trials
        self.kills += other.kills
        self.seconds = max(self.seconds, other.seconds)
        self.notes += other.notes
        self.failures += other.failures

    def document(self) -> str:
        return json.dumps(vars(self))

    @classmethod
    def of(cls, document: str) -> Tally:
        values = json.loads(document)
        return cls(**(values | {"notes": Counter(values["notes"])}))


@asynccontextmanager
async def fresh_lab(server: TestServer) -> AsyncIterator[Lab]:
    """A lab of its own: database, site, warm process and folder."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ipucloud-crash-")))
        site = stack.enter_context(running_site(folder / "site", machines=16, options=SECURE))
        database = stack.enter_context(server.fresh_database())
        template = await stack.enter_async_context(template_process())
        yield await stack.enter_async_context(open_lab(database, site, template, folder))


async def run(
    server: TestServer,
    trials: Callable[[Lab], Awaitable[Sequence[Trial]]],
    attempt: Callable[[Lab, Trial, Tally], Awaitable[Sequence[str]]],
) -> Tally:
    """Attempt every trial; `attempt` counts into the tally and answers what was wrong."""
    tally = Tally()
    begun = time.monotonic()
    async with fresh_lab(server) as lab:
        remaining = list(await trials(lab))
        await lab.clear()
    while remaining:
        try:
            async with fresh_lab(server) as lab:
                while remaining and await _one(lab, remaining.pop(0), attempt, tally):
                    pass
                await lab.clear()
        except Exception:  # noqa: BLE001  # a lab that cannot be left in order is a finding too
            tally.failures.append(f"leaving the lab: {traceback.format_exc()}")
    tally.seconds = time.monotonic() - begun
    return tally


async def _one(
    lab: Lab, trial: Trial, attempt: Callable[[Lab, Trial, Tally], Awaitable[Sequence[str]]], tally: Tally
) -> bool:
    """Whether the lab is fit for another trial."""
    try:
        wrong = list(await attempt(lab, trial, tally))
    except Exception:  # noqa: BLE001  # whatever went wrong is the run's finding, and must not end it
        wrong = [traceback.format_exc()]
    tally.trials += 1
    tally.failures += [f"{trial}: {sentence}" for sentence in wrong]
    return not wrong
