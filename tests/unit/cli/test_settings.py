"""Settings that cannot work are refused when they are read; what is refused is never repeated."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from ipucloud.config import Settings
from ipucloud.config.constants import VARIABLE, Constants
from tests.unit.cli.conftest import Run

URLS = (
    "postgresql://app:secret@db.example:5432/ipucloud",
    "postgres://app@[::1]:6432/ipucloud?sslmode=require",
    "postgresql://app:s%40c%2Fret@db/ipucloud",
    "postgresql://app@/ipucloud?host=/run/postgresql&port=5433",
    "postgresql:///ipucloud",
)
NO_URLS = (
    *("", "canary", "mysql://app:canary@db/ipucloud", "postgresql+psycopg://app:canary@db/ipucloud"),
    *("host=db password=canary", "postgresql://app:canary@db:many/ipucloud"),
    *("postgresql://app:canary@db:99999/ipucloud", "postgresql://app:canary@db:0/ipucloud"),
    *("postgresql://app:can@canary@db/ipucloud", "postgresql://app:can/canary@db/ipucloud"),
    *("postgresql://app:canary%zz@db/ipucloud", "postgresql://app:canary@[::1/ipucloud"),
    *("postgresql://app:canary@d b/ipucloud", "postgresql://app:canary@db/ipucloud?colour=red"),
)
JUNK = {
    "DATABASE_URL": NO_URLS,
    "MIGRATION_DATABASE_URL": ("mysql://app:canary@db/ipucloud",),
    "SITE_URL": (
        "",
        "site.example:9000",
        "ftp://site.example",
        "http://",
        "http://site.example:many",
        "http://site.example:70000",
        "http://[::1",
        "http://site\n.example",
    ),
    "SITE_TOKEN": ("canary\n", "canäry"),
    "REACHED_AT": ("canary", "=canary", "127.0.0.1=canary,"),
    "VIPU_USER": ("",),
    "VIPU_ACCESS_KEY": ("can ary",),
    "SECRETS_KEY": ("canary",),
    "EXPORT_PORTS": ("", "443,", "0", "65536", "443 8443", "canary"),
    "CURRENCY": ("EURO", "XYZ", "ZZQ"),
    "DRAIN_SECONDS": ("inf",),
    "REQUEST_LIFE": ("nan",),
    "SESSION_SECONDS": ("1e12",),
    "WORKER_SLOTS": ("99999999999999999999",),
    "PORT": ("70000",),
    "LOG_FORMAT": ("xml",),
}


@pytest.mark.parametrize("url", URLS)
def test_a_url_that_postgresql_can_read_is_taken(url: str) -> None:
    settings = Settings.model_validate({"database_url": url})
    assert settings.database_url is not None
    assert settings.database_url.get_secret_value() == url


@pytest.mark.parametrize("url", ["http://127.0.0.1:9000", "https://site.example/under/path", "http://[::1]:80"])
def test_the_site_is_a_web_address(url: str) -> None:
    assert Settings(site_url=url).site_url == url


@pytest.mark.parametrize(
    ("name", "value"), [(f"IPUCLOUD_{name}", value) for name, values in JUNK.items() for value in values]
)
def test_what_cannot_work_is_refused_in_a_sentence_that_names_the_setting(
    run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    ended = run("worker")
    assert ended.status == 2
    assert ended.err.startswith(f"ipucloud: {name}: ")
    assert ended.err.count("\n") == 1
    assert "canary" not in ended.err
    with pytest.raises(ValidationError) as refused:
        Settings()
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize(("name", "value"), [("HOST", "mail.example"), ("FROM", "cloud@ipucloud.example")])
def test_mails_need_a_server_and_a_sender(run: Run, monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(f"IPUCLOUD_SMTP_{name}", value)
    ended = run("worker")
    assert ended.status == 2
    assert ended.err == "ipucloud: IPUCLOUD_SMTP_HOST and IPUCLOUD_SMTP_FROM belong together: set both, or neither.\n"


@pytest.mark.parametrize(
    "command", [("api",), ("migrate",), ("bootstrap",), ("site", "sync"), ("admin", "audit"), ("up",), ("demo",)]
)
def test_every_service_command_refuses_it(run: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]) -> None:
    monkeypatch.setenv("IPUCLOUD_DATABASE_URL", "mysql://app:canary@db/ipucloud")
    ended = run(*command)
    assert ended.status == 2
    assert ended.err.startswith("ipucloud: IPUCLOUD_DATABASE_URL: it must be a PostgreSQL URL")
    assert ended.err.count("\n") == 1
    assert "canary" not in ended.err


def test_what_is_a_constant_by_now_is_refused_with_its_value(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_LEASE_SECONDS", "60")
    ended = run("worker")
    sentence = "IPUCLOUD_LEASE_SECONDS is no setting any more: it is always 30. Remove the variable."
    assert (ended.status, ended.err) == (2, f"ipucloud: {sentence}\n")
    assert Settings().lease_seconds == 30.0


def test_an_installation_has_few_settings_and_tests_can_change_constants(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(Settings.model_fields.keys() - Constants.model_fields) <= 75
    monkeypatch.setenv(VARIABLE, '{"poll_seconds": 0.25}')
    assert Settings().poll_seconds == 0.25


def test_what_a_site_announces_may_be_reached_elsewhere() -> None:
    settings = Settings(reached_at="127.0.0.1=simulator,192.0.2.7=10.0.0.7")
    hosts = [settings.reached(host) for host in ("127.0.0.1", "192.0.2.7", "192.0.2.8")]
    assert hosts == ["simulator", "10.0.0.7", "192.0.2.8"]
    assert Settings().reached("127.0.0.1") == "127.0.0.1"
