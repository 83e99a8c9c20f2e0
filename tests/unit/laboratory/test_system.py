"""Ports, secrets and settings of a whole system."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import stat
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from ipucloud.cli.service.connections import CONNECTIONS, running_at
from ipucloud.client.profiles import Profile, save, stored_profiles
from ipucloud.config import Settings
from ipucloud.laboratory.demo.journey import Report
from ipucloud.laboratory.keeper.readiness import ReadyFile
from ipucloud.laboratory.up import interrupts
from ipucloud.laboratory.up.ports import PortError, listen_kept, listen_near, port_of
from ipucloud.laboratory.up.programs import Published, SiteChoices, environment, simulated_site
from ipucloud.laboratory.up.system import reachable
from ipucloud.laboratory.up.terminal import write_terminal_files
from ipucloud.process.secret_files import kept_secret, read_secret, write_secret


@pytest.mark.parametrize(
    ("text", "address", "ports"),
    [("22000-22031", "127.0.0.1", "22000-22031"), ("Host.Example:1-65535", "host.example", "1-65535")],
)
def test_what_is_published_is_announced_and_nothing_else(text: str, address: str, ports: str, tmp_path: Path) -> None:
    published = Published.read(text)
    assert (published.address, str(published)) == (address, ports)
    site = simulated_site(tmp_path, 1.0, {}, ReadyFile(tmp_path / "ready"), tmp_path, choices=SiteChoices(published))
    options = dict(zip(site.arguments[1::2], site.arguments[2::2], strict=True))
    assert (options["--bind"], options["--advertise"], options["--ports"]) == ("0.0.0.0", address, ports)  # noqa: S104


@pytest.mark.parametrize("text", ["", "22000", "22031-22000", "0-5", "60000-65536", "a-b", "127.0.0.1"])
def test_what_is_no_range_of_ports_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no range of ports"):
        Published.read(text)


def test_a_free_port_is_taken_and_a_busy_one_replaced() -> None:
    with listen_near("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with listen_near("127.0.0.1", port) as second:
            assert second.getsockname()[1] not in {0, port}
    with listen_near("127.0.0.1", port) as again:
        assert again.getsockname()[1] == port


def test_the_port_of_the_first_start_is_kept(tmp_path: Path) -> None:
    kept, printed = tmp_path / "port", list[str]()

    def listen(requested: int | None, usual: int) -> socket.socket:
        return listen_kept("127.0.0.1", requested, usual, kept, printed.append)

    with listen_near("127.0.0.1", 0) as stranger:
        occupied = port_of(stranger)
        with listen(None, occupied) as first:
            port = port_of(first)
            assert port != occupied
            assert printed == [
                f"Port {occupied} is taken. The API has port {port}, also at later starts; --port changes it."
            ]
        with listen(None, occupied) as again:
            assert port_of(again) == port
            with pytest.raises(PortError, match=f"Port {port} .*Earlier starts used it"):
                listen(None, occupied)
        with pytest.raises(PortError, match=f"Port {occupied} .*Use --port"):
            listen(occupied, 8000)
    with listen(0, 8000) as unchanged:
        assert port_of(unchanged) == port
        with listen(0, 8000) as moved:
            assert port_of(moved) != port
    with listen(occupied, 8000) as chosen:
        assert port_of(chosen) == occupied
    with listen(None, 8000) as later:
        assert port_of(later) == occupied
    assert len(printed) == 1


def test_profiles_of_another_service_are_kept(tmp_path: Path) -> None:
    data, printed = tmp_path / "a folder", list[str]()
    client = {"IPUCLOUD_CONFIG_DIR": str(data / "client")}
    first = {name: Profile("http://127.0.0.1:8000", f"{name}'s", "demo") for name in ("default", "admin")}
    env = write_terminal_files(data, first, printed.append)
    assert stored_profiles(client) == first
    other = Profile("https://ipucloud.example", "mine")
    save({**first, "default": other, "more": other}, client)
    moved = {name: replace(each, url="http://127.0.0.1:9000") for name, each in first.items()}
    write_terminal_files(data, moved, printed.append)
    assert stored_profiles(client) == {"default": other, "admin": moved["admin"], "more": other}
    assert [sentence.split(" and was kept")[0] for sentence in printed] == [
        f"Profile default in {data / 'client'} is that of https://ipucloud.example"
    ]
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    shown = 'printf "%s\\n" "$IPUCLOUD_CONFIG_DIR" "$IPUCLOUD_DATA_DIR" "${IPUCLOUD_TOKEN-none}"; command -v python'
    done = subprocess.run(
        ["sh", "-c", f'. "$1"; {shown}', "sh", env],
        capture_output=True, text=True, check=True, env={"PATH": "/bin", "IPUCLOUD_TOKEN": "old"},
    )  # fmt: skip
    assert done.stdout.splitlines()[:3] == [str(data / "client"), str(data), "none"]
    assert Path(done.stdout.splitlines()[3]).parent == Path(sys.executable).parent


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
    provider = {"name": "x", "title": "X", "issuer": "https://x.example", "client_id": "a", "client_secret": "b"}
    values: dict[str, Any] = {
        "database_url": "postgresql://app@/x?host=/run",
        "port": 1234,
        "data_dir": "/data",
        "trusted_proxies": "10.0.0.0/8, 192.0.2.1",
        "oidc_providers": [{**provider, "email_domains": ["x.example"]}],
    }
    settings = Settings(**values)
    for name, value in environment(settings).items():
        monkeypatch.setenv(name, value)
    assert Settings() == settings


def test_operators_reach_a_running_system_and_what_it_was_given_is_not_written_down(tmp_path: Path) -> None:
    own = SecretStr("postgresql://app@/x?host=/run")
    external = SecretStr("postgresql://app:hunter2@db.example/x")
    site = {"site_url": "http://127.0.0.1:9000", "site_token": SecretStr("token")}
    started = Settings(data_dir=tmp_path)
    with reachable(started, started.model_copy(update={"database_url": own, **site})):
        running = running_at(tmp_path)
        assert running is not None
        known = running.settings
        assert (known.database_url, known.site_url, known.site_token) == (own, *site.values())
        assert running.missing == []
        assert stat.S_IMODE((tmp_path / CONNECTIONS).stat().st_mode) == 0o600
    assert running_at(tmp_path) is None
    restarted = started.model_copy(
        update={**site, "request_life": 7.0, "vipu_client_certificate": "pems/{controller}.pem"}
    )
    with reachable(restarted, restarted.model_copy(update={"database_url": own})):
        assert '"token"' not in (tmp_path / CONNECTIONS).read_text()
        running = running_at(tmp_path)
        assert running is not None
        known = running.settings
        assert (known.site_url, known.site_token, running.missing) == (site["site_url"], None, ["site_token"])
        assert known.request_life == 7.0
        assert known.vipu_client_certificate == str(Path.cwd() / "pems" / "{controller}.pem")
    started = started.model_copy(update={"database_url": external})
    with reachable(started, started.model_copy(update=site)):
        assert "hunter2" not in (tmp_path / CONNECTIONS).read_text()
        assert running_at(tmp_path) is None


def test_a_report_without_checks_is_no_success() -> None:
    assert not Report().ok
    assert Report().document()["ok"] is False


def test_a_stop_that_gets_lost_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interrupts, "REPEAT_SECONDS", 0.0)

    async def deaf_at_first() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        await asyncio.Event().wait()

    with interrupts.interruptible() as signals, pytest.raises(KeyboardInterrupt):
        interrupts.run_until_stopped(signals, deaf_at_first())
