"""The container image that a job or service runs in."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class RegistryLogin:
    """A login at the registry of an image."""

    username: str
    password: str = field(repr=False)

    def body(self) -> dict[str, str]:
        return {"username": self.username, "password": self.password}
