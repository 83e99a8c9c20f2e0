"""Processes whose log nobody takes, and processes that are asked twice to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.process.services import KINDS, Service, each_of, pipe, service
from tests.support.postgres import Database
from tests.support.processes import Ipucloud, ipucloud_processes
from tests.support.waiting import PATIENCE, eventually

ENDED_AT_ONCE = {128 + signal.SIGINT, 128 + signal.SIGTERM}
FAULTS = """
import asyncio, logging, sys, threading, warnings
import structlog
from ipucloud.process import logs

logs.configure("json", "info")
structlog.get_logger().info("ours", text="two\\nlines")
logging.getLogger("uvicorn.error").warning("library %s", "here")
warnings.warn("a warning")
print("printed\\ntwice", file=sys.stderr)

async def forgotten():
    asyncio.get_running_loop().call_soon(lambda: 1 / 0)
    await asyncio.sleep(0)

class Finalized:
    def __del__(self):
        raise RuntimeError("in a finalizer")

asyncio.run(forgotten())
thread = threading.Thread(target=lambda: [].pop())
thread.start()
thread.join()
Finalized()
raise LookupError("at the end")
"""


def put_full_disk(descriptor: int) -> None:
    """Make the descriptor one to which every write fails."""
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, descriptor)
    os.close(full)


def ask(api: Service, times: int) -> None:
    """Requests that make a line of the log each, and need no database."""
    for _ in range(times):
        assert api.outside.get("/v1/whoami").status_code == 401


@pytest.mark.sample(3)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("obstacle", ["full disk", "full pipe", "no reader", "closed"])
def test_a_process_works_and_drains_without_its_log(
    kind: str, obstacle: str, tmp_path: Path, database: Database
) -> None:
    with pipe(full=obstacle == "full pipe") as (reading, writing):
        if obstacle == "full disk":
            put_full_disk(writing)
        elif obstacle == "no reader":
            os.close(reading)
        stderr = None if obstacle == "closed" else writing
        with service(kind, stderr, tmp_path, database.app_url) as started:
            if kind == "api":
                ask(started, 20)
            if kind != "simulator" and obstacle in {"full disk", "no reader"}:
                eventually(lambda: started.lost > 0, "lost lines are counted")
            assert started.stop() == 0


def test_requests_are_answered_while_nobody_reads_the_log_and_its_reader_learns_what_is_missing(
    tmp_path: Path, database: Database
) -> None:
    events: list[dict[str, Any]] = []
    hurried = {"IPUCLOUD_RATE_LIMIT_BURST": "1000000"}
    with pipe() as (reading, writing), service("api", writing, tmp_path, database.app_url, **hurried) as api:
        os.close(writing)
        requests = 0
        while api.lost < 200:
            ask(api, 500)
            requests += 500
        reader = threading.Thread(target=lambda: events.extend(each_of(reading)))
        reader.start()
        eventually(lambda: requests_in(events) == requests - api.lost, "what was kept is read")
        lost = api.lost
        assert api.stop() == 0
        reader.join()
    [report] = [event for event in events if event["event"] == "log_lines_lost"]
    assert (report["count"], report["level"]) == (lost, "warning")
    assert events[-1]["event"] == "api_stopped"


def requests_in(events: list[dict[str, Any]]) -> int:
    return sum(event["event"] == "request" for event in events)


def test_a_full_pipe_does_not_keep_a_second_signal_from_ending_an_api_that_drains(
    tmp_path: Path, database: Database
) -> None:
    slowly = {"IPUCLOUD_DRAIN_SECONDS": "4000"}
    with pipe(full=True) as (_, writing), service("api", writing, tmp_path, database.app_url, **slowly) as api:
        eventually(lambda: api.inside.get("/readyz").status_code == 200, "it is ready, and watched")
        api.process.send_signal(signal.SIGTERM)
        eventually(lambda: api.inside.get("/readyz").status_code == 503, "it drains")
        assert api.stop() == 128 + signal.SIGTERM


@pytest.mark.parametrize("kind", KINDS)
def test_a_second_signal_ends_every_kind_of_process(kind: str, tmp_path: Path, database: Database) -> None:
    with pipe(full=True) as (_, writing), service(kind, writing, tmp_path, database.app_url) as started:
        assert signalled_twice(started.process) in ENDED_AT_ONCE


def signalled_twice(process: subprocess.Popen[bytes] | subprocess.Popen[str]) -> int:
    """Both stop signals at once, and no time to act on the first."""
    for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
        process.send_signal(number)
    return process.wait(60)


@pytest.fixture
def ipucloud(tmp_path: Path) -> Iterator[Ipucloud]:
    with ipucloud_processes(tmp_path) as started:
        yield started


def started_up(ipucloud: Ipucloud, folder: Path) -> subprocess.Popen[str]:
    """`ipucloud up`, once it runs."""
    process = ipucloud.start("up", "--json", IPUCLOUD_DATA_DIR=str(folder / "data"), IPUCLOUD_PORT="0")
    assert process.stdout is not None
    assert process.stdout.readline()
    return process


@pytest.mark.parametrize("obstacle", ["full disk", "full pipe"])
def test_up_restarts_its_programs_and_ends_in_order_without_its_messages(
    ipucloud: Ipucloud, tmp_path: Path, obstacle: str
) -> None:
    with pipe(full=obstacle == "full pipe") as (_, writing):
        if obstacle == "full disk":
            put_full_disk(writing)
        ipucloud.stderr = writing
        with started_up(ipucloud, tmp_path) as process:
            [worker] = ipucloud.pids("ipucloud.cli.main", "worker")
            os.kill(worker, signal.SIGKILL)
            eventually(
                lambda: ipucloud.pids("ipucloud.cli.main", "worker") not in ([], [worker]), "the worker starts again"
            )
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0
    assert ipucloud.still_running() == []


def test_a_second_signal_ends_up_and_nothing_outlives_it(ipucloud: Ipucloud, tmp_path: Path) -> None:
    with started_up(ipucloud, tmp_path) as process:
        assert signalled_twice(process) in ENDED_AT_ONCE
    eventually(lambda: ipucloud.still_running() == [], "everything ends with it")


@pytest.mark.parametrize("kind", KINDS)
def test_every_line_on_standard_error_is_json(kind: str, tmp_path: Path, database: Database) -> None:
    with pipe() as (reading, writing):
        settings = {"IPUCLOUD_VIPU_PLAINTEXT": "true"} if kind == "worker" else {}
        with service(kind, writing, tmp_path, database.app_url, **settings) as started:
            os.close(writing)
            if kind == "api":
                ask(started, 1)
            assert started.stop() == 0
        levels = {event["event"]: event["level"] for event in each_of(reading)}
    expected = {
        "api": {"api_started", "request", "api_draining", "api_stopped"},
        "worker": {"worker_started", "vipu_plaintext_allowed"},
    }
    assert expected.get(kind, set()) <= set(levels)
    if kind == "worker":
        assert levels["vipu_plaintext_allowed"] == "warning"


def test_whatever_reaches_standard_error_is_json() -> None:
    done = subprocess.run([sys.executable, "-c", FAULTS], stderr=subprocess.PIPE, check=False, timeout=PATIENCE)
    assert done.returncode == 1
    with pipe() as (reading, writing):
        os.write(writing, done.stderr)
        os.close(writing)
        events = list(each_of(reading))
    assert {"ours", "library here", "printed", "twice"} <= {event["event"] for event in events}
    text = done.stderr.decode()
    for part in ("a warning", "ZeroDivisionError", "pop from empty list", "in a finalizer", "at the end"):
        assert part in text
    assert events[-1]["event"] == "uncaught_exception"
    assert all(event["level"] and event["timestamp"] for event in events)
