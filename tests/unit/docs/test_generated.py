"""Pages that are generated from the code are those that were committed."""

from __future__ import annotations

import runpy

import pytest

from tests.support.pages import DOCS


@pytest.mark.parametrize(
    ("generator", "page"),
    [
        ("acceptance", "ai-cloud-validation.md"),
        ("events", "events.md"),
        ("health", "health.md"),
        ("invariants", "reliability/invariants.md"),
        ("settings", "operations/settings.md"),
    ],
)
def test_the_committed_page_is_the_generated_one(generator: str, page: str) -> None:
    generated = runpy.run_path(str(DOCS / f"generate_{generator}.py"))["page"]()
    assert (DOCS / page).read_text() == generated, f"run: python docs/generate_{generator}.py"


def test_the_committed_pages_of_states_are_the_generated_ones() -> None:
    pages: dict[str, str] = runpy.run_path(str(DOCS / "generate_states.py"))["pages"]()
    committed = {path.name: path.read_text() for path in (DOCS / "states").iterdir()}
    assert committed == pages, "run: python docs/generate_states.py"
