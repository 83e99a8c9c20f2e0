"""Event types as requests name them: a misspelt one is refused with those that it may mean."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ipucloud.contract.event_types import REGISTRY

TYPES = sorted(REGISTRY)
PATTERNS = sorted({*TYPES, *(f"{name.partition('.')[0]}.*" for name in TYPES)})
"""Every pattern that matches something: each type, and all types of a noun, such as `cluster.*`."""

_NEAR = 0.5
"""How alike a suggestion is, as `difflib` measures it."""


def _one_of(known: list[str]) -> AfterValidator:
    def check(sent: str) -> str:
        if sent in known:
            return sent
        near = " or ".join(f"`{name}`" for name in get_close_matches(sent, known, cutoff=_NEAR))
        meant = f"did you mean {near}? " if near else ""
        raise PydanticCustomError(
            "unknown_event_type", f"`{sent}` matches no event type; {meant}GET /v1/event-types lists all"
        )

    return AfterValidator(check)


# The form is checked first, so that what a refusal repeats is never more than such a name.
EventTypeName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z_]{0,62}\.[a-z][a-z_]{0,62}$", json_schema_extra={"enum": list(TYPES)}),
    _one_of(TYPES),
]
"""One registered type. A pydantic error of another one has the type `unknown_event_type`."""
EventTypePattern = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z_]{0,62}\.([a-z][a-z_]{0,62}|\*)$",
        examples=["cluster.*"],
        json_schema_extra={"enum": list(PATTERNS)},
    ),
    _one_of(PATTERNS),
]
"""One registered type, or all of a noun."""
