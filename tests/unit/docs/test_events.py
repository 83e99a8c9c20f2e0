"""docs/events.md has the event types as they are registered."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

from ipucloud.contract.event_types.names import REGISTRY

DOCS = Path(__file__).parents[3] / "docs"


def test_the_committed_page_is_the_generated_one() -> None:
    page: str = runpy.run_path(str(DOCS / "generate_events.py"))["page"]()
    assert (DOCS / "events.md").read_text() == page, "run: python docs/generate_events.py"


def test_every_type_is_listed() -> None:
    page = (DOCS / "events.md").read_text()
    named = set(re.findall(r"`(\w+\.\w+)`", page))
    for noun, verbs in re.findall(r"`(\w+)\.\w+`((?:, `\.\w+`)+)", page):
        named |= {f"{noun}.{verb}" for verb in re.findall(r"\.(\w+)", verbs)}
    assert REGISTRY.keys() - named == set()
