"""The commands an operator runs one by one, as real processes."""

from __future__ import annotations

import pytest

from tests.support.postgres import Database
from tests.support.processes import Ipucloud, Up


def test_bootstrap_makes_everything_once(ipucloud: Ipucloud, database: Database) -> None:
    first = ipucloud.json("bootstrap", "--project", "research", IPUCLOUD_DATABASE_URL=database.app_url)
    assert first["project"] == "research"
    assert first["admin_token"].startswith("ipu_dev_")
    assert first["owner_token"].startswith("ipu_dev_")
    again = ipucloud.json("bootstrap", "--project", "research", IPUCLOUD_DATABASE_URL=database.app_url)
    assert again == first | {"admin_token": None, "owner_token": None}


def test_migrate_may_be_repeated(ipucloud: Ipucloud, database: Database) -> None:
    urls = {"IPUCLOUD_DATABASE_URL": database.app_url, "IPUCLOUD_MIGRATION_DATABASE_URL": database.owner_url}
    with ipucloud.start("migrate", **urls) as migrate:
        out, err = migrate.communicate(timeout=60)
    assert migrate.returncode == 0, err
    assert "schema" in out


def test_a_site_is_synchronised_again(system: Up, ipucloud: Ipucloud, database: Database) -> None:
    site = {"IPUCLOUD_SITE_URL": system.site_url, "IPUCLOUD_SITE_TOKEN": system.site_token}
    found = ipucloud.json("site", "sync", IPUCLOUD_DATABASE_URL=database.app_url, **site)
    assert found["regions"] == 2
    assert found["machines"] >= 32


@pytest.mark.parametrize("command", [("api",), ("worker",), ("migrate",), ("bootstrap",), ("site", "sync")])
def test_what_is_missing_is_named(ipucloud: Ipucloud, command: tuple[str, ...]) -> None:
    with ipucloud.start(*command) as process:
        _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == "ipucloud: Set IPUCLOUD_DATABASE_URL first.\n"


@pytest.mark.parametrize(
    ("command", "environment", "status"),
    [
        (("bootstrap",), {"IPUCLOUD_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, 6),
        (("migrate",), {"IPUCLOUD_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none"}, 6),
        (("up",), {"IPUCLOUD_PG_BINDIR": "/nowhere"}, 1),
        (("up",), {"IPUCLOUD_PORT": "many"}, 2),
    ],
)
def test_what_cannot_work_is_said_in_a_sentence(
    ipucloud: Ipucloud, command: tuple[str, ...], environment: dict[str, str], status: int
) -> None:
    data = str(ipucloud.temporary / "data")
    with ipucloud.start(*command, **{"IPUCLOUD_DATA_DIR": data, **environment}) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, "Traceback" in err) == (status, False), err
    assert err.startswith("ipucloud: ")
    assert ipucloud.left() == []
