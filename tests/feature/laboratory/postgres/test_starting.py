"""What a start of the embedded server gives, and what it refuses in words."""

import threading
from pathlib import Path

import psycopg
import pytest

from ipucloud.laboratory.postgres import EmbeddedPostgres, EmbeddedPostgresError
from ipucloud.laboratory.postgres.binaries import find_binaries
from tests.support.embedded import execute, kept_rows, no_server_process, socket_directory, starter


def test_first_start_makes_the_roles_and_the_database(directory: Path) -> None:
    with EmbeddedPostgres(directory / "db") as server, psycopg.connect(server.superuser_url) as connection:
        roles = connection.execute(
            "SELECT rolname, rolcanlogin, rolcreaterole, rolsuper OR rolcreatedb OR rolreplication OR rolbypassrls"
            " FROM pg_roles WHERE rolname LIKE 'ipucloud%' ORDER BY rolname"
        ).fetchall()
        owner = connection.execute(
            "SELECT datdba::regrole::text, pg_encoding_to_char(encoding) FROM pg_database WHERE datname = 'ipucloud'"
        ).fetchall()
    assert roles == [
        ("ipucloud_app", True, False, False),
        ("ipucloud_owner", True, True, False),
        ("ipucloud_tenant", False, False, False),
    ]
    assert owner == [("ipucloud_owner", "UTF8")]


def test_only_the_owner_may_create_tables(root: Path) -> None:
    with EmbeddedPostgres(root) as server:
        execute(server, "CREATE TABLE mine (value int)")
        with psycopg.connect(server.app_url()) as connection:
            assert connection.execute("SELECT current_user").fetchone() == ("ipucloud_app",)
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("CREATE TABLE public.theirs (value int)")


def test_the_socket_is_private_and_the_only_way_in(root: Path) -> None:
    with EmbeddedPostgres(root) as server, psycopg.connect(server.superuser_url) as connection:
        assert connection.execute("SELECT current_setting('listen_addresses')").fetchone() == ("",)
        assert socket_directory(server).stat().st_mode & 0o777 == 0o700


def test_a_restart_keeps_data_and_brings_roles_back_to_their_attributes(root: Path) -> None:
    with EmbeddedPostgres(root) as server, psycopg.connect(server.superuser_url, autocommit=True) as connection:
        connection.execute("ALTER ROLE ipucloud_app BYPASSRLS")
    with EmbeddedPostgres(root) as server, psycopg.connect(server.superuser_url) as connection:
        row = connection.execute("SELECT rolbypassrls FROM pg_roles WHERE rolname = 'ipucloud_app'").fetchone()
        assert row == (False,)
        assert kept_rows(server) == 1


def test_settings_replace_defaults(root: Path) -> None:
    server = EmbeddedPostgres(root, settings={"max_connections": "17"}, durable=False)
    with server, psycopg.connect(server.superuser_url) as connection:
        query = "SELECT current_setting('max_connections'), current_setting('fsync')"
        assert connection.execute(query).fetchone() == ("17", "off")


def test_stop_leaves_no_process_and_can_be_repeated(root: Path) -> None:
    server = EmbeddedPostgres(root)
    server.start()
    with psycopg.connect(server.app_url()) as connection:
        server.stop()
        assert no_server_process(root)
        assert not server.running
        with pytest.raises(psycopg.OperationalError):
            connection.execute("SELECT 1")
    server.stop()
    server.start()
    server.stop()


def test_the_server_outlives_the_thread_that_started_it(root: Path) -> None:
    server = EmbeddedPostgres(root)
    thread = threading.Thread(target=server.start)
    thread.start()
    thread.join()
    try:
        assert kept_rows(server) == 1
    finally:
        server.stop()


def test_a_second_start_is_refused_while_the_first_runs(root: Path) -> None:
    with starter(root) as first:
        with pytest.raises(EmbeddedPostgresError, match=f"already running, started by process {first.pid}"):
            EmbeddedPostgres(root).start()
        assert kept_rows(EmbeddedPostgres(root)) == 1


def test_a_second_start_of_the_same_object_is_refused_and_harmless(root: Path) -> None:
    with EmbeddedPostgres(root) as server:
        with pytest.raises(EmbeddedPostgresError, match="already running in this process"):
            server.start()
        assert kept_rows(server) == 1


def test_a_server_that_cannot_start_says_why_and_leaves_nothing(root: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match=r'unrecognized configuration parameter "no_such_thing"'):
        EmbeddedPostgres(root, settings={"no_such_thing": "1"}).start()
    assert no_server_process(root)


def test_a_server_that_is_not_ready_in_time_is_ended(root: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="not ready in time"):
        EmbeddedPostgres(root).start(timeout=0)
    assert no_server_process(root)


def test_a_directory_without_programs_is_named(directory: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match=f"no PostgreSQL in {directory}"):
        EmbeddedPostgres(directory / "db", bindir=directory).start()


def test_data_of_another_version_is_refused_before_anything_is_touched(root: Path) -> None:
    (root / "data" / "PG_VERSION").write_text("11\n")
    with pytest.raises(EmbeddedPostgresError, match="written by PostgreSQL 11"):
        EmbeddedPostgres(root).start()


def test_a_url_before_the_first_start_is_refused(directory: Path) -> None:
    with pytest.raises(EmbeddedPostgresError, match="Start it first"):
        EmbeddedPostgres(directory / "db").app_url()


def test_data_stays_with_the_version_that_wrote_it() -> None:
    newest = find_binaries(None, data_major=None)
    assert find_binaries(newest.directory, data_major=newest.major) == newest
    assert find_binaries(None, data_major=16).major == 16, "the wheel carries an older version beside the newest"
