"""JSON pointers (RFC 6901), as a client follows them."""

from __future__ import annotations

import re
from typing import Any

_OUR_NAME = re.compile(r"[a-z][a-z0-9_]*", re.ASCII)


def resolves(pointer: str, document: Any) -> bool:
    """Whether it leads to a value of the document, or to a member of ours that an object of the document lacks."""
    if pointer and not pointer.startswith("/"):
        return False
    parts = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for place, part in enumerate(parts, 1):
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif isinstance(document, list) and part.isdecimal() and int(part) < len(document):
            document = document[int(part)]
        else:
            return place == len(parts) and isinstance(document, dict) and _OUR_NAME.fullmatch(part) is not None
    return True
