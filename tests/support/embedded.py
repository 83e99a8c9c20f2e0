"""Starting embedded servers in processes of their own, and seeing what is left of them."""

import fcntl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from ipucloud.laboratory.postgres import EmbeddedPostgres
from tests.support.waiting import eventually

STARTER = """
import pathlib, sys
from ipucloud.laboratory.postgres import EmbeddedPostgres
with EmbeddedPostgres(pathlib.Path(sys.argv[1])):
    print("ready", flush=True)
    sys.stdin.read()
"""


def execute(server: EmbeddedPostgres, *statements: str) -> None:
    with psycopg.connect(server.owner_url(), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement.encode())


def kept_rows(server: EmbeddedPostgres) -> int:
    with psycopg.connect(server.owner_url()) as connection:
        row = connection.execute("SELECT count(*) FROM kept").fetchone()
        assert row is not None
        return int(row[0])


def socket_directory(server: EmbeddedPostgres) -> Path:
    return Path(str(conninfo_to_dict(server.app_url())["host"]))


def postmaster_of(root: Path) -> int:
    return int((root / "data" / "postmaster.pid").read_text().split()[0])


def parent_of(pid: int) -> int:
    fields = dict(line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["PPid"])


def no_server_process(root: Path) -> bool:
    """Whether the last process of the server has ended: each of them holds this lock."""
    with (root / "server.lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@contextmanager
def starter(root: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that starts the server; yields when the server is ready."""
    process = launch(root, STARTER)
    assert process.stdout is not None
    try:
        assert process.stdout.readline().strip()
        yield process
    finally:
        process.kill()
        process.communicate()
        eventually(lambda: no_server_process(root), "the server ends with its starter")


def launch(root: Path, program: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", program, str(root)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
