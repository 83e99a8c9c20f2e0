"""`ipucloud up` keeps the whole system running: what is killed comes back, and what cannot come back is explained."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.support.embedded import parent_of, postmaster_of
from tests.support.processes import Ipucloud, Up, ipucloud_processes, starting, up
from tests.support.waiting import PATIENCE, eventually

PUBLIC_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGsLsPG0tEBYgAJSQm/bNPNAkrF3HXFGDWmMvVWOWcU1"

_clusters = (f"kept-{number}" for number in count(1))


def postmaster(system: Up) -> int:
    return postmaster_of(system.data / "postgres")


def guard(system: Up) -> int:
    return parent_of(postmaster(system))


def program(*words: str) -> Callable[[Up], int]:
    def find(system: Up) -> int:
        [pid] = system.ipucloud.pids(*words)
        return pid

    return find


EVERYTHING = {
    "postmaster": (postmaster, "PostgreSQL"),
    "guard": (guard, "PostgreSQL"),
    "postgres": (program("ipucloud.laboratory.postgres"), "PostgreSQL"),
    "site": (program("ipucloud.laboratory.simulator.main"), "The simulated site"),
    "worker": (program("ipucloud.cli.main", "worker"), "The worker"),
    "api": (program("ipucloud.cli.main", "api"), "The API"),
}


@pytest.fixture(scope="module")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """A running `ipucloud up` of this module's own, whose hardware takes no time."""
    folder = tmp_path_factory.mktemp("kept")
    key = folder / "key.pub"
    key.write_text(PUBLIC_KEY)
    with ipucloud_processes(folder) as started, up(started, folder / "data", "--time-scale", "0") as running:
        started.json("ssh-keys", "add", "laptop", str(key), **running.environment)
        yield running


def works(system: Up) -> None:
    """A cluster is built and taken down: that takes every part of the system."""
    name = next(_clusters)
    system.ipucloud.json("clusters", "create", name, "--flavor", "c600-1", **system.environment)
    [built] = [each for each in system.ipucloud.json("clusters", "list", **system.environment) if each["name"] == name]
    assert built["state"] == "active"
    system.ipucloud.json("clusters", "delete", name, "--yes", **system.environment)


@pytest.mark.sample(3)
@pytest.mark.parametrize("killed", EVERYTHING)
def test_whatever_is_killed_is_started_again(system: Up, killed: str) -> None:
    find, name = EVERYTHING[killed]
    before = system.messages
    os.kill(find(system), signal.SIGKILL)
    eventually(
        lambda: f"ipucloud: {name} is running again.\n" in system.messages[len(before) :], f"{killed} is started again"
    )
    lines = system.messages[len(before) :].splitlines()
    assert lines[0].startswith(f"ipucloud: {name} was ended by signal 9; restarting it in ")
    assert all(line.startswith(f"ipucloud: {name} ") for line in lines), "the others survive it"
    works(system)


def test_a_port_that_was_taken_meanwhile_is_waited_for(system: Up) -> None:
    host, port = urlsplit(system.site_url).hostname, urlsplit(system.site_url).port
    before = system.messages
    with socket.socket() as stranger:
        stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        eventually(lambda: killed_and_bound(system, stranger, (host, port)), "the port is free for a moment")
        stranger.listen()
        sentence = f"The simulated site ended with status 1 (ipucloud-sim: port {port} "
        eventually(lambda: sentence in system.messages[len(before) :], "the port is missed")
    eventually(lambda: system.messages.endswith("The simulated site is running again.\n"), "the site runs again")
    works(system)


def killed_and_bound(system: Up, stranger: socket.socket, address: tuple[str | None, int | None]) -> bool:
    """Kill the site, and take its port unless it was quicker."""
    for pid in system.ipucloud.pids("ipucloud.laboratory.simulator.main"):
        os.kill(pid, signal.SIGKILL)
    try:
        stranger.bind(address)
    except OSError:
        return False
    return True


def test_what_is_killed_while_it_starts_is_started_again(ipucloud: Ipucloud, tmp_path: Path) -> None:
    with starting(ipucloud, tmp_path / "data", "--time-scale", "0") as system:
        remaining = dict(EVERYTHING)
        while remaining:
            for killed, (find, _) in list(remaining.items()):
                try:
                    os.kill(find(system), signal.SIGKILL)
                except (FileNotFoundError, ProcessLookupError, IndexError, ValueError):
                    continue  # not started yet
                del remaining[killed]
            assert system.process.poll() is None, system.messages
        assert ipucloud.json("whoami", **system.environment)["role"] == "owner"
        for name in ("PostgreSQL", "The simulated site", "The worker", "The API"):
            assert f"{name} was ended by signal 9" in system.messages
        system.stop()
    assert ipucloud.still_running() == []


@pytest.fixture
def broken(ipucloud: Ipucloud, tmp_path: Path) -> Path:
    """The data directory of a system whose PostgreSQL does not start any more."""
    with up(ipucloud, tmp_path / "data") as first:
        first.stop()
    break_postgres(tmp_path / "data")
    return tmp_path / "data"


def break_postgres(data: Path) -> None:
    with (data / "postgres" / "data" / "postgresql.conf").open("a") as settings:
        settings.write("no_such_setting = 1\n")


def test_what_cannot_be_kept_ends_everything_with_a_sentence(ipucloud: Ipucloud, broken: Path) -> None:
    with starting(ipucloud, broken) as system:
        system.process.communicate(timeout=PATIENCE)
    assert system.process.returncode == 1
    last = system.messages.splitlines()[-1]
    assert "PostgreSQL cannot be kept running. It was started 5 times in a row" in last
    log = broken / "logs" / "postgres.log"
    assert str(log) in last
    assert "no_such_setting" in log.read_text()
    assert "Traceback" not in system.messages
    assert ipucloud.still_running() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_it_stops_while_the_database_is_down(ipucloud: Ipucloud, tmp_path: Path, number: signal.Signals) -> None:
    with up(ipucloud, tmp_path / "data") as system:
        break_postgres(system.data)
        os.kill(postmaster(system), signal.SIGKILL)
        eventually(lambda: "restarting it in 2 s" in system.messages, "it was tried again in vain")
        assert system.stop(number).endswith("ipucloud: stopped; no processes are left.\n")
    assert ipucloud.still_running() == []
