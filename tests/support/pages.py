"""Commands of the documentation's pages, as a reader would type them."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
_BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script(page: Path) -> str:
    """All `sh` blocks of a page in one shell script, which ends with the first command that fails."""
    return "\n".join(["set -eu", *_BLOCK.findall(page.read_text())])
