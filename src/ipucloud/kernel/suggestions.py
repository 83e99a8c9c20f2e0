"""Which of the names that exist is meant by one that does not."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

SUGGESTED = 8


def nearest(name: str, known: Iterable[str]) -> str:
    """The names most like `name`, nearest first, for a sentence; `none` if there is none."""
    ranked = sorted(dict.fromkeys(known), key=lambda each: -SequenceMatcher(None, name, each).ratio())
    return ", ".join(ranked[:SUGGESTED]) + (", …" if len(ranked) > SUGGESTED else "") or "none"
