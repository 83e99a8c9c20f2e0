"""Keeps programs running: restarts them when they end, and ends them with their keeper."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from itertools import count
from typing import NoReturn

from ipucloud.cli.service.failures import CommandError
from ipucloud.laboratory.keeper.child import Program, end, ending, start

READY_POLL_SECONDS = 0.05

Say = Callable[[str], None]


class ChildError(CommandError):
    """A program cannot be kept running; the message has its name, how it ended and its log."""


@dataclass(frozen=True)
class RestartPolicy:
    """When an ended program is restarted, and when to give up. Durations are in seconds."""

    first_pause: float = 0.5
    longest_pause: float = 30.0
    """Pauses double from the first to the longest."""
    slow: float = 20.0
    """A start that takes longer is reported."""
    settled: float = 60.0
    """After being ready for this long, its next end counts as the first one."""
    first_starts: int = 5
    """Maximum consecutive starts of a program that was never ready: probably its settings are wrong."""
    starts: int = 10
    """Maximum consecutive starts otherwise, which take two minutes."""

    def pause(self, ends: int) -> float:
        """The pause after this many consecutive ends."""
        doubled: float = self.first_pause * 2 ** (ends - 1)
        return min(doubled, self.longest_pause)


POLICY = RestartPolicy()


@asynccontextmanager
async def keeping(report: Say, policy: RestartPolicy = POLICY) -> AsyncIterator[Keeper]:
    """Programs run within the block, and end after it in reverse order.

    If one cannot be kept running, the block is cancelled. Raises ChildError after the others have ended.
    """
    keeper = Keeper(report, policy)
    try:
        async with keeper.programs:
            yield keeper
    finally:
        keeper.raise_failure()


class Keeper:
    """Keeps programs for the task that created it, and cancels the task on failure."""

    def __init__(self, report: Say, policy: RestartPolicy) -> None:
        self.programs = AsyncExitStack()
        self._report = report
        self._policy = policy
        self._owner = asyncio.current_task()
        self._failure: BaseException | None = None

    def keep(self, program: Program) -> Kept:
        """Run the program from now on."""
        kept = Kept(program, self._report, self._policy, self._failed)
        self.programs.push_async_callback(kept.close)
        return kept

    def raise_failure(self) -> None:
        """Raise the error of a program instead of the cancellation that it caused."""
        if self._failure is not None:
            if self._owner is not None:
                self._owner.uncancel()
            raise self._failure

    def _failed(self, task: asyncio.Task[NoReturn]) -> None:
        if not task.cancelled() and self._failure is None:
            self._failure = task.exception()
            if self._owner is not None:
                self._owner.cancel()


class Kept:
    """A program that is restarted whenever it ends."""

    def __init__(
        self, program: Program, report: Say, policy: RestartPolicy, failed: Callable[[asyncio.Task[NoReturn]], None]
    ) -> None:
        self.name = program.name
        self._program = program
        self._report = report
        self._policy = policy
        self._process: asyncio.subprocess.Process | None = None
        self._ready = asyncio.Event()
        self._ready_since: float | None = None
        self._keeping = asyncio.create_task(self._keep(), name=f"keep {program.name}")
        self._keeping.add_done_callback(failed)

    async def ready(self) -> None:
        """Wait until the program is ready. It may end again at any time."""
        await self._ready.wait()

    async def close(self) -> None:
        """End the program without restarting it."""
        self._keeping.cancel()
        try:
            await asyncio.wait({self._keeping})
        finally:
            if self._process is not None:
                await end(self._process, self._program.grace_seconds)

    async def _keep(self) -> NoReturn:
        ends, limit = 0, self._policy.first_starts
        for started in count():
            how = await self._run(again=started > 0)
            if self._ready_since is not None:
                limit = self._policy.starts
                if time.monotonic() - self._ready_since >= self._policy.settled:
                    ends = 0
            ends += 1
            if ends >= limit:
                raise ChildError(
                    f"{self._program.name} cannot be kept running. It was started {ends} times in a row; the last time "
                    f"it {how}. Everything else was stopped. Its log is {self._program.log}. Remove the cause, then "
                    "run the command again."
                )
            pause = self._policy.pause(ends)
            self._report(f"{self._program.name} {how}; restarting it in {pause:g} s.")
            await asyncio.sleep(pause)
        raise AssertionError("a count does not end")

    async def _run(self, *, again: bool) -> str:
        """Run the program once; returns how it ended."""
        program = self._program
        self._ready_since = None
        program.ready.reset()
        try:
            self._process = await start(program)
        except OSError as error:
            return f"could not be started ({error})"
        slow_notice = asyncio.get_running_loop().call_later(
            self._policy.slow, self._report, f"{program.name} is slow to start. Its log is {program.log}."
        )
        try:
            async with asyncio.timeout(program.ready_seconds):
                ready = await self._becomes_ready(self._process)
        except TimeoutError:
            await end(self._process, program.grace_seconds)
            return f"was not ready within {program.ready_seconds:g} s"
        finally:
            slow_notice.cancel()
        if ready:
            self._ready_since = time.monotonic()
            self._ready.set()
            if again:
                self._report(f"{program.name} is running again.")
        status = await self._process.wait()
        self._ready.clear()
        return ending(program, status)

    async def _becomes_ready(self, process: asyncio.subprocess.Process) -> bool:
        """Wait until the process is ready or has ended."""
        while process.returncode is None:
            if await self._program.ready.reached():
                return True
            await asyncio.sleep(READY_POLL_SECONDS)
        return False
