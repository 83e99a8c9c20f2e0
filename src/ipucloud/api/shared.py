"""What operations of the OpenAPI document have in common, written once: their parameters and responses.

A shared parameter has its own name, a refusal the name of its codes, and an answer that of its body. Where several
would have one name, the one that most operations have gets it; to the others, the first operation that has them is
added.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import orjson

SECTIONS = ("parameters", "responses")


class _Place(NamedTuple):
    """Where a parameter or response is in the operation with this id."""

    operation: str
    holder: Any
    key: Any

    @property
    def part(self) -> dict[str, Any]:
        part: dict[str, Any] = self.holder[self.key]
        return part


def share(document: dict[str, Any]) -> None:
    """Move what at least two operations have alike into the components, and leave a reference.

    Raises ValueError when two parts would have one name.
    """
    for section in SECTIONS:
        shared = document["components"].setdefault(section, {})
        alike = defaultdict(list)
        for place in _places(document, section):
            alike[orjson.dumps(place.part, option=orjson.OPT_SORT_KEYS)].append(place)
        for places in sorted(alike.values(), key=len, reverse=True):
            if len(places) == 1:
                break
            first = places[0]
            name = _name(first)
            if name in shared:
                name = f"{name}.{first.operation}"
            if name in shared:
                raise ValueError(f"two {section} would have the name {name}")
            shared[name] = first.part
            for place in places:
                place.holder[place.key] = {"$ref": _reference(section, name)}


def expanded(document: dict[str, Any]) -> dict[str, Any]:
    """The document as it is without `share`, but for components of that name."""
    whole = {**document, "paths": deepcopy(document["paths"])}
    for section in SECTIONS:
        shared = {_reference(section, name): part for name, part in document["components"][section].items()}
        for place in _places(whole, section):
            if "$ref" in place.part:
                place.holder[place.key] = shared[place.part["$ref"]]
    return whole


def _places(document: dict[str, Any], section: str) -> Iterator[_Place]:
    for methods in document["paths"].values():
        for operation in methods.values():
            parts = operation.get(section, ())
            for key in list(parts) if isinstance(parts, dict) else range(len(parts)):
                yield _Place(operation["operationId"], parts, key)


def _reference(section: str, name: str) -> str:
    return f"#/components/{section}/{name}"


def _name(place: _Place) -> str:
    if "name" in place.part:
        return str(place.part["name"])
    for media in place.part.get("content", {}).values():
        if int(place.key) >= 400:
            return ".".join(media["examples"])
        return f"{media['schema'].get('$ref', '').rpartition('/')[2] or 'content'}.{place.key}"
    return str(place.key)
