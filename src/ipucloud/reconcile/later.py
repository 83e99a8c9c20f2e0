"""What is imported when there is work for it.

A worker that starts knows what there may be to do, and has been asked for nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import cached_property
from pkgutil import resolve_name
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.statements import Statements
from ipucloud.reconcile.outcomes import Outcome
from ipucloud.reconcile.reconciler import Reconciler, WorkItem


class Later:
    """The reconciler of a kind, made with the first work item."""

    def __init__(self, kind: str, make: Callable[[], Reconciler[Any, Any]]) -> None:
        self.kind = kind
        self._make = make

    @cached_property
    def reconciler(self) -> Reconciler[Any, Any]:
        """Raises TypeError if it is of another kind."""
        reconciler = self._make()
        if reconciler.kind != self.kind:
            raise TypeError(f"what is made for {self.kind} is for {reconciler.kind}")
        return reconciler

    async def load(self, connection: Statements, item: WorkItem) -> Any | Outcome:
        return await self.reconciler.load(connection, item)

    async def act(self, item: WorkItem, inputs: Any) -> Any:
        return await self.reconciler.act(item, inputs)

    async def apply(self, connection: AsyncConnection, item: WorkItem, inputs: Any, result: Any) -> Outcome:
        return await self.reconciler.apply(connection, item, inputs, result)


class LaterTask:
    """What a periodic task runs: the function `package.module:name`, with these arguments beside `database`."""

    def __init__(self, name: str, **arguments: object) -> None:
        self._name = name
        self.arguments = arguments

    @cached_property
    def function(self) -> Callable[..., Awaitable[None]]:
        function: Callable[..., Awaitable[None]] = resolve_name(self._name)
        return function

    async def __call__(self, database: Database) -> None:
        await self.function(database=database, **self.arguments)
