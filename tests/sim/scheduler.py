"""One task runs at a time, up to its next boundary; a seeded draw chooses the next.

A boundary is what a worker cannot be sure to get beyond: a call to the site, a statement, a commit, a sleep. Between
two of them a task runs alone and touches nothing outside itself, so to kill, freeze or overtake an actor at its
boundaries is to do it anywhere.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine, Iterator
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, TextIO

from tests.sim.loop import VirtualLoop

_running: ContextVar[Actor] = ContextVar("actor")


class Trace:
    """Takes one line per event; prints it too when given somewhere to."""

    def __init__(self, echo: TextIO | None = None) -> None:
        self._hash = blake2b(digest_size=8)
        self._echo = echo
        self.events = 0

    def add(self, now: float, actor: str, event: str) -> None:
        line = f"{now:.2f} {actor} {event}\n"
        self._hash.update(line.encode())
        self.events += 1
        if self._echo is not None:
            self._echo.write(line)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()


@dataclass(eq=False, slots=True)
class Parked:
    """A task that waits at a boundary; it may go on from `due` on. `ready`: asked before, when it is not only time."""

    actor: Actor
    what: str
    due: float
    future: asyncio.Future[None]
    background: bool
    ready: Callable[[], bool] | None = None


@dataclass(eq=False)
class Actor:
    """A process: its tasks, and where they stand."""

    name: str
    scheduler: Scheduler
    weight: int = 1
    alive: bool = True
    frozen_until: float = 0.0
    parked: list[Parked] = field(default_factory=list)
    tasks: dict[asyncio.Task[Any], None] = field(default_factory=dict)
    _rested: bool = False

    async def boundary(self, what: str) -> None:
        """Stand here until it is chosen, which may be never."""
        self._must_live()
        if self._rested:  # it was chosen for nothing but the end of a sleep
            self._rested = False
            return
        await self.park(what)

    async def sleep(self, seconds: float, what: str = "sleep", *, background: bool = True) -> None:
        """Stand here for at least so long."""
        self._must_live()
        await self.park(what, due=self.scheduler.now + max(seconds, 0.0), background=background)
        self._rested = background

    async def park(
        self, what: str, *, due: float | None = None, background: bool = False, ready: Callable[[], bool] | None = None
    ) -> None:
        scheduler = self.scheduler
        due = scheduler.now if due is None else due
        parked = Parked(self, what, due, scheduler.loop.create_future(), background, ready)
        self.parked.append(parked)
        try:
            await parked.future
        finally:
            self.parked.remove(parked)
        self._must_live()

    def start(self, coroutine: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        """A task of this actor; the tasks it makes are this actor's too."""
        context = Context()
        context.run(_running.set, self)
        task = self.scheduler.loop.create_task(coroutine, name=name, context=context)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self.scheduler.crashes.append(f"{task.get_name()} ended with {type(error).__name__}: {error}")

    def note(self, event: str) -> None:
        self.scheduler.trace.add(self.scheduler.now, self.name, event)

    def _must_live(self) -> None:
        if not self.alive:
            raise asyncio.CancelledError


class Scheduler:
    """Who runs now, and what time it is. `crashes`: tasks that ended with an exception, which none should."""

    def __init__(self, loop: VirtualLoop, draw: random.Random, trace: Trace) -> None:
        self.loop = loop
        self.draw = draw
        self.trace = trace
        self.actors: list[Actor] = []
        self.crashes: list[str] = []
        loop.set_task_factory(_factory)

    @property
    def now(self) -> float:
        return self.loop.now

    def join(self, actor: Actor) -> None:
        self.actors.append(actor)

    def leave(self, actor: Actor) -> None:
        if actor in self.actors:
            self.actors.remove(actor)

    def due(self) -> Iterator[Parked]:
        """Every task that may go on now."""
        now = self.now
        for actor in self.actors:
            if actor.frozen_until <= now:
                for parked in actor.parked:
                    if parked.due <= now and (parked.ready is None or parked.ready()):
                        yield parked

    def next_due(self) -> float | None:
        """When the next task may go on, if time alone brings that about."""
        times = [
            max(parked.due, actor.frozen_until)
            for actor in self.actors
            for parked in actor.parked
            if parked.ready is None or parked.ready()
        ]
        return min(times, default=None)

    def choose(self) -> Parked | None:
        """The one who goes on: first the actor by its weight, then one of its tasks."""
        candidates: dict[Actor, list[Parked]] = {}
        for parked in self.due():
            candidates.setdefault(parked.actor, []).append(parked)
        if not candidates:
            return None
        actors = list(candidates)
        actor = actors[0]
        if len(actors) > 1:
            actor = self.draw.choices(actors, [actor.weight for actor in actors])[0]
        tasks = candidates[actor]
        if len(tasks) == 1:
            return tasks[0]
        return self.draw.choices(tasks, [1 if task.background else 3 for task in tasks])[0]

    async def resume_parked(self, parked: Parked) -> None:
        """Let it run to its next boundary, and whoever it wakes in its own process."""
        self.trace.add(self.now, parked.actor.name, parked.what)
        parked.future.set_result(None)
        await self.loop.stillness()
        parked.actor._rested = False

    async def kill(self, actor: Actor) -> None:
        """The process is gone: nothing of it ever runs again."""
        actor.note("killed")
        actor.alive = False
        self.leave(actor)
        for task in list(actor.tasks):
            task.cancel()
        await self.loop.stillness()
        if actor.tasks:
            raise AssertionError(f"tasks outlived their process: {list(actor.tasks)}")


def _factory(loop: asyncio.AbstractEventLoop, coroutine: Any, context: Context | None = None) -> asyncio.Task[Any]:
    """A task that its actor knows of."""
    task: asyncio.Task[Any] = asyncio.Task(coroutine, loop=loop, context=context)
    owner = context.get(_running) if context is not None else _running.get(None)
    if owner is not None:
        owner.tasks[task] = None
        task.add_done_callback(lambda done: owner.tasks.pop(done, None))
    return task
