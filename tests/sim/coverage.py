"""What histories came through. A fault that never happened and a step that never ran prove nothing: all is counted."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TypeAlias


class CoverageKind(StrEnum):
    """What is counted, each under names of its own."""

    BOUNDARY = "boundaries that workers passed"
    KILLED = "boundaries at which a worker was killed"
    FROZEN = "boundaries at which a worker was frozen"
    FAULT = "faults"
    FAULTY_CALL = "faults of single calls to the site"
    FAULTY_STATEMENT = "faults of single statements"
    STEP = "steps, and how they ended"
    OPERATION = "operations, and how they ended"
    TASK = "periodic tasks that ran"


Coverage: TypeAlias = Counter[tuple[CoverageKind, str]]


def boundary(what: str) -> str:
    """What a trace says of a boundary, without the names of single objects."""
    words = what.split()
    if words[0].isupper():  # a statement
        return what
    return " ".join(word for word in words if word.replace("_", "").isalpha())
