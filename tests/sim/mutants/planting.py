"""How a bug is planted: a part of the product is replaced while a mutant is in force, never in the product's files.

A module of this folder has its mutants as variables, whose names are theirs.
"""

from __future__ import annotations

import copy
import dataclasses
import functools
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from types import ModuleType
from typing import Any, Self
from unittest import mock

import sqlalchemy as sa

from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.db.rows import Query
from ipucloud.operations.kind import Kind
from ipucloud.operations.results import StepResult
from tests.sim import swarm

Plant = Callable[[ExitStack], None]


@dataclasses.dataclass
class Mutant:
    """A bug to plant. `breaks` says what is wrong then; the methods say what is replaced, and give the mutant itself.

    `directed`: the tests that must fail, when the simulation is not what finds it. `schema`: statements that weaken the
    database for it. `weather`: values of `tests.sim.swarm`, such as that every history has what it breaks, so that few
    are needed.
    """

    breaks: str
    directed: str | None = None
    schema: Sequence[str] = ()
    weather: Mapping[str, object] = dataclasses.field(default_factory=dict)
    name: str = ""
    _plants: list[Plant] = dataclasses.field(default_factory=list)

    @contextmanager
    def in_force(self) -> Iterator[None]:
        with ExitStack() as stack:
            self.plant(stack)
            yield

    def plant(self, stack: ExitStack) -> None:
        for name, value in self.weather.items():
            replace(stack, swarm, name, value)
        for plant in self._plants:
            plant(stack)

    def does(self, plant: Plant) -> Self:
        self._plants.append(plant)
        return self

    def replace(self, owner: object, name: str, value: object) -> Self:
        return self.does(lambda stack: replace(stack, owner, name, value))

    def wraps(self, owner: object, name: str) -> Callable[[Callable[..., Any]], Mutant]:
        """Decorates what takes a function's or method's place; its first argument is the honest one."""

        def planting(wrapper: Callable[..., Any]) -> Mutant:
            def plant(stack: ExitStack) -> None:
                honest = getattr(owner, name)
                planted = functools.wraps(honest)(lambda *args, **named: wrapper(honest, *args, **named))
                replace(stack, owner, name, planted)

            return self.does(plant)

        return planting

    def rewrite(self, module: ModuleType, name: str, *changes: tuple[str, str]) -> Self:
        """Replace parts of a SQL statement; each must be there, so that a mutant cannot outlive what it breaks."""
        return self.does(lambda stack: _rewrite(stack, module, name, changes))

    def step(self, name: str, **changes: Any) -> Self:
        """Declare a step otherwise in every kind of operation on clusters that has it."""

        def plant(stack: ExitStack) -> None:
            for kind in CLUSTER_OPERATIONS:
                steps = {
                    key: dataclasses.replace(each, **changes) for key, each in kind._by_name.items() if key[1] == name
                }
                stack.enter_context(mock.patch.dict(kind._by_name, steps))

        return self.does(plant)

    def acts(self, step: str) -> Callable[[Callable[..., Awaitable[StepResult]]], Mutant]:
        """Decorates what a step does instead."""
        return lambda act: self.step(step, act=act)

    def declare(self, kind: Kind[Any, Any], **changes: object) -> Self:
        """Declare a kind of operation otherwise; declarations are frozen, so this goes past them."""

        def plant(stack: ExitStack) -> None:
            for name, value in changes.items():
                stack.callback(object.__setattr__, kind, name, getattr(kind, name))
                object.__setattr__(kind, name, value)

        return self.does(plant)


def answers(value: object) -> Callable[..., Awaitable[Any]]:
    """A function that does nothing but answer this."""

    async def answer(*_: object, **__: object) -> object:
        return value

    return answer


def replace(stack: ExitStack, owner: object, name: str, value: object) -> None:
    stack.enter_context(mock.patch.object(owner, name, value))


def _rewrite(stack: ExitStack, module: ModuleType, name: str, changes: Sequence[tuple[str, str]]) -> None:
    original: sa.TextClause | Query[Any] = getattr(module, name)
    text = (original.statement if isinstance(original, Query) else original).text
    for before, after in changes:
        if before not in text:
            raise AssertionError(f"{module.__name__}.{name} has no {before!r}: the mutant needs a new place")
        text = text.replace(before, after)
    if isinstance(original, Query):
        replace(stack, module, name, Query(text, original.row))
        return
    statement = copy.copy(original)
    statement.text = text
    replace(stack, module, name, statement)
