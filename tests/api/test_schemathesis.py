"""Requests made by Schemathesis, in a process of their own: every process that collects them draws them all first."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CASES = Path(__file__).with_name("schemathesis_cases.py")


@pytest.mark.slow
@pytest.mark.parametrize("examples", [0, pytest.param(25, marks=pytest.mark.full)])
def test_the_service_is_what_the_document_says(examples: int) -> None:
    plugins = ["-p", "schemathesis.pytest.plugin", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-q", *plugins, str(CASES)]
    environment = {**os.environ, "SCHEMATHESIS_EXAMPLES": str(examples)}
    run = subprocess.run(command, cwd=CASES.parents[2], env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
