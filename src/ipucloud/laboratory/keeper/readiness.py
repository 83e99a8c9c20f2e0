"""Readiness of started programs."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import httpx

PROBE_SECONDS = 2.0


class Readiness(Protocol):
    def reset(self) -> None:
        """Forget an earlier process; called before each start."""

    async def reached(self) -> bool:
        """Whether the program is ready."""


class ReadyFile:
    """A program is ready when it has written this file. `text`: what it wrote."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = ""

    def reset(self) -> None:
        self.path.unlink(missing_ok=True)

    async def reached(self) -> bool:
        try:
            self.text = self.path.read_text()
        except FileNotFoundError:
            return False
        return True


class Answers:
    """A program is ready when it responds at an address."""

    def __init__(self, url: str) -> None:
        self.url = url

    def reset(self) -> None:
        pass

    async def reached(self) -> bool:
        tls = httpx.URL(self.url).scheme == "https"  # else authorities would be loaded for each probe, and not used
        async with httpx.AsyncClient(trust_env=False, timeout=PROBE_SECONDS, verify=tls) as client:
            try:
                return (await client.get(self.url)).is_success
            except httpx.HTTPError:
                return False
