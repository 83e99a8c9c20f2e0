"""A customer who asks for things in transactions of their own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import ErrorCode, Problem
from tests.support.openssh import KeyPair
from tests.support.world import SiteWorld


@dataclass
class Customer:
    """Of a project, with an SSH key in a folder."""

    world: SiteWorld
    pair: KeyPair
    folder: Path

    async def requested(self, effect: Callable[[AsyncConnection, Actor], Awaitable[Any]]) -> Any:
        async with self.world.database.begin() as connection:
            return await effect(connection, self.world.project.actor)

    async def refused(self, effect: Awaitable[Any]) -> ErrorCode:
        with pytest.raises(Problem) as problem:
            await effect
        return problem.value.kind
