"""SIGHUP, whatever the process is doing when it comes."""

from __future__ import annotations

import signal
import subprocess
import sys

PROGRAM = """
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
    print("starting", flush=True)
    sys.stdin.readline()
    asyncio.run(main(reload))
    print("ending", flush=True)
    sys.stdin.readline()
"""


def test_it_ends_nothing_and_asks_each_time_also_when_it_comes_too_early() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "starting\n"
        process.send_signal(signal.SIGHUP)
        print(file=process.stdin, flush=True)
        assert process.stdout.readline() == "asked\n"
        process.send_signal(signal.SIGHUP)
        assert process.stdout.readline() == "asked\n"
        assert process.stdout.readline() == "ending\n"
        process.send_signal(signal.SIGHUP)
        print(file=process.stdin, flush=True)
        assert process.wait(60) == 0
