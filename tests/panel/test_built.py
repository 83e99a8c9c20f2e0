"""The built panel: what a browser of a user loads."""

from __future__ import annotations

import re

import pytest

from tests.panel.conftest import STATIC

pytestmark = pytest.mark.skipif(not (STATIC / "index.html").is_file(), reason="there is no panel")


def test_nothing_in_the_page_needs_a_weaker_policy() -> None:
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|style=|<script(?![^>]*\bsrc=)|javascript:|data:", page)
    assert not any("data:font" in sheet.read_text() for sheet in STATIC.rglob("*.css"))


def test_text_is_compressed_and_its_licences_are_told() -> None:
    texts = [path for path in STATIC.rglob("*") if path.suffix in {".js", ".css"}]
    assert texts
    assert all(path.with_name(path.name + ".br").is_file() for path in texts if path.stat().st_size > 2048)
    assert "react" in (STATIC / "third-party.txt").read_text()
