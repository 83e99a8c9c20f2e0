"""Turns at the database: callers in rotation, and always a place for the next one."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

import pytest

from ipucloud.db.turns import CALLER, LATELY, Turns
from ipucloud.kernel.errors import RATE_LIMITED, UNAVAILABLE, Problem

pytestmark = pytest.mark.anyio


class Line:
    """Requests that hold their places until they are told to go; `order`: who got one, in that order."""

    def __init__(self, places: int, wait: float = 60.0) -> None:
        self.turns = Turns(places, wait)
        self.order: list[str] = []
        self._leaving: dict[str, list[asyncio.Event]] = {}

    async def ask(self, caller: str | None, times: int = 1) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self._use(caller)) for _ in range(times)]
        await settled()
        return tasks

    async def leave(self, caller: str) -> None:
        self._leaving[caller].pop(0).set()
        await settled()

    async def _use(self, caller: str | None) -> None:
        CALLER.set(caller)
        leaving = asyncio.Event()
        async with self.turns.turn():
            name = caller or "itself"
            self.order.append(name)
            self._leaving.setdefault(name, []).append(leaving)
            await leaving.wait()


async def settled() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


@asynccontextmanager
async def ended(*tasks: list[asyncio.Task[None]]) -> AsyncIterator[None]:
    yield
    for task in itertools.chain(*tasks):
        task.cancel()
    await asyncio.gather(*itertools.chain(*tasks), return_exceptions=True)


async def test_a_caller_with_many_requests_leaves_a_place_for_the_next() -> None:
    line = Line(5)
    greedy = await line.ask("greedy", 200)
    other = await line.ask("other")
    async with ended(greedy, other):
        assert line.order == ["greedy"] * 2 + ["other"]


async def test_who_waits_is_served_in_rotation(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    monkeypatch.setattr(loop, "time", partial(float, loop.time()))  # rests are over in the next round
    line = Line(2)
    first, second, third = [await line.ask(name, 3) for name in ("a", "b", "c")]
    async with ended(first, second, third):
        assert line.order == ["a", "b"]
        for name in ("a", "b", "c", "a"):
            await line.leave(name)
        assert line.order == ["a", "b", "c", "a", "b", "c"]


async def test_who_asks_for_much_rests_after_each_turn_while_others_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as the turn took; alone, or with nothing in line, nobody rests."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)
    line = Line(5)
    greedy, other = await line.ask("greedy", 6), await line.ask("other")
    async with ended(greedy, other):
        now += 0.25
        await line.leave("greedy")
        assert line.order == ["greedy"] * 2 + ["other"], "one place, which it still has"
        await line.leave("greedy")
        assert line.order == ["greedy"] * 2 + ["other"], "rests"
        again = await line.ask("greedy")
        now += 0.25
        await settled()
        assert line.order[3:] == ["greedy"]
        now += LATELY
        await line.leave("greedy")
        assert line.order[3:] == ["greedy"] * 3, "nobody else asks any more"
        await line.leave("other")
    async with ended(again):
        pass


async def test_a_second_place_is_given_as_soon_as_nobody_else_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However long the first turn lasts."""
    loop = asyncio.get_running_loop()
    now = loop.time()
    monkeypatch.setattr(loop, "time", lambda: now)
    line = Line(5)
    other, patient = await line.ask("other"), await line.ask("patient", 2)
    async with ended(other, patient):
        assert line.order == ["other", "patient"]
        now += LATELY
        await settled()
        assert line.order == ["other", "patient", "patient"]


async def test_the_process_itself_may_have_all_places() -> None:
    line = Line(5)
    turn = await line.ask(None, 6)
    async with ended(turn):
        assert line.order == ["itself"] * 5


async def test_one_place_serves_everybody() -> None:
    line = Line(1)
    async with ended(await line.ask("a", 2)):
        await line.leave("a")
        assert line.order == ["a", "a"]


async def test_who_waits_too_long_is_told_so_and_the_next_is_served() -> None:
    line = Line(1, wait=0.0)
    holding = await line.ask("a")
    [late] = await line.ask("b")
    with pytest.raises(Problem, match="database"):
        await late
    line.turns._wait = 60.0
    waiting = await line.ask("c")
    async with ended(holding, waiting):
        await line.leave("a")
        assert line.order == ["a", "c"]


async def test_a_caller_who_leaves_the_line_takes_no_place() -> None:
    line = Line(1)
    holding, [gone], waiting = await line.ask("a"), await line.ask("b"), await line.ask("c")
    async with ended(holding, waiting):
        gone.cancel()
        await settled()
        await line.leave("a")
        assert line.order == ["a", "c"]


async def test_a_turn_that_comes_as_its_caller_leaves_is_passed_on() -> None:
    line = Line(1)
    _, [gone], waiting = await line.ask("a"), await line.ask("b"), await line.ask("c")
    async with ended(waiting):
        line._leaving["a"].pop(0).set()
        while "b" in line.turns._waiting:
            await asyncio.sleep(0)
        gone.cancel()
        await settled()
        assert line.order == ["a", "c"]


async def test_a_place_that_is_given_back_as_its_next_caller_leaves_is_passed_on() -> None:
    """The first in line was cancelled and has not run since. Whoever gives the place back has no error of that."""
    line = Line(1)
    [holding], [gone], waiting = await line.ask("a"), await line.ask("b"), await line.ask("c")
    async with ended(waiting):
        line._leaving["a"].pop(0).set()
        gone.cancel()
        await settled()
        await holding
        assert line.order == ["a", "c"]


async def test_a_caller_has_no_more_places_than_it_may_and_is_told_so() -> None:
    """Behind itself it waits longer than others wait for it; the process itself may have all places."""
    line = Line(5, wait=0.01)
    greedy = await line.ask("greedy", 3)
    assert (line.order, line.turns.waiting) == (["greedy", "greedy"], 1)
    own = await line.ask(None, 3)
    other = await line.ask("other")
    async with ended(greedy, own, other):
        with pytest.raises(Problem) as refused:
            await other[0]
        assert refused.value.kind is UNAVAILABLE
        with pytest.raises(Problem) as refused:
            await greedy[2]
        assert (refused.value.kind, refused.value.headers) == (RATE_LIMITED, {"Retry-After": "2"})
        assert line.turns.waiting == 0
