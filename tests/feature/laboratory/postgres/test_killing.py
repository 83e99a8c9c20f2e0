"""The embedded server against SIGKILL: whatever is killed, nothing is left running and nothing is lost."""

import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg

from ipucloud.laboratory.postgres import EmbeddedPostgres
from ipucloud.laboratory.postgres.account import account_for
from tests.support.embedded import (
    STARTER,
    execute,
    kept_rows,
    launch,
    no_server_process,
    parent_of,
    postmaster_of,
    socket_directory,
    starter,
)
from tests.support.machine import Need, needs
from tests.support.waiting import PATIENCE, eventually

pytestmark = needs(Need.LINUX)  # only Linux signals the server when its guard dies

FORKING_STARTER = """
import os, pathlib, signal, sys
from ipucloud.laboratory.postgres import EmbeddedPostgres
with EmbeddedPostgres(pathlib.Path(sys.argv[1])):
    if child := os.fork():
        print(child, flush=True)
    signal.pause()
"""

ZOMBIE_MAKER = """
import ctypes, os, pathlib, signal, subprocess, sys
ctypes.CDLL(None).prctl(36, 1)  # PR_SET_CHILD_SUBREAPER: orphans come to us, and we never wait for them
command = [sys.executable, "-c", sys.argv[2], sys.argv[1]]
starter = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
starter.stdout.readline()
root = pathlib.Path(sys.argv[1])
postmaster = int((root / "data/postmaster.pid").read_text().split()[0])
status = pathlib.Path(f"/proc/{postmaster}/status")
guard = int(next(line for line in status.read_text().splitlines() if line.startswith("PPid")).split()[1])
os.kill(guard, signal.SIGSTOP)  # so that it does not wait for its child either
for pid in (postmaster, guard, starter.pid):
    os.kill(pid, signal.SIGKILL)
while "State:\\tZ" not in status.read_text() or f"PPid:\\t{os.getpid()}\\n" not in status.read_text():
    os.sched_yield()
from ipucloud.laboratory.postgres import EmbeddedPostgres
with EmbeddedPostgres(root):
    print("State:\\tZ" in status.read_text(), flush=True)
"""


def test_the_server_ends_with_a_killed_starter(root: Path) -> None:
    with starter(root) as process:
        execute(EmbeddedPostgres(root), "INSERT INTO kept VALUES (2)")
        process.kill()
        process.wait()
        with EmbeddedPostgres(root) as server:  # waits for the old one to end
            assert kept_rows(server) == 2


def test_a_start_beside_a_guard_that_still_clears_up_keeps_the_directory_for_the_socket(root: Path) -> None:
    with starter(root) as process, ThreadPoolExecutor(1) as pool:
        guard = parent_of(postmaster_of(root))
        os.kill(guard, signal.SIGSTOP)
        process.kill()
        process.wait()
        server = EmbeddedPostgres(root)
        starting = pool.submit(server.start)
        try:
            runs = (root / "data" / "postmaster.pid").exists
            eventually(lambda: not runs(), "the start waits for the earlier server, and has asked it to end")
        finally:
            os.kill(guard, signal.SIGCONT)
        starting.result()
        assert kept_rows(server) == 1
        server.stop()


def test_a_killed_starter_leaves_no_directory_for_the_socket(directory: Path) -> None:
    root = directory / ("deep" * 30) / "db"
    with starter(root) as process:
        sockets = socket_directory(EmbeddedPostgres(root))
        assert not sockets.is_relative_to(root)
        process.kill()
        eventually(lambda: not sockets.exists(), "the socket's directory goes with the server")


def test_the_server_ends_with_a_killed_guard(root: Path) -> None:
    with starter(root):
        os.kill(parent_of(postmaster_of(root)), signal.SIGKILL)
        eventually(lambda: no_server_process(root), "the server ends with its guard")


# Never ends and stays in memory: a longer series alone would be written to temporary files, gigabytes of them.
BUSY = "SELECT count(*) FROM generate_series(1, 1000) a, generate_series(1, 1000) b, generate_series(1, 1000000) c"


