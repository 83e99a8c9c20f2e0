"""Where the server listens: one unix socket in a private directory, never TCP."""

import hashlib
import os
import tempfile
from pathlib import Path
from urllib.parse import quote

from ipucloud.laboratory.postgres.account import Account
from ipucloud.laboratory.postgres.errors import EmbeddedPostgresError

PORT = 5432  # part of the socket's file name only
LONGEST_SOCKET_PATH = 103  # sockaddr_un holds 108 bytes with the final NUL on Linux, 104 on macOS


def socket_url(directory: Path, role: str, database: str, passfile: Path) -> str:
    """Return the libpq URL of a role and database behind a socket directory.

    The password stays in its file. With SCRAM the server has to show that it knows it too: whoever puts a socket of
    their own into the directory gets no password by asking for one.
    """
    where = f"host={quote(str(directory))}&port={PORT}"
    return f"postgresql://{role}@/{quote(database)}?{where}&passfile={quote(str(passfile))}&require_auth=scram-sha-256"


def socket_directory(root: Path, account: Account) -> Path:
    """Name the directory for the socket: inside `root`, or a short reachable one named after `root`.

    The second when the path would be too long for a socket address, when it has characters that separate or quote
    paths in lists of hosts, or when the server's account cannot pass the directories above.
    """
    inside = root / "run"
    if _fits(inside) and account.can_search(root):
        return inside
    name = f"ipucloud-{os.geteuid()}-{hashlib.sha256(os.fsencode(root)).hexdigest()[:16]}"
    for place in (Path(tempfile.gettempdir()), Path("/tmp")):  # noqa: S108 (the directory is private and checked)
        if _fits(place / name) and place.is_dir() and account.can_search(place):
            return place / name
    raise EmbeddedPostgresError(
        f"No directory for the database socket: neither {inside} nor the directory for temporary files is short and "
        "plain enough for a socket and open to the server's account. Set TMPDIR to a short path every user may search."
    )


def make_private(directory: Path, account: Account) -> None:
    """Make a directory that only the server's account may enter, or take over the one made before."""
    owner = os.geteuid() if account.uid is None else account.uid
    try:
        directory.mkdir(mode=0o700)
        account.hand_over(directory)
    except FileExistsError:
        status = directory.lstat()
        if directory.is_symlink() or not directory.is_dir() or status.st_uid not in (owner, os.geteuid()):
            raise EmbeddedPostgresError(
                f"{directory} is in the way: it should be a directory of user {owner}. Remove it, then start again."
            ) from None
        account.hand_over(directory)
        directory.chmod(0o700)


def _fits(directory: Path) -> bool:
    length = len(os.fsencode(directory / f".s.PGSQL.{PORT}"))
    return length <= LONGEST_SOCKET_PATH and not set(str(directory)) & set(",\"'\\")
