"""CONTRIBUTING.md names files that are there, and keeps its word on how much a new operation touches."""

from __future__ import annotations

import re
from pathlib import Path

CHECKOUT = Path(__file__).parents[3]
PAGE = (CHECKOUT / "CONTRIBUTING.md").read_text()
PATHS = sorted(set(re.findall(r"`((?:src|docs|tests|alembic|bench)/[^`\s]*)`", PAGE)))
OPERATION_FILES = 8


def test_a_named_file_is_there() -> None:
    assert PATHS
    assert [path for path in PATHS if not (CHECKOUT / path).exists()] == []


def test_a_new_operation_touches_few_files() -> None:
    recipe = PAGE.split("### an operation", 1)[1].split("### ", 1)[0]
    steps = re.findall(r"^\d+\. ", recipe, re.MULTILINE)
    assert len(steps) <= OPERATION_FILES
