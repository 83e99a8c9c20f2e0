"""Customers: what they ask for in transactions of their own, and their logins."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.resources.resource import Resources
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import Problem
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.waiting import until
from tests.support.world import SiteWorld


@dataclass(frozen=True)
class Logins:
    """At servers, by the ordinary OpenSSH client, with one of the project's keys."""

    pairs: Mapping[str, KeyPair]
    folder: Path

    def to(self, server: Any, key: str = "ours") -> OpenSsh:
        """At a server, by its row."""
        return OpenSsh.to(server, self.pairs[key], self.folder)

    async def run(self, server: Any, command: str, key: str = "ours") -> str:
        """What a command prints; it has to succeed."""
        return await self.to(server, key).output(command)


@dataclass
class Customer:
    """Who has volumes, snapshots or addresses: `kept`."""

    world: SiteWorld
    logins: Logins
    kept: Resources[Any]

    async def requested(self, effect: Callable[[AsyncConnection, Actor], Awaitable[Any]]) -> Any:
        async with self.world.database.begin() as connection:
            return await effect(connection, self.world.project.actor)

    async def state(self, key: UUID, state: str, table: str | None = None) -> None:
        """Return once it is in this state."""
        reached = f"SELECT state = :state FROM {table or self.kept.nouns} WHERE id = :id"  # noqa: S608
        await until(lambda: self.world.value(reached, id=key, state=state), f"it is {state}")

    async def delete(self, key: UUID) -> None:
        await self.requested(lambda on, by: self.kept.delete(on, by, key))

    async def events(self) -> list[str]:
        query = "SELECT type FROM events WHERE subject_type = :noun ORDER BY id"
        return await self.world.column(query, noun=self.kept.noun)


async def refused(effect: Awaitable[Any]) -> Problem:
    """Why a request is refused, which it has to be."""
    with pytest.raises(Problem) as problem:
        await effect
    return problem.value
