"""docs/events.md has every event type."""

from __future__ import annotations

import re
from pathlib import Path

from ipucloud.contract.event_types.names import REGISTRY

DOCS = Path(__file__).parents[3] / "docs"


def test_every_type_is_listed() -> None:
    page = (DOCS / "events.md").read_text()
    named = set(re.findall(r"`(\w+\.\w+)`", page))
    for noun, verbs in re.findall(r"`(\w+)\.\w+`((?:, `\.\w+`)+)", page):
        named |= {f"{noun}.{verb}" for verb in re.findall(r"\.(\w+)", verbs)}
    assert REGISTRY.keys() - named == set()
