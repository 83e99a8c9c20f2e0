"""Files that commands write: checked before the service is asked, and never left half written."""

from __future__ import annotations

import os
from pathlib import Path

import typer


def writable(path: Path | None) -> Path | None:
    """For `callback=` of an option or argument: the path of a file that can be written. Raises BadParameter."""
    if path is None:
        return None
    folder = path.absolute().parent
    if path.is_dir():
        raise typer.BadParameter(f"{path} is a directory. Name a file in it.")
    if not folder.is_dir():
        raise typer.BadParameter(f"The directory {folder} does not exist.")
    if not os.access(folder if _is_replaced(path) else path, os.W_OK):
        raise typer.BadParameter(f"{path} cannot be written: permission denied.")
    return path


def write(path: Path, content: bytes) -> None:
    """Write the whole file or nothing; an existing one is replaced."""
    if not _is_replaced(path):
        path.write_bytes(content)
        return
    unfinished = path.with_name(f"{path.name}.part")
    unfinished.write_bytes(content)
    unfinished.replace(path)


def _is_replaced(path: Path) -> bool:
    """False for a device or a pipe."""
    return path.is_file() or not path.exists()
