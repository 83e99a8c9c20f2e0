"""Requests made by Schemathesis, in a process of their own: every process that collects them draws them all first."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CASES = Path(__file__).with_name("schemathesis_cases.py")


def test_the_service_is_what_the_document_says() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(CASES)]
    run = subprocess.run(command, cwd=CASES.parents[2], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
