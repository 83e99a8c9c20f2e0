"""The ordinary OpenSSH client, as a customer uses it."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import sqlalchemy as sa

from ipucloud.laboratory.demo import logins
from ipucloud.wire.site import Ssh
from tests.support.machine import program

SECONDS = 120.0


@dataclass(frozen=True)
class KeyPair:
    """A customer's key on disk."""

    private: Path

    @property
    def public_line(self) -> str:
        return self.private.with_suffix(".pub").read_text().strip()


def make_key(folder: Path, name: str = "key") -> KeyPair:
    """A fresh ed25519 key without a passphrase."""
    logins.make_key(folder / name)
    return KeyPair(folder / name)


@dataclass(frozen=True)
class OpenSsh:
    """Logs in at one server with one key. The host key is pinned to the one that the site reports."""

    at: Ssh
    key: KeyPair
    known_hosts: Path

    def __post_init__(self) -> None:
        kind, key = self.at.host_key.split()[:2]
        self.known_hosts.write_text(f"[{self.at.host}]:{self.at.port} {kind} {key}\n")

    @classmethod
    def to(cls, row: sa.Row[Any], key: KeyPair, folder: Path) -> Self:
        """To a Poplar server, by its row."""
        at = Ssh(
            host=row.ssh_host,
            port=row.ssh_port,
            user=row.ssh_user,
            host_key=row.host_key,
            fingerprint=row.host_key_fingerprint,
        )
        return cls(at, key, folder / "known_hosts")

    @property
    def options(self) -> list[str]:
        return [
            *("-F", "none", "-i", str(self.key.private), "-o", "IdentitiesOnly=yes", "-o", "BatchMode=yes"),
            *("-o", f"UserKnownHostsFile={self.known_hosts}", "-o", "StrictHostKeyChecking=yes"),
            *("-o", "LogLevel=ERROR", "-o", "ConnectTimeout=60"),
        ]

    @property
    def target(self) -> str:
        return f"{self.at.user}@{self.at.host}"

    def ssh(
        self, *command: str, user: str | None = None, stdin: bytes = b"", flags: Sequence[str] = ()
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a command (a shell when none is given)."""
        target = f"{user or self.at.user}@{self.at.host}"
        arguments = [program("ssh"), *self.options, *flags, "-p", str(self.at.port), target, *command]
        return subprocess.run(arguments, input=stdin, capture_output=True, timeout=SECONDS, check=False)

    async def output(self, command: str) -> str:
        """What a command prints; it has to succeed."""
        done = await asyncio.to_thread(self.ssh, command)
        assert done.returncode == 0, done.stderr
        return done.stdout.decode()

    def scp(self, source: str, target: str, *, legacy: bool = False) -> subprocess.CompletedProcess[bytes]:
        """Copy; a path on the server starts with a colon."""
        ends = [self.target + path if path.startswith(":") else path for path in (source, target)]
        mode = ["-O"] if legacy else []
        arguments = [program("scp"), *mode, *self.options, "-P", str(self.at.port), *ends]
        return subprocess.run(arguments, capture_output=True, timeout=SECONDS, check=False)

    def sftp(self, batch: str) -> subprocess.CompletedProcess[bytes]:
        arguments = [program("sftp"), *self.options, "-P", str(self.at.port), "-b", "-", self.target]
        return subprocess.run(arguments, input=batch.encode(), capture_output=True, timeout=SECONDS, check=False)
