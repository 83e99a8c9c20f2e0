"""The list of slow tests."""

from __future__ import annotations

from tests.support.selection import ROOT, SLOW


def test_what_is_slow_exists() -> None:
    assert [str(path.relative_to(ROOT)) for path in sorted(SLOW) if not path.exists()] == []
