"""Which operating-system account the server runs under.

PostgreSQL refuses to run as root. Started by root it becomes the owner of the data directory, `nobody` for a
new one, and works in place: no directory above its own is opened up or handed over.
"""

import os
import pwd
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError

UNPRIVILEGED = "nobody"
PROBE_SECONDS = 20
PROBES = 3  # a probe without a result proves nothing and is repeated


@dataclass(frozen=True)
class Account:
    """The user and group to change to before PostgreSQL starts; None: stay who we are."""

    uid: int | None = None
    gid: int | None = None

    def hand_over(self, path: Path) -> None:
        """Make this account the owner of a directory that this package created."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid, follow_symlinks=False)

    def can_search(self, directory: Path) -> bool:
        """Whether this account can reach the files of an existing directory.

        Raises:
            EmbeddedPostgresError: the probe gave no result.
        """
        if self.uid is None:
            return os.access(directory, os.X_OK)
        return self._succeeds(["/bin/sh", "-c", 'cd -- "$1"', "sh", str(directory)])

    def can_run(self, program: Path) -> bool:
        """Whether this account can execute a program that supports `--version`.

        Raises:
            EmbeddedPostgresError: the probe gave no result.
        """
        return self._succeeds([str(program), "--version"])

    def _succeeds(self, command: Sequence[str]) -> bool:
        for _ in range(PROBES):
            try:
                done = self._run(command)
            except (PermissionError, FileNotFoundError):
                return False
            except (OSError, subprocess.TimeoutExpired) as error:
                reason = str(error)
            else:
                if done.returncode >= 0:
                    return done.returncode == 0
                reason = f"it was ended by signal {-done.returncode}"
        raise EmbeddedPostgresError(
            f"Whether PostgreSQL can work as user {self.uid} could not be found out: {reason}. The machine may be "
            "short of processes or memory. Start again when it is less busy."
        )

    def _run(self, command: Sequence[str]) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command,
            check=False,
            capture_output=True,
            stdin=subprocess.DEVNULL,
            cwd="/",
            timeout=PROBE_SECONDS,
            user=self.uid,
            group=self.gid,
            extra_groups=None if self.uid is None else [],
        )


def account_for(data: Path) -> Account:
    """Choose the account to run the server of this data directory under.

    Raises:
        EmbeddedPostgresError: the directory is another user's, the user of this process has no name, or this process
            is root and may not become anyone else.
    """
    owner = data.stat() if data.exists() else None
    me = os.geteuid()
    if me != 0:
        if owner is not None and owner.st_uid != me:
            raise EmbeddedPostgresError(
                f"The database in {data} belongs to user {owner.st_uid} and this process runs as user {me}. "
                "Start ipucloud as that user, or choose another data directory."
            )
        _require_name(me)
        return Account()
    account = Account(owner.st_uid, owner.st_gid) if owner is not None and owner.st_uid != 0 else _unprivileged()
    if not account.can_search(Path("/")):
        raise EmbeddedPostgresError(
            f"PostgreSQL does not run as root, and this process is not permitted to become user {account.uid}. "
            "Start ipucloud as an ordinary user."
        )
    return account


def _require_name(user: int) -> None:
    """PostgreSQL looks up who starts it."""
    try:
        pwd.getpwuid(user)
    except KeyError:
        raise EmbeddedPostgresError(
            f"User {user} has no name on this system, and PostgreSQL starts under none without. Start ipucloud as a "
            "user of /etc/passwd, in a container with `--user NAME`, or have root add the line "
            f"`ipucloud:x:{user}:{os.getegid()}::/tmp:/bin/sh` to that file."
        ) from None


def _unprivileged() -> Account:
    try:
        entry = pwd.getpwnam(UNPRIVILEGED)
    except KeyError:
        raise EmbeddedPostgresError(
            f"PostgreSQL does not run as root, and this system has no account named {UNPRIVILEGED} to run it "
            "under. Start ipucloud as an ordinary user."
        ) from None
    return Account(entry.pw_uid, entry.pw_gid)
