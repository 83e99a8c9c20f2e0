"""Who may connect to the embedded server: whoever has the password, and nobody by being a certain user."""

import os
import socket
import stat
import struct
import subprocess
import threading
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from ipucloud.laboratory.postgres import SUPERUSER, EmbeddedPostgres
from ipucloud.laboratory.postgres.account import account_for
from ipucloud.laboratory.postgres.binaries import find_binaries, runnable_by
from ipucloud.laboratory.postgres.passwords import ROLES, Passwords, scram_verifier
from tests.support.embedded import execute, kept_rows, socket_directory
from tests.support.waiting import PATIENCE

TRUSTING = "local all all trust\nlocal replication all trust\n"


@pytest.fixture
def old(root: Path) -> Path:
    """A data directory as versions without passwords left it: the server trusts everybody, and no role has one."""
    with (
        EmbeddedPostgres(root) as server,
        psycopg.connect(server.superuser_url, autocommit=True) as connection,
    ):
        connection.execute("ALTER ROLE ipucloud_owner PASSWORD NULL")
        connection.execute("ALTER ROLE ipucloud_app PASSWORD NULL")
        connection.execute("ALTER ROLE postgres PASSWORD NULL")
    (root / "data" / "pg_hba.conf").write_text(TRUSTING)
    (root / "pgpass").unlink()
    return root


@pytest.fixture
def server(root: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(root) as running:
        yield running


def connect(server: EmbeddedPostgres, role: str, **parameters: str) -> None:
    """Connect as anybody would who knows where the server is."""
    where = {"host": str(socket_directory(server)), "port": "5432", "dbname": "postgres", "passfile": os.devnull}
    psycopg.connect(make_conninfo(**{**where, "user": role, **parameters})).close()


def as_server_account(root: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a program as the user whom the server belongs to."""
    account = account_for(root / "data")
    return subprocess.run(
        command,
        user=account.uid,
        group=account.gid,
        extra_groups=None if account.uid is None else [],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"LC_ALL": "C"},
        timeout=PATIENCE,
    )


@pytest.mark.parametrize("role", ROLES)
def test_no_role_is_let_in_without_its_password(server: EmbeddedPostgres, role: str) -> None:
    with pytest.raises(psycopg.OperationalError, match="no password supplied"):
        connect(server, role)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect(server, role, password="postgres")


def test_a_role_does_not_get_in_with_the_password_of_another_one(server: EmbeddedPostgres, root: Path) -> None:
    password = Passwords(root / "pgpass").of("ipucloud_app")
    connect(server, "ipucloud_app", password=password)
    with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
        connect(server, SUPERUSER, password=password)


def test_a_process_of_the_servers_own_user_is_refused_and_cannot_read_the_passwords(
    server: EmbeddedPostgres, root: Path
) -> None:
    account = account_for(root / "data")
    psql = runnable_by(account, find_binaries(None, data_major=None), root).directory / "psql"
    where = f"host={socket_directory(server)} user={SUPERUSER} dbname=postgres"
    refused = as_server_account(root, psql, "--no-psqlrc", "--no-password", "--command", "SELECT 1", where)
    assert refused.returncode != 0
    assert "no password supplied" in refused.stderr
    if account.uid is not None:
        assert as_server_account(root, "/bin/cat", root / "pgpass").returncode != 0
    assert kept_rows(server) == 1


def test_the_passwords_are_the_starters_alone(server: EmbeddedPostgres, root: Path) -> None:
    status = (root / "pgpass").stat()
    assert (stat.S_IMODE(status.st_mode), status.st_uid) == (0o600, os.geteuid())
    secrets = [Passwords(root / "pgpass").of(role) for role in ROLES]
    urls = server.superuser_url + server.owner_url() + server.app_url()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            text = (process / "cmdline").read_text(errors="replace") + (process / "environ").read_text(errors="replace")
        except OSError:
            continue
        assert not any(secret in text for secret in secrets), process
    assert not any(secret in urls for secret in secrets)


def test_a_program_that_poses_as_the_server_is_not_given_a_password(server: EmbeddedPostgres, directory: Path) -> None:
    socket_file = directory / ".s.PGSQL.5432"
    heard: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(socket_file))
        listening.listen()
        impostor = threading.Thread(target=ask_for_a_password, args=[listening, heard])
        impostor.start()
        url = server.superuser_url.replace(quote(str(socket_directory(server))), quote(str(directory)))
        with pytest.raises(psycopg.OperationalError, match="authentication method requirement"):
            psycopg.connect(url)
        impostor.join()
    assert heard == [b""]


def ask_for_a_password(listening: socket.socket, heard: list[bytes]) -> None:
    """Be a server that wants the password in clear text, and keep what it gets."""
    connection, _ = listening.accept()
    with connection:
        connection.recv(4096)
        connection.sendall(b"R" + struct.pack("!ii", 8, 3))
        heard.append(connection.recv(4096))


def test_data_of_a_version_without_passwords_are_kept_and_closed(old: Path) -> None:
    with EmbeddedPostgres(old) as server:
        assert kept_rows(server) == 1
        for role in ROLES:
            with pytest.raises(psycopg.OperationalError, match="no password supplied"):
                connect(server, role)
        execute(server, "INSERT INTO kept VALUES (2)")
    with EmbeddedPostgres(old) as server:
        assert kept_rows(server) == 2


def test_lost_passwords_are_replaced_at_the_next_start(root: Path) -> None:
    before = (root / "pgpass").read_text()
    (root / "pgpass").unlink()
    with EmbeddedPostgres(root) as server:
        assert kept_rows(server) == 1
    assert (root / "pgpass").read_text() != before


def test_rules_that_were_changed_are_brought_back_wherever_they_are_kept(root: Path, directory: Path) -> None:
    elsewhere = directory / "rules"
    elsewhere.write_text(TRUSTING)
    elsewhere.chmod(0o644)
    with EmbeddedPostgres(root) as server, psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute(f"ALTER SYSTEM SET hba_file = '{elsewhere}'".encode())
    rules = root / "data" / "pg_hba.conf"
    rules.unlink()
    rules.symlink_to(elsewhere)
    with EmbeddedPostgres(root) as server:
        assert kept_rows(server) == 1
        with pytest.raises(psycopg.OperationalError, match="no password supplied"):
            connect(server, SUPERUSER)
    assert elsewhere.read_text() == TRUSTING


def test_passwords_that_others_may_read_are_closed_again(root: Path) -> None:
    (root / "pgpass").chmod(0o644)
    with EmbeddedPostgres(root) as server:
        assert kept_rows(server) == 1
    assert stat.S_IMODE((root / "pgpass").stat().st_mode) == 0o600


def test_a_verifier_is_the_one_that_postgresql_makes(server: EmbeddedPostgres) -> None:
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute("ALTER ROLE ipucloud_app PASSWORD 'correct-horse'")
        row = connection.execute("SELECT rolpassword FROM pg_authid WHERE rolname = 'ipucloud_app'").fetchone()
    assert row is not None
    salt = b64decode(row[0].split("$")[1].split(":")[1])
    assert scram_verifier("correct-horse", salt) == row[0]
