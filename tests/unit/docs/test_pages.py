"""Pages that are generated from the code are those that were committed, and tables have what the code has."""

from __future__ import annotations

import re
import runpy

import pytest

from ipucloud.contract.event_types.names import REGISTRY as EVENT_TYPES
from ipucloud.inventory.health.codes import CODES, Code
from ipucloud.kernel.errors import REGISTRY as ERRORS
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


def test_every_event_type_is_listed() -> None:
    page = (DOCS / "events.md").read_text()
    named = set(re.findall(r"`(\w+\.\w+)`", page))
    for noun, verbs in re.findall(r"`(\w+)\.\w+`((?:, `\.\w+`)+)", page):
        named |= {f"{noun}.{verb}" for verb in re.findall(r"\.(\w+)", verbs)}
    assert EVENT_TYPES.keys() - named == set()


def test_every_code_of_health_is_declared_with_a_next_step_and_its_sentence_ends() -> None:
    assert {code.value for code in Code} <= set(runpy.run_path(str(DOCS / "generate_health.py"))["STEPS"])
    assert set(Code) == {code for codes in CODES.values() for code in codes}
    messages = [declared.message for codes in CODES.values() for declared in codes.values() if declared.message]
    assert [message for message in messages if not message.endswith(".")] == []


def test_every_error_is_explained_once_with_its_status_and_title() -> None:
    row = re.compile(r"^\| `(\w+)` \| (\d+) \| (yes|no) \| (.+?) \| (.+?) \|$", re.MULTILINE)
    rows = row.findall((DOCS / "errors.md").read_text())
    documented = [(code, int(status), again == "yes") for code, status, again, *_ in rows]
    assert sorted(documented) == sorted((kind.code, kind.status, kind.retryable) for kind in ERRORS.values())
    meanings = {code: meaning for code, _, _, meaning, _ in rows}
    assert [kind.code for kind in ERRORS.values() if not meanings[kind.code].startswith(kind.title)] == []
