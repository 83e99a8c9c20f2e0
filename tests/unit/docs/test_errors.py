"""docs/errors.md explains every code of the registry, as the registry has it."""

from __future__ import annotations

import re
from pathlib import Path

from ipucloud.kernel.errors import REGISTRY

PAGE = Path(__file__).parents[3] / "docs" / "errors.md"
ROW = re.compile(r"^\| `(\w+)` \| (\d+) \| (yes|no) \| (.+?) \| (.+?) \|$", re.MULTILINE)


def test_the_page_has_every_code_once_with_its_status_and_title() -> None:
    rows = ROW.findall(PAGE.read_text())
    documented = [(code, int(status), again == "yes") for code, status, again, *_ in rows]
    assert sorted(documented) == sorted((kind.code, kind.status, kind.retryable) for kind in REGISTRY.values())
    meanings = {code: meaning for code, _, _, meaning, _ in rows}
    assert [kind.code for kind in REGISTRY.values() if not meanings[kind.code].startswith(kind.title)] == []
