"""SQL that the documentation tells an operator to run does run."""

from __future__ import annotations

import re
from pathlib import Path

import psycopg
import pytest

from tests.support.filled_names import Filled
from tests.support.postgres import Database

DOCS = Path(__file__).parents[3] / "docs"
BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in sorted(DOCS.glob("*.md"))
    for number, block in enumerate(re.findall(r"```sql\n(.*?)```", page.read_text(), re.DOTALL), start=1)
]


@pytest.mark.parametrize("role", ["owner", "app"])
@pytest.mark.parametrize("block", BLOCKS)
def test_runs(database: Database, filled: Filled, block: str, role: str) -> None:
    """With the filled database's cluster where the page has a placeholder."""
    script = block.replace("<cluster id>", str(filled.cluster))
    assert "<" not in re.sub(r"<[=>]?(?= )", "", script), "a placeholder that this test does not know"
    with psycopg.connect(getattr(database, f"{role}_url"), autocommit=True) as connection:
        connection.execute(script.encode())
