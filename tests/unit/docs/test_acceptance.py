"""docs/ai-cloud-validation.md names the tests that carry its rows."""

from __future__ import annotations

import runpy
from pathlib import Path

DOCS = Path(__file__).parents[3] / "docs"


def test_the_committed_page_is_the_generated_one() -> None:
    generated = runpy.run_path(str(DOCS / "generate_acceptance.py"))
    page: str = generated["page"]()
    assert (DOCS / "ai-cloud-validation.md").read_text() == page, "run: python docs/generate_acceptance.py"
