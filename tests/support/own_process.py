"""Calls made in a process of their own, for what takes hundreds of megabytes: processes that run tests stay small.

with own_process() as call:
    call(render, document)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from typing import ParamSpec, Protocol, TypeVar

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")


class Call(Protocol):
    def __call__(
        self, function: Callable[Arguments, Answer], /, *args: Arguments.args, **named: Arguments.kwargs
    ) -> Answer: ...


@contextmanager
def own_process() -> Iterator[Call]:
    """One process for all calls, started by the first. It knows functions of modules only."""
    with ProcessPoolExecutor(1, get_context("spawn")) as process:

        def call(function: Callable[Arguments, Answer], /, *args: Arguments.args, **named: Arguments.kwargs) -> Answer:
            return process.submit(function, *args, **named).result()

        yield call
