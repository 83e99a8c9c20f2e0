"""Every page of the documentation points at things that exist."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from tests.support.cases import all_cases

CHECKOUT = Path(__file__).parents[3]
PAGES = sorted([*(CHECKOUT / "docs").rglob("*.md"), *(CHECKOUT / "tests").rglob("*.md"), *CHECKOUT.glob("*.md")])
DECISIONS = CHECKOUT / "docs" / "adr"
PAGES_TO_READ = [page for page in PAGES if CHECKOUT / "docs" in page.parents and not page.name.startswith("0")]


def test_links_lead_somewhere() -> None:
    with all_cases() as case:
        for page in PAGES:
            targets = re.findall(r"\]\(([^)\s]+)\)", page.read_text())
            local = [target.split("#")[0] for target in targets if "://" not in target and not target.startswith("#")]
            with case(page.name):
                assert [target for target in local if not (page.parent / target).exists()] == []


def test_anchors_are_headings() -> None:
    with all_cases() as case:
        for page in PAGES:
            targets = re.findall(r"\]\(([^)\s#]*)#([^)\s]+)\)", page.read_text())
            local = [(page.parent / path if path else page, anchor) for path, anchor in targets if "://" not in path]
            with case(page.name):
                assert [anchor for path, anchor in local if path.suffix == ".md" and anchor not in anchors(path)] == []


@cache
def anchors(page: Path) -> frozenset[str]:
    """Those that GitHub gives the headings of a page that exists."""
    prose = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", prose, re.MULTILINE)
    return frozenset(re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings)


def test_a_page_says_for_whom_it_is() -> None:
    with all_cases() as case:
        for page in PAGES_TO_READ:
            _, first, *_ = [block for block in page.read_text().split("\n\n") if not block.startswith("<!--")]
            with case(page.name):
                assert first.startswith("For ")


def test_every_decision_is_in_the_list_of_decisions() -> None:
    listed = re.findall(r"\]\((0[^)]+)\)", (DECISIONS / "README.md").read_text())
    assert listed == sorted(page.name for page in DECISIONS.glob("0*.md"))


def test_files_that_are_named_exist() -> None:
    """`src/…`, `tests/…`, and modules below src/ipucloud such as `kernel/errors.py`."""
    with all_cases() as case:
        for page in PAGES:
            named = re.findall(r"`([a-z_]+/[\w./-]*\w)`", page.read_text())
            places = (CHECKOUT, CHECKOUT / "src" / "ipucloud", page.parent)
            roots = {path.name for place in places for path in place.iterdir()}
            local = [path for path in named if path.split("/")[0] in roots]
            with case(page.name):
                assert [path for path in local if not any((place / path).exists() for place in places)] == []
