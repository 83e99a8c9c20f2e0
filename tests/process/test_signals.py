"""Signals to stop and to reload, whatever the process is doing when they come."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.waiting import PATIENCE, eventually

STARTING = """
import asyncio, sys
from ipucloud.process.signals import in_loop, stop_signals

async def main(signals):
    stopping = asyncio.Event()
    with in_loop(stopping.set) as stop, signals.calling(stop):
        await stopping.wait()

with stop_signals() as signals:
    print("here", flush=True)
    sys.stdin.readline()
    asyncio.run(main(signals))
"""
ELSEWHERE = """
import asyncio, signal, sys, threading
from ipucloud.process.signals import in_loop, stop_signals

def receive():
    print("here", flush=True)
    sys.stdin.readline()
    signal.pthread_kill(threading.get_ident(), signal.SIGTERM)

async def main(signals):
    stopping = asyncio.Event()
    with in_loop(stopping.set) as stop, signals.calling(stop):
        threading.Thread(target=receive, daemon=True).start()
        await stopping.wait()

with stop_signals() as signals:
    asyncio.run(main(signals))
"""
BLOCKED = """
import asyncio, time
from ipucloud.process.signals import in_loop, stop_signals

async def main(signals):
    with in_loop(asyncio.current_task().cancel) as stop, signals.calling(stop):
        print("here", flush=True)
        {block}

with stop_signals() as signals:
    asyncio.run(main(signals))
"""
RELOADING = """
import asyncio, sys
from ipucloud.process.signals import reload_signal
from ipucloud.process.signals import in_loop

async def main(reload):
    asked = asyncio.Event()
    with in_loop(asked.set) as ask, reload.calling(ask):
        for time in range(2):
            await asked.wait()
            asked.clear()
            print("asked", flush=True)

with reload_signal() as reload:
    print("here", flush=True)
    sys.stdin.readline()
    asyncio.run(main(reload))
    print("ending", flush=True)
    sys.stdin.readline()
"""


def started(program: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    return process


def test_a_signal_that_comes_before_the_event_loop_is_not_lost() -> None:
    with started(STARTING) as process:
        process.send_signal(signal.SIGTERM)
        process.communicate("\n", timeout=PATIENCE)
    assert process.returncode == 0


def test_a_signal_that_another_thread_receives_wakes_the_loop() -> None:
    with started(ELSEWHERE) as process:
        eventually(lambda: asleep(process.pid), "the event loop waits")
        process.communicate("\n", timeout=PATIENCE)
    assert process.returncode == 0


def asleep(pid: int) -> bool:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "S"


@pytest.mark.parametrize("block", ["time.sleep(600)", "while True: pass"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_a_process_whose_loop_is_blocked(block: str, number: signal.Signals) -> None:
    with started(BLOCKED.format(block=block)) as process:

        def ended() -> bool:  # signals that come before the first one was noted are one
            process.send_signal(number)
            return process.poll() is not None

        eventually(ended, "the process ends")
    assert process.returncode == 128 + number


def test_a_second_signal_ends_a_process_that_is_still_starting() -> None:
    with started(STARTING) as process:
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        assert process.wait(60) in {128 + signal.SIGINT, 128 + signal.SIGTERM}


def test_sighup_ends_nothing_and_asks_each_time_also_when_it_comes_too_early() -> None:
    with started(RELOADING) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.send_signal(signal.SIGHUP)
        print(file=process.stdin, flush=True)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == "asked\n"
        assert process.stdout.readline() == "ending\n"
        process.send_signal(signal.SIGHUP)
        print(file=process.stdin, flush=True)
        assert process.wait(60) == 0
