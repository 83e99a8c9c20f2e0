"""The built panel: what a browser of a user loads."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from functools import cache
from typing import Any

from tests.panel.conftest import STATIC
from tests.support.machine import Need, needs

COLD_LOAD = 460_000
"""The most bytes that may come over the wire when a page is the first one that a browser opens (bench/README.md)."""
FACES = 3
"""Fonts that a page shows: regular, semibold, bold."""
ANSWERS = 10_000
"""What the API's answers on a page may take, compressed."""
ENTRY, ALWAYS = "index.html", ("src/app/Shell.tsx", "src/i18n/de.ts")
"""What every page loads, with its texts: the German ones are longer."""
TEXTS = "src/i18n/de/"

pytestmark = needs(Need.PANEL)


def test_nothing_in_the_page_needs_a_weaker_policy() -> None:
    page = (STATIC / "index.html").read_text()
    assert not re.search(r"<style|style=|<script(?![^>]*\bsrc=)|javascript:|data:", page)
    assert not any("data:font" in sheet.read_text() for sheet in STATIC.rglob("*.css"))


def test_text_is_compressed_and_its_licences_are_told() -> None:
    texts = [path for path in STATIC.rglob("*") if path.suffix in {".js", ".css"}]
    assert texts
    assert all(path.with_name(path.name + ".br").is_file() for path in texts if path.stat().st_size > 2048)
    assert "react" in (STATIC / "third-party.txt").read_text()


@cache
def manifest() -> dict[str, Any]:
    """Vite's account of which files belong to which part of the panel."""
    parsed: dict[str, Any] = json.loads((STATIC / ".vite" / "manifest.json").read_text())
    return parsed


def files_of(parts: Iterable[str]) -> set[str]:
    """The files that these parts need, with all that they import at once and the texts that they show, in German."""
    pending, reached = list(parts), set[str]()
    while pending:
        part = pending.pop()
        if part not in reached:
            reached.add(part)
            pending += manifest()[part].get("imports", ())
            pending += [each for each in manifest()[part].get("dynamicImports", ()) if each.startswith(TEXTS)]
    return {name for part in reached for name in (manifest()[part]["file"], *manifest()[part].get("css", ()))}


def sent(names: Iterable[str]) -> int:
    """The bytes of files as they are sent."""
    paths = [STATIC / name for name in names]
    compressed = [path.with_name(path.name + ".br") for path in paths]
    return sum((one if one.is_file() else other).stat().st_size for one, other in zip(compressed, paths, strict=True))


def test_no_page_loads_more_than_it_may() -> None:
    cloudscape = next(part for part in manifest() if part.endswith("/all.de.js"))
    around = sum(sorted(font.stat().st_size for font in STATIC.rglob("*.woff2"))[-FACES:]) + ANSWERS
    pages = [part for part in manifest()[ENTRY]["dynamicImports"] if part.startswith("src/pages/")]
    assert len(pages) > 20
    sizes = {
        f"{page} {part}".rstrip(): around
        + sent(files_of([ENTRY, *ALWAYS, cloudscape, page, *([part] if part else [])]))
        for page in pages
        for part in ["", *manifest()[page].get("dynamicImports", ())]
    }
    assert {page: size for page, size in sizes.items() if size > COLD_LOAD} == {}
