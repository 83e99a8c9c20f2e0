"""A warm process: it has imported the whole product once and forks a worker or an API process for every order.

Orders come as JSON lines on standard input, what becomes of the children leaves as JSON lines on standard output. The
process runs no event loop and no thread and opens no channel: a fork of it is a process that has just been started.
It ends, and its children with it, when its standard input ends.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import selectors
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ipucloud.api import serve
from ipucloud.catalogue.load import load
from ipucloud.config import Settings
from ipucloud.kernel.failpoints import Action, Armed, Trap, arm
from ipucloud.laboratory.simulator.parent import PR_SET_PDEATHSIG
from ipucloud.process.logs import standard_error
from ipucloud.worker import main as worker

ROLES: dict[str, Callable[[Settings], None]] = {"worker": worker.run, "api": serve.run}
CHUNK = 65_536


class ForkServer:
    """Forks on order, and reports of every child which points it reached and how it ended."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self._selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
        self._children: dict[int, tuple[int, str]] = {}
        self._orders = b""
        self._unfinished: dict[int, bytes] = {}

    def run(self) -> None:
        report(threads=sum(1 for _ in Path("/proc/self/task").iterdir()))
        while True:
            for key, _ in self._selector.select():
                chunk = os.read(key.fd, CHUNK)
                if key.fd in self._children:
                    self._heard(key.fd, chunk)
                elif not chunk:
                    return
                else:
                    self._ordered(chunk)

    def close(self) -> None:
        for pid, _ in self._children.values():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)

    def _ordered(self, chunk: bytes) -> None:
        *orders, self._orders = (self._orders + chunk).split(b"\n")
        for order in orders:
            self._fork(json.loads(order))

    def _fork(self, order: dict[str, Any]) -> None:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reading)
            for other in self._children:
                os.close(other)
            self._selector.close()
            _live(order, writing)
        os.close(writing)
        self._children[reading] = (pid, order["id"])
        self._unfinished[reading] = b""
        self._selector.register(reading, selectors.EVENT_READ)
        report(id=order["id"], pid=pid)

    def _heard(self, fd: int, chunk: bytes) -> None:
        pid, name = self._children[fd]
        if chunk:
            *points, self._unfinished[fd] = (self._unfinished[fd] + chunk).split(b"\n")
            report(id=name, points=[point.decode() for point in points])
            return
        self._selector.unregister(fd)
        os.close(fd)
        del self._children[fd], self._unfinished[fd]
        _, status = os.waitpid(pid, 0)
        report(id=name, status=os.waitstatus_to_exitcode(status))


def _live(order: dict[str, Any], points: int) -> None:
    """The child's whole life."""
    code = 1
    _die_with_parent()
    try:
        nothing, log = os.open(os.devnull, os.O_RDONLY), os.open(order["log"], os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        for old, new in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(old, new)
        traps = [Trap(trap["point"], trap["hit"], Action(trap["action"]), trap["after"]) for trap in order["traps"]]

        def report_point(point: str) -> None:
            os.write(points, f"{point}\n".encode())

        arm(Armed(traps, report_point))
        ROLES[order["role"]](Settings(**order["settings"]))
        code = 0
    except BaseException:  # noqa: BLE001  # whatever it is, a child must not go on as its parent
        traceback.print_exc()
    finally:
        standard_error().close()
        os._exit(code)


def _die_with_parent() -> None:
    """SIGKILL when the warm process ends, however it ends: a stopped child would heed nothing else."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def report(**event: object) -> None:
    os.write(1, (json.dumps(event) + "\n").encode())


def main() -> None:
    load()
    gc.collect()
    gc.freeze()
    server = ForkServer()
    try:
        server.run()
    finally:
        server.close()


if __name__ == "__main__":
    main()
