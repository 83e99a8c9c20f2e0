"""Service commands that cannot work say so in a sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
NOWHERE = "postgresql://nobody@127.0.0.1:1/none"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_DATA_DIR", str(tmp_path / "data"))


@pytest.mark.parametrize("command", [("api",), ("worker",), ("migrate",), ("bootstrap",), ("site", "sync")])
def test_what_is_missing_is_named(run: Run, command: tuple[str, ...]) -> None:
    ended = run(*command)
    assert ended.status == 2
    assert ended.err == "ipucloud: Set IPUCLOUD_DATABASE_URL first.\n"


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
