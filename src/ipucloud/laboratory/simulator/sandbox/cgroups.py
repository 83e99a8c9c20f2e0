"""Control groups: one for each sandbox, where its owner may make one.

Sandboxes then have equal shares of the processors, however many processes each has, and the kernel itself counts their
memory and processes. Where there are none, the limits of each process and `watch` remain.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType

_PREFIX = "ipucloud-sandbox-"
_SPARE = 64 << 20
"""Memory of the processes that run the sandbox."""


def join(name: str, *, memory: int, processes: int) -> None:
    """Move this process into a new group of this name, as far as there can be one."""
    limits = {"memory": str(memory + _SPARE), "pids": str(processes + 8)}
    for folder, files in places(limits):
        with suppress(OSError):
            for group in folder.glob(f"{_PREFIX}*"):
                _remove_if_abandoned(group)
            own = folder / name
            own.mkdir()
            for file, value in files.items():
                if value and (own / file).exists():
                    (own / file).write_text(value)
            (own / "cgroup.procs").write_text(str(os.getpid()))


def new_name() -> str:
    """A name that has this process, the owner, in it."""
    return f"{_PREFIX}{os.getpid()}-{secrets.token_hex(8)}"


def remove(name: str) -> None:
    """Remove what `join` made, after the end of all that was in it."""
    for folder, _ in places():
        with suppress(OSError):
            (folder / name).rmdir()


def places(limits: Mapping[str, str] = MappingProxyType({})) -> Iterator[tuple[Path, dict[str, str]]]:
    """Folders in which a group can be made, each with the files of its controllers and what is to be in them.

    Of the second version it is the folder beside this process's own group: one with processes has no groups below it.
    """
    try:
        mounts = [line.split() for line in Path("/proc/self/mounts").read_text().splitlines()]
        groups = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return
    for _, controllers, path in groups:
        names = set(controllers.split(",")) & {"cpu", "memory", "pids"}
        if not controllers:
            mount = next((each[1] for each in mounts if each[2] == "cgroup2"), None)
            folder = None if mount is None else Path(mount, os.path.dirname(path).lstrip("/"))
            if folder is not None and _enabled(folder):
                files = {"memory.max": limits.get("memory", ""), "pids.max": limits.get("pids", "")}
                yield folder, files
        elif names:
            mount = next((each[1] for each in mounts if each[2] == "cgroup" and names & set(each[3].split(","))), None)
            if mount is not None:
                files = {"memory.limit_in_bytes": limits.get("memory", ""), "pids.max": limits.get("pids", "")}
                yield Path(mount, path.lstrip("/")), files


def _remove_if_abandoned(group: Path) -> None:
    """Remove a group whose owner was killed; one in use stays anyway."""
    owner = group.name.removeprefix(_PREFIX).partition("-")[0]
    if not Path("/proc", owner).exists():
        with suppress(OSError):
            group.rmdir()


def _enabled(folder: Path) -> bool:
    """Whether groups of the second version have their share of the processors in this folder."""
    try:
        return "cpu" in (folder / "cgroup.subtree_control").read_text().split()
    except OSError:
        return False
