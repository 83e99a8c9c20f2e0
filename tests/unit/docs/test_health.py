"""Every code of a health report is declared, with what docs/health.md says of it."""

from __future__ import annotations

import runpy
from pathlib import Path

from ipucloud.inventory.health.codes import CODES, Code

DOCS = Path(__file__).parents[3] / "docs"


def test_every_code_is_declared_with_a_next_step_and_its_sentence_ends() -> None:
    assert {code.value for code in Code} <= set(runpy.run_path(str(DOCS / "generate_health.py"))["STEPS"])
    assert set(Code) == {code for codes in CODES.values() for code in codes}
    messages = [declared.message for codes in CODES.values() for declared in codes.values() if declared.message]
    assert [message for message in messages if not message.endswith(".")] == []
