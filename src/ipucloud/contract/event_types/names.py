"""All types by name, and how requests name them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from ipucloud.contract.event_types import clusters, money, platform, projects
from ipucloud.contract.event_types.registry import KNOWN, EventType

_REGISTERING = (clusters, money, platform, projects)
"""Importing these registers their types."""
REGISTRY: Mapping[str, EventType] = KNOWN
OPERATOR_TYPES = sorted(name for name, kind in REGISTRY.items() if kind.operators)
"""The types that operators read."""
ACCOUNT_TYPES = sorted(name for name, kind in REGISTRY.items() if kind.account)
"""The types that billing accounts have."""
TYPES = sorted(name for name, kind in REGISTRY.items() if kind.project)
"""The types that projects have."""
PATTERNS = sorted({*TYPES, *(f"{name.partition('.')[0]}.*" for name in TYPES)})
"""Every valid pattern: each type, and all types of a noun, such as `cluster.*`."""
ACCOUNT_PATTERNS = sorted({*ACCOUNT_TYPES, *(f"{name.partition('.')[0]}.*" for name in ACCOUNT_TYPES)})
"""The same of billing accounts."""

_NEAR = 0.5
"""Minimum similarity of a suggestion, as `difflib` measures it."""


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


# The form is checked first, so that a refusal never repeats more than a well-formed name.
EventTypeName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z_]{0,62}\.[a-z][a-z_]{0,62}$", json_schema_extra={"enum": list(TYPES)}),
    _one_of(TYPES),
]
"""One registered type. For any other, pydantic's error has the type `unknown_event_type`."""
OperatorEventTypeName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z_]{0,62}\.[a-z][a-z_]{0,62}$", json_schema_extra={"enum": list(OPERATOR_TYPES)}),
    _one_of(OPERATOR_TYPES),
]
"""The same, of those that operators read."""
AccountEventTypeName = Annotated[
    str,
    Field(pattern=r"^[a-z][a-z_]{0,62}\.[a-z][a-z_]{0,62}$", json_schema_extra={"enum": list(ACCOUNT_TYPES)}),
    _one_of(ACCOUNT_TYPES),
]
"""The same, of those that billing accounts have."""
EventTypePattern = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z_]{0,62}\.([a-z][a-z_]{0,62}|\*)$",
        examples=["cluster.*"],
        json_schema_extra={"enum": list(PATTERNS)},
    ),
    _one_of(PATTERNS),
]
"""One registered type, or all types of a noun."""
AccountEventTypePattern = Annotated[
    str,
    Field(
        pattern=r"^[a-z][a-z_]{0,62}\.([a-z][a-z_]{0,62}|\*)$",
        examples=["invoice.*"],
        json_schema_extra={"enum": list(ACCOUNT_PATTERNS)},
    ),
    _one_of(ACCOUNT_PATTERNS),
]
"""The same, of those that billing accounts have."""
