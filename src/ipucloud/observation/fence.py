"""The right of one worker to write what it read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeAlias

from sqlalchemy.ext.asyncio import AsyncConnection

Fence: TypeAlias = Callable[[AsyncConnection], Awaitable[None]]
"""Raises when the right to write has passed to another worker; until the transaction ends, it does not pass."""
