"""The first process of a container, which inherits what loses its parent.

Here it is made the one that inherits orphans by a request to the kernel, and told that it is process 1.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

from tests.support.machine import Need, needs
from tests.support.waiting import PATIENCE, eventually

pytestmark = needs(Need.LINUX)

FIRST = """
import ctypes, os, signal, subprocess, sys, threading
from unittest.mock import patch
from ipucloud.process.first import leave_first_process

PR_SET_CHILD_SUBREAPER = 36
assert ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
with patch("os.getpid", return_value=1):
    leave_first_process()
stopped = threading.Event()
signal.signal(signal.SIGTERM, lambda *_: stopped.set())
"""
ORPHANS = """
for _ in range(3):
    subprocess.run(["sh", "-c", "sleep 0 & exit"], check=True)  # its child outlives it, and then ends
print("here", flush=True)
stopped.wait()
sys.exit(7)
"""
KILLED = """
print("here", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def started(program: str) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", FIRST + program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "here\n"
    return process


def children(process: int) -> list[str]:
    """The states of its children, as /proc says them."""
    named = Path(f"/proc/{process}/task/{process}/children").read_text().split()
    return [Path(f"/proc/{child}/stat").read_text().rpartition(")")[2].split()[0] for child in named]


def test_what_lost_its_parent_does_not_stay_and_a_request_to_end_is_passed_on() -> None:
    with started(ORPHANS) as first:
        eventually(lambda: len(children(first.pid)) == 1, "only the program itself is left")
        assert children(first.pid) == ["S"]
        first.send_signal(signal.SIGTERM)
        assert first.wait(PATIENCE) == 7


def test_it_ends_as_the_program_was_ended() -> None:
    with started(KILLED) as first:
        assert first.wait(PATIENCE) == 128 + signal.SIGKILL


def test_no_other_process_is_forked() -> None:
    program = "import ipucloud.process.first as f; f.leave_first_process(); print('same')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "same\n"
