"""Ports, secrets and settings of a whole system."""

from __future__ import annotations

import asyncio
import os
import signal
import stat
from contextlib import suppress
from pathlib import Path

import pytest
from pydantic import SecretStr

from ipucloud.cli.service.connections import CONNECTIONS, running_at
from ipucloud.config import Settings
from ipucloud.laboratory.demo.journey import Report
from ipucloud.laboratory.postgres.secret_files import kept_secret, read_secret, write_secret
from ipucloud.laboratory.up import stopping
from ipucloud.laboratory.up.ports import listen_near
from ipucloud.laboratory.up.programs import environment
from ipucloud.laboratory.up.system import reachable


def test_a_free_port_is_taken_and_a_busy_one_replaced() -> None:
    with listen_near("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with listen_near("127.0.0.1", port) as second:
            assert second.getsockname()[1] not in {0, port}
    with listen_near("127.0.0.1", port) as again:
        assert again.getsockname()[1] == port


def test_a_secret_is_made_once_and_is_this_users_alone(tmp_path: Path) -> None:
    path = tmp_path / "data" / "site-token"
    assert read_secret(path) is None
    secret = kept_secret(path)
    assert len(secret) >= 32
    assert kept_secret(path) == secret
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write_secret(path, "another")
    assert read_secret(path) == "another"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_another_process_gets_the_same_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings().model_copy(
        update={"database_url": SecretStr("postgresql://app@/x?host=/run"), "port": 1234, "data_dir": Path("/data")}
    )
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings


def test_operators_reach_a_running_system_and_what_it_was_given_is_not_written_down(tmp_path: Path) -> None:
    own = SecretStr("postgresql://app@/x?host=/run")
    theirs = SecretStr("postgresql://app:hunter2@db.example/x")
    site = {"site_url": "http://127.0.0.1:9000", "site_token": SecretStr("token")}
    started = Settings(data_dir=tmp_path)
    with reachable(started, started.model_copy(update={"database_url": own, **site})):
        found = running_at(tmp_path)
        assert found is not None
        assert (found.database_url, found.site_url, found.site_token) == (own, *site.values())
        assert stat.S_IMODE((tmp_path / CONNECTIONS).stat().st_mode) == 0o600
    assert running_at(tmp_path) is None
    started = started.model_copy(update={"database_url": theirs})
    with reachable(started, started.model_copy(update=site)):
        assert "hunter2" not in (tmp_path / CONNECTIONS).read_text()
        assert running_at(tmp_path) is None


def test_a_report_without_checks_is_no_success() -> None:
    assert not Report().ok
    assert Report().document()["ok"] is False


def test_a_stop_that_gets_lost_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "REPEAT_SECONDS", 0.0)

    async def deaf_at_first() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    with stopping.interruptible() as signals, pytest.raises(KeyboardInterrupt):
        stopping.run_until_stopped(signals, deaf_at_first())
