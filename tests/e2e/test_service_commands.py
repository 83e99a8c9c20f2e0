"""The commands an operator runs one by one, as real processes."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest

from ipucloud.db import migrate
from ipucloud.db.schema_check import BASELINE, FORMER_HEAD, head
from ipucloud.laboratory.up.ports import listen_near
from tests.support.postgres import Database
from tests.support.processes import Ipucloud, Up
from tests.support.waiting import PATIENCE


def test_bootstrap_makes_everything_once(ipucloud: Ipucloud, database: Database) -> None:
    first = ipucloud.json("bootstrap", "--project", "research", IPUCLOUD_DATABASE_URL=database.app_url)
    assert first["project"] == "research"
    assert first["admin_token"].startswith("ipu_dev_")
    assert first["owner_token"].startswith("ipu_dev_")
    again = ipucloud.json("bootstrap", "--project", "research", IPUCLOUD_DATABASE_URL=database.app_url)
    assert again == first | {"admin_token": None, "owner_token": None}


def test_bootstrap_keeps_tokens_in_files_and_replaces_those_that_are_lost(
    ipucloud: Ipucloud, database: Database, tmp_path: Path
) -> None:
    def kept() -> list[str]:
        credentials = ipucloud.json(
            "bootstrap", "--tokens", str(tmp_path / "tokens"), IPUCLOUD_DATABASE_URL=database.app_url
        )
        files = [Path(credentials["owner_token_file"]), Path(credentials["admin_token_file"])]
        assert {file.stat().st_mode & 0o777 for file in files} == {0o600}
        tokens = [file.read_text().strip() for file in files]
        assert not [token for token in tokens if token in str(credentials)]
        return tokens

    owner, admin = kept()
    assert kept() == [owner, admin]
    (tmp_path / "tokens" / "token").unlink()
    another, same = kept()
    assert another.startswith("ipu_dev_")
    assert (another != owner, same) == (True, admin)


def test_bootstrap_says_where_it_could_keep_no_tokens(ipucloud: Ipucloud, database: Database, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    folder = str(tmp_path / "file" / "tokens")
    with ipucloud.start("bootstrap", "--tokens", folder, IPUCLOUD_DATABASE_URL=database.app_url) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "The tokens cannot be kept: " in err
    assert "Traceback" not in err


def test_migrate_may_be_repeated(ipucloud: Ipucloud, database: Database) -> None:
    urls = {"IPUCLOUD_DATABASE_URL": database.app_url, "IPUCLOUD_MIGRATION_DATABASE_URL": database.owner_url}
    assert ipucloud.json("migrate", **urls) == ipucloud.json("migrate", **urls)


@pytest.mark.parametrize(
    ("revision", "status", "sentence"),
    [
        (FORMER_HEAD, 0, f"The schema was at {FORMER_HEAD}, which is the same as {BASELINE}: recorded as that."),
        ("0156", 1, "This version cannot upgrade the database: its schema is at 0156, and upgrades begin with 0340."),
        ("9999_later", 1, "This version cannot upgrade the database: Can't locate revision identified by '9999_later'"),
    ],
)
def test_migrate_says_what_becomes_of_another_versions_database(
    ipucloud: Ipucloud, database: Database, revision: str, status: int, sentence: str
) -> None:
    migrate.downgrade(database.owner_url, BASELINE)  # the same schema as FORMER_HEAD
    with psycopg.connect(database.owner_url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", [revision])
    with ipucloud.start("migrate", IPUCLOUD_DATABASE_URL=database.owner_url) as process:
        out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == status
    assert sentence in err
    assert out == (f"The schema is at {head()}.\n" if status == 0 else "")


@pytest.mark.parametrize("program", ["api", "worker"])
def test_a_port_that_is_taken_is_told_in_a_sentence(ipucloud: Ipucloud, database: Database, program: str) -> None:
    with listen_near("127.0.0.1", 0) as listener:
        port = str(listener.getsockname()[1])
        ports = {"IPUCLOUD_PORT": port, "IPUCLOUD_WORKER_INTERNAL_PORT": port, "IPUCLOUD_INTERNAL_PORT": "0"}
        urls = {"IPUCLOUD_DATABASE_URL": database.app_url, "IPUCLOUD_SITE_URL": "http://127.0.0.1:1"}
        with ipucloud.start(program, **ports, **urls) as process:
            _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert f"Port {port} of 127.0.0.1 cannot be listened on: Address already in use." in err
    assert "Traceback" not in err


def test_a_site_is_synchronised_again(system: Up, ipucloud: Ipucloud, database: Database) -> None:
    site = {"IPUCLOUD_SITE_URL": system.site_url, "IPUCLOUD_SITE_TOKEN": system.site_token}
    counts = ipucloud.json("site", "sync", IPUCLOUD_DATABASE_URL=database.app_url, **site)
    assert counts["regions"] == 3
    assert counts["machines"] >= 32


def test_new_machines_are_waited_for_until_they_are_validated(
    system: Up, ipucloud: Ipucloud, database: Database
) -> None:
    settings = {
        "IPUCLOUD_SITE_URL": system.site_url,
        "IPUCLOUD_SITE_TOKEN": system.site_token,
        "IPUCLOUD_DATABASE_URL": database.app_url,
    }
    with ipucloud.start("site", "sync", "--wait", "0.5", **settings) as process:
        _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "160 new machines are not validated: see that a worker runs" in err
    with psycopg.connect(database.owner_url) as connection:
        connection.execute(
            "UPDATE hardware_validations SET name = 'val', started_at = now(), deadline_at = now(), result = 'passed',"
            " tested_at = now(), ended_at = now()"
        )
    assert ipucloud.json("site", "sync", "--wait", "60", **settings)["machines"] >= 160


def test_a_running_system_breaks_no_rule(system: Up, ipucloud: Ipucloud) -> None:
    report = ipucloud.json("admin", "audit", IPUCLOUD_DATA_DIR=str(system.data))
    assert (report["clean"], report["site"], report["findings"]) == (True, True, [])
    assert report["rules"] > 60
