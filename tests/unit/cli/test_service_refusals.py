"""Service commands that cannot work say so in a sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.cli.conftest import Run

NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_DATA_DIR", str(tmp_path / "data"))


@pytest.mark.parametrize(
    "command", [("api",), ("worker",), ("migrate",), ("bootstrap",), ("site", "sync"), ("catalogue", "install-prices")]
)
def test_what_is_missing_is_named(run: Run, command: tuple[str, ...]) -> None:
    ended = run(*command)
    assert ended.status == 2
    assert ended.err.startswith("ipucloud: Set IPUCLOUD_DATABASE_URL")


@pytest.mark.parametrize(
    ("command", "setting", "status"),
    [
        ("bootstrap", ("IPUCLOUD_DATABASE_URL", NOWHERE), 6),
        ("migrate", ("IPUCLOUD_DATABASE_URL", NOWHERE), 6),
        ("up", ("IPUCLOUD_DATABASE_URL", NOWHERE), 6),
        ("up", ("IPUCLOUD_PG_BINDIR", "/nowhere"), 1),
        ("up", ("IPUCLOUD_PORT", "many"), 2),
        ("demo", ("IPUCLOUD_PG_BINDIR", "/nowhere"), 1),
    ],
)
def test_what_cannot_work_is_said_in_a_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch, command: str, setting: tuple[str, str], status: int
) -> None:
    monkeypatch.setenv(*setting)
    ended = run(command)
    assert ended.status == status, ended.err
    *_, sentence = [line for line in ended.err.splitlines() if line.startswith("ipucloud: ")]
    assert sentence.removeprefix("ipucloud: ")
    assert "Traceback" not in ended.err
    assert "restarting" not in ended.err


def test_a_proxy_that_identity_providers_could_not_be_reached_through_is_named_at_the_start(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    provider: dict[str, Any] = {
        "name": "sso",
        "title": "Sign-On",
        "issuer": "https://sso.example",
        "client_id": "ipucloud",
    }
    provider |= {"client_id": "ipucloud", "client_secret": "s", "email_domains": ["example.com"]}
    monkeypatch.setenv("IPUCLOUD_DATABASE_URL", NOWHERE)
    for name, value in (("NO_PROXY", "fe80::/10"), ("SSL_CERT_FILE", str(tmp_path / "none.pem"))):
        monkeypatch.delenv("IPUCLOUD_OIDC_PROVIDERS", raising=False)
        monkeypatch.setenv(name, value)
        assert run("bootstrap").status == 6  # nothing uses it: only the database does not answer
        monkeypatch.setenv("IPUCLOUD_OIDC_PROVIDERS", json.dumps([provider]))
        ended = run("bootstrap")
        assert (ended.status, name in ended.err) == (2, True), ended.err
        monkeypatch.delenv(name)


def test_a_catalogue_is_checked_and_begun_without_a_database(run: Run, tmp_path: Path) -> None:
    begun = tmp_path / "own"
    assert run("catalogue", "export", str(begun)).status == 0
    shipped, own = run("catalogue", "check", "--json"), run("catalogue", "check", str(begun), "--json")
    assert (shipped.status, own.status) == (0, 0)
    assert json.loads(own.out) == json.loads(shipped.out)
    assert json.loads(own.out)["valid"]
    again = run("catalogue", "export", str(begun))
    assert (again.status, again.err) == (2, f"ipucloud: {begun} is not empty. Name a new directory.\n")


def test_every_fault_of_a_catalogue_is_told(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_CATALOGUE", str(tmp_path / "own"))
    run("catalogue", "export", str(tmp_path / "own"))
    (tmp_path / "own" / "tools.toml").write_text("rows = [{ id = 'x' }]")
    ended = run("catalogue", "check")
    assert (ended.status, ended.out) == (2, "")
    assert "tools.toml, row x: kinds: Field required\n" in ended.err
    assert ended.err.endswith("The catalogue is not valid: 3 faults.\n")
    faults = json.loads(run("catalogue", "check", "--json").out)["faults"]
    assert faults[0] == {"file": "tools", "row": "x", "field": "source", "detail": "Field required"}
    assert len(faults) == 3
