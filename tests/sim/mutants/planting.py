"""How a bug is planted: a part of the product is replaced while a mutant is in force, never in the product's files."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any
from unittest import mock

import sqlalchemy as sa

from ipucloud.db.rows import Query
from ipucloud.operations.kind import Kind


@dataclass(frozen=True)
class Mutant:
    """A bug to plant. `breaks` says what is wrong then; `plant` makes the replacements.

    `schema`: statements that weaken the database for it. `directed`: the tests that must fail, when the simulation is
    not what finds it.
    """

    name: str
    breaks: str
    plant: Callable[[ExitStack], None]
    schema: Sequence[str] = ()
    directed: str | None = None

    @contextmanager
    def in_force(self) -> Iterator[None]:
        with ExitStack() as stack:
            self.plant(stack)
            yield


MUTANTS: dict[str, Mutant] = {}
"""Those of the modules that were imported; `tests.sim.mutants.all` imports every one."""

Plant = Callable[[ExitStack], None]


def mutant(breaks: str, *, schema: Sequence[str] = (), directed: str | None = None) -> Callable[[Plant], Plant]:
    """Registers what plants a bug, under its own name."""

    def register(plant: Plant) -> Plant:
        MUTANTS[plant.__name__] = Mutant(plant.__name__, breaks, plant, schema, directed)
        return plant

    return register


def replace(stack: ExitStack, owner: object, name: str, value: object) -> None:
    stack.enter_context(mock.patch.object(owner, name, value))


def declare(stack: ExitStack, kind: Kind[Any, Any], **changes: object) -> None:
    """Declare a kind of operation otherwise; declarations are frozen, so this goes past them."""
    for name, value in changes.items():
        stack.callback(object.__setattr__, kind, name, getattr(kind, name))
        object.__setattr__(kind, name, value)


def rewrite(stack: ExitStack, module: ModuleType, name: str, *changes: tuple[str, str]) -> None:
    """Replace parts of a SQL statement; each must be there, so that a mutant cannot outlive what it breaks."""
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
