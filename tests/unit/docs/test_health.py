"""docs/health.md is what the codes declare."""

from __future__ import annotations

import runpy
from pathlib import Path

from ipucloud.inventory.health.codes import CODES, Code

DOCS = Path(__file__).parents[3] / "docs"


def test_the_committed_page_is_the_generated_one() -> None:
    generated = runpy.run_path(str(DOCS / "generate_health.py"))
    assert {code.value for code in Code} <= set(generated["STEPS"]), "each code has a next step for the operator"
    assert (DOCS / "health.md").read_text() == generated["page"](), "run: python docs/generate_health.py"


def test_every_code_is_declared_and_its_sentence_ends() -> None:
    assert set(Code) == {code for codes in CODES.values() for code in codes}
    messages = [declared.message for codes in CODES.values() for declared in codes.values() if declared.message]
    assert [message for message in messages if not message.endswith(".")] == []