def test_a_server_that_is_killed_is_noticed_and_can_be_started_again(root: Path) -> None:
    server = EmbeddedPostgres(root)
    for _ in range(2):
        server.start()
        execute(server, "INSERT INTO kept VALUES (2)")
        os.kill(postmaster_of(root), signal.SIGKILL)
        assert server.wait() == -signal.SIGKILL
        server.stop()
    with server:
        assert kept_rows(server) == 3


def test_a_query_that_goes_on_after_the_server_was_killed_is_ended(root: Path) -> None:
    server = EmbeddedPostgres(root)
    server.start()
    asking = threading.Thread(target=ask_until_cut_off, args=[server.owner_url()], daemon=True)
    asking.start()
    with psycopg.connect(server.superuser_url, autocommit=True) as connection:
        active = "SELECT count(*) FROM pg_stat_activity WHERE query = %s AND state = 'active'"
        eventually(lambda: connection.execute(active, [BUSY]).fetchone() == (1,), "the query runs")
        os.kill(postmaster_of(root), signal.SIGKILL)
    assert server.wait() == -signal.SIGKILL
    asking.join(60)
    assert not asking.is_alive(), "its query was cut off"
    server.stop()
    assert no_server_process(root)


def ask_until_cut_off(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection, suppress(psycopg.OperationalError):
        connection.execute(BUSY)


def test_a_guard_that_is_killed_is_noticed(root: Path) -> None:
    server = EmbeddedPostgres(root)
    server.start()
    os.kill(parent_of(postmaster_of(root)), signal.SIGKILL)
    assert server.wait() == -signal.SIGKILL
    server.stop()
    with server:
        assert kept_rows(server) == 1


def test_a_server_that_was_stopped_by_somebody_else_is_noticed(root: Path) -> None:
    server = EmbeddedPostgres(root)
    server.start()
    os.kill(postmaster_of(root), signal.SIGTERM)
    assert server.wait() == 0
    server.stop()


def test_stop_waits_for_a_server_whose_guard_was_killed(root: Path) -> None:
    server = EmbeddedPostgres(root)
    server.start()
    os.kill(parent_of(postmaster_of(root)), signal.SIGKILL)
    server.stop()
    assert no_server_process(root)


def test_committed_rows_survive_killing_everything(root: Path) -> None:
    with starter(root) as process:
        execute(EmbeddedPostgres(root), "INSERT INTO kept VALUES (2)")
        postmaster = postmaster_of(root)
        for pid in (postmaster, parent_of(postmaster), process.pid):
            os.kill(pid, signal.SIGKILL)
        process.wait()
    with EmbeddedPostgres(root) as server:
        assert kept_rows(server) == 2


def test_a_pid_file_that_names_a_stranger_does_not_prevent_a_start(root: Path) -> None:
    pid_file = root / "data" / "postmaster.pid"
    with starter(root):
        left_over = pid_file.read_text()
    account = account_for(root / "data")
    with subprocess.Popen(["sleep", "600"], user=account.uid, group=account.gid) as stranger:
        try:
            pid_file.write_text(left_over.replace(left_over.split()[0], str(stranger.pid), 1))
            account.hand_over(pid_file)
            with EmbeddedPostgres(root) as server:
                assert kept_rows(server) == 1
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_zombie_postmaster_does_not_prevent_a_start(root: Path) -> None:
    command = [sys.executable, "-c", ZOMBIE_MAKER, str(root), STARTER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.stdout == "True\n", done.stderr


def test_a_crash_while_the_first_data_is_written_leaves_nothing_half_made(directory: Path) -> None:
    root = directory / "db"
    process = launch(root, STARTER)
    eventually((root / "data.new" / "PG_VERSION").exists, "initdb has begun")
    process.kill()
    process.communicate()
    eventually(lambda: no_server_process(root), "initdb ends with its starter")
    assert not (root / "data").exists()
    with EmbeddedPostgres(root) as server:
        execute(server, "CREATE TABLE whole (value int)")
    assert not (root / "data.new").exists()


def test_a_forked_child_does_not_keep_the_server_alive(root: Path) -> None:
    with launch(root, FORKING_STARTER) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        process.kill()
        try:
            eventually(lambda: no_server_process(root), "the server ends although the fork lives")
        finally:
            os.kill(child, signal.SIGKILL)
