"""Processes of the control plane, started and killed as an operator's machine would."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ipucloud.config import Settings
from ipucloud.laboratory.up import programs
from tests.support.waiting import PATIENCE

WORKER = "from ipucloud.config import Settings; from ipucloud.worker.main import run; run(Settings())"
API = "from ipucloud.config import Settings; from ipucloud.api.serve import run; run(Settings())"
STOP_SECONDS = PATIENCE


@contextmanager
def process(program: str, settings: Settings, log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run `program` with `settings` in its environment; killed at the end if it still runs."""
    with log.open("ab") as output:
        started = subprocess.Popen(
            [sys.executable, "-c", program], env=environment(settings), stdout=output, stderr=output
        )
    try:
        yield started
    finally:
        if started.poll() is None:
            started.kill()
        started.wait(STOP_SECONDS)


def environment(settings: Settings) -> dict[str, str]:
    """The variables that make `Settings()` equal to `settings`."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("IPUCLOUD_")}
    return {**inherited, **programs.environment(settings)}


def kill(started: subprocess.Popen[bytes]) -> None:
    """End the process as a power cut would, and wait until it is gone."""
    started.send_signal(signal.SIGKILL)
    started.wait(STOP_SECONDS)


def stop(started: subprocess.Popen[bytes]) -> int:
    """Ask the process to drain; answers its exit status."""
    started.send_signal(signal.SIGTERM)
    return started.wait(STOP_SECONDS)
