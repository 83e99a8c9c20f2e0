"""SSH certificates that commands get for the person who runs them: a key made here, signed for one cluster.

The key and its certificate are in the private configuration directory until the certificate ends.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from pathlib import Path
from tempfile import mkdtemp

from ipucloud.cli.session import Session
from ipucloud.client import clusters
from ipucloud.client.errors import ApiError

KEPT = timedelta(minutes=2)
"""A certificate that ends sooner is not used again."""
BEFORE = timedelta(minutes=1)
"""How long before it was issued a certificate begins to be valid."""
_KEY = "key"
_WITHOUT = frozenset(
    {
        HTTPStatus.FORBIDDEN,
        HTTPStatus.NOT_FOUND,  # a service from before there were certificates
        HTTPStatus.METHOD_NOT_ALLOWED,
        HTTPStatus.CONFLICT,
        HTTPStatus.NOT_IMPLEMENTED,
    }
)
"""Answers with which the keys of the person are used, as without certificates."""


@dataclass(frozen=True)
class Certificate:
    """A private key and its certificate, by their files."""

    key: Path
    file: Path

    def forget(self) -> None:
        """Have another one made next time."""
        shutil.rmtree(self.key.parent, ignore_errors=True)


@dataclass(frozen=True)
class Refused:
    """No certificate was issued, and why."""

    why: str


def obtain(session: Session, cluster: str) -> Certificate | Refused:
    """A certificate for the servers of the cluster with this id: one from before, or another. Raises ClientError."""
    if shutil.which("ssh-keygen") is None:
        return Refused("The OpenSSH client (ssh-keygen) is not installed.")
    folder = _folder(session, cluster)
    return _kept(folder) or _issued(session, cluster, folder)


def usable(session: Session, cluster: str) -> Certificate | None:
    """The same; None where the keys of the person are used."""
    outcome = obtain(session, cluster)
    return None if isinstance(outcome, Refused) else outcome


def _folder(session: Session, cluster: str) -> Path:
    """Of this cluster and this token: who signs in as another person gets other certificates."""
    whose = hashlib.sha256(f"{session.configured.url} {session.configured.token}".encode()).hexdigest()[:16]
    folder = session.config_dir / "ssh-certificates" / whose / cluster
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def _kept(folder: Path) -> Certificate | None:
    """The certificate there that is valid for longest; those that have ended are removed."""
    now = datetime.now(UTC)
    certificate = None
    for entry in sorted(folder.glob("until-*")):
        with suppress(ValueError):
            until = datetime.fromtimestamp(int(entry.name.split("-")[1]), UTC)
            if until - now > KEPT:
                certificate = Certificate(entry / _KEY, entry / f"{_KEY}-cert.pub")
            elif until < now:
                shutil.rmtree(entry, ignore_errors=True)
    return certificate


def _issued(session: Session, cluster: str, folder: Path) -> Certificate | Refused:
    """A new key with its certificate. It has its name once it is whole, so that another command can use it."""
    making = Path(mkdtemp(prefix="new-", dir=folder))
    try:
        command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "", "-f", str(making / _KEY)]
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=True)
        issued = session.run(clusters.sign_ssh_key(cluster, (making / f"{_KEY}.pub").read_text().strip()))
        (making / f"{_KEY}-cert.pub").write_text(f"{issued.certificate}\n")
        # By this machine's clock, which may be hours behind the service's.
        by_this_clock = datetime.now(UTC) + (issued.valid_until - issued.valid_from - BEFORE)
        until = min(issued.valid_until, by_this_clock)
        kept = making.rename(folder / f"until-{int(until.timestamp())}-{making.name[4:]}")
    except ApiError as error:
        if error.status not in _WITHOUT:
            raise
        return Refused(error.detail)
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return Certificate(kept / _KEY, kept / f"{_KEY}-cert.pub")
