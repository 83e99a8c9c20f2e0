"""The pages of docs/states are what the transition tables say."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_committed_pages_are_the_generated_ones() -> None:
    pages: dict[str, str] = runpy.run_path(str(DOCS / "generate_states.py"))["pages"]()
    committed = {path.name: path.read_text() for path in (DOCS / "states").iterdir()}
    assert committed == pages, "run: python docs/generate_states.py"
