"""Nouns of the API: modules of routes, imported when a request asks for one of their paths.

A process that starts has been asked for none of them, and what they need takes longer to import than all the rest.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import cached_property
from importlib import import_module

from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match, Route
from starlette.types import Receive, Scope, Send

from ipucloud.kernel.errors import NOT_CONFIGURED, Problem
from ipucloud.parts import Part


class Noun:
    """The `routes` of a module in `api/v1`, or of an optional `part`.

    All are at or below `paths`, in which `*` is any one segment.
    """

    def __init__(self, module: str, *paths: str, part: Part | None = None) -> None:
        self.module = f"ipucloud.api.v1.{module}" if part is None else part.module(module)
        self.paths = paths
        self.absence = None if part is None or part.installed else part.absence
        self._routes: tuple[Route, ...] | None = None

    @cached_property
    def covers(self) -> Callable[[str], object]:
        """Whether one of its routes may be at a path."""
        paths = "|".join(path.replace("*", "[^/]+") for path in self.paths)
        return re.compile(rf"(?:{paths})(?![^/:])").match

    def routes(self) -> tuple[Route, ...]:
        """None for a part that is not installed."""
        if self._routes is None:
            self._routes = () if self.absence else tuple(import_module(self.module).routes)
        return self._routes

    async def imported(self) -> tuple[Route, ...]:
        """Its routes; the first time in a thread, so that other requests are answered meanwhile."""
        return await asyncio.to_thread(self.routes) if self._routes is None else self._routes


class Nouns(BaseRoute):
    """All of them. Their routes are matched in order."""

    def __init__(self, nouns: Iterable[Noun]) -> None:
        self._nouns = tuple(nouns)

    def __iter__(self) -> Iterator[Noun]:
        return iter(self._nouns)

    def routes(self, path: str | None = None) -> Iterator[Route]:
        """Every route, or those that may be at a path."""
        for noun in self._nouns:
            if path is None or noun.covers(path):
                yield from noun.routes()

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        known = scope["type"] == "http" and any(noun.covers(scope["path"]) for noun in self._nouns)
        return (Match.FULL if known else Match.NONE), {}

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        other: tuple[Route, Scope] | None = None
        async for route in self._at(scope["path"]):
            match, child = route.matches(scope)
            if match is Match.FULL:
                break
            if match is Match.PARTIAL and other is None:
                other = route, child  # of another method, which is what it says
        else:
            if other is None:
                raise HTTPException(404)
            route, child = other
        scope.update(child)
        await route.handle(scope, receive, send)

    async def _at(self, path: str) -> AsyncIterator[Route]:
        for noun in self._nouns:
            if noun.covers(path):
                if noun.absence:
                    raise Problem(NOT_CONFIGURED, noun.absence)
                for route in await noun.imported():
                    yield route


def nouns_of(part: Part) -> Iterator[Noun]:
    return (Noun(module, *paths, part=part) for module, paths in part.nouns.items())


def every_route(routes: Iterable[BaseRoute], path: str | None = None) -> Iterator[BaseRoute]:
    """Routes, those of nouns among them; with a `path` only such nouns' that may be there."""
    for route in routes:
        if isinstance(route, Nouns):
            yield from route.routes(path)
        else:
            yield route
