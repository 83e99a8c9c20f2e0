"""The caller's files that the commands read and write: configurations."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol


class Files(Protocol):
    """Files by their paths as the caller writes them, `~` included. Every method may raise OSError."""

    def read(self, path: str) -> bytes:
        """The file's content."""

    def write(self, path: str, content: bytes) -> None:
        """Put a file there that only the caller can read; its folder is made."""

    def names(self, folder: str) -> Sequence[str]:
        """What is in a folder; nothing if it does not exist."""

    def remove(self, path: str) -> None:
        """Remove a file."""


class LocalFiles:
    """Files of this machine."""

    def read(self, path: str) -> bytes:
        return Path(path).expanduser().read_bytes()

    def write(self, path: str, content: bytes) -> None:
        file = Path(path).expanduser()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch(mode=0o600)
        file.write_bytes(content)

    def names(self, folder: str) -> Sequence[str]:
        place = Path(folder).expanduser()
        return sorted(file.name for file in place.iterdir()) if place.is_dir() else []

    def remove(self, path: str) -> None:
        Path(path).expanduser().unlink()
