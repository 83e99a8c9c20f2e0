"""Answers as docs/openapi.json describes them, of which a test writes only what it is about."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import orjson

REFERENCE = "#/components/schemas/"
SAMPLES = {"string": "text", "integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {}}
FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "uuid": "01900000-0000-7000-8000-0000000000ff",
}


@cache
def _document() -> Mapping[str, Any]:
    document: dict[str, Any] = orjson.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_bytes())
    return document


def component(name: str, value: object) -> object:
    """`value` with everything that this component must have."""
    return _filled_in({"$ref": REFERENCE + name}, value)


def filled_in(method: str, path: str, status: int, body: object) -> object:
    """`body` with everything that this answer must have; as it is when the API has no such answer."""
    schema = _answer(method.lower(), path, str(status))
    return body if schema is None else _filled_in(schema, body)


def _answer(method: str, path: str, status: str) -> Mapping[str, Any] | None:
    for template, operations in _document()["paths"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/:]+", re.escape(template))
        if method in operations and re.fullmatch(pattern, path):
            content = operations[method]["responses"].get(status, {}).get("content", {})
            schema: Mapping[str, Any] | None = content.get("application/json", {}).get("schema")
            return schema
    return None


def _filled_in(schema: Mapping[str, Any], value: Any) -> Any:
    """`value` with what `schema` requires; Ellipsis stands for anything."""
    if "$ref" in schema:
        return _filled_in(_document()["components"]["schemas"][schema["$ref"].removeprefix(REFERENCE)], value)
    if "anyOf" in schema:
        nullable = {"type": "null"} in schema["anyOf"]
        return None if value is None or (value is ... and nullable) else _filled_in(schema["anyOf"][0], value)
    if isinstance(value, list) and "items" in schema:
        return [_filled_in(schema["items"], each) for each in value]
    if "properties" in schema and (value is ... or isinstance(value, dict)):
        given: dict[str, Any] = {} if value is ... else value
        missing = dict.fromkeys(schema.get("required", []), ...)
        return {name: _filled_in(schema["properties"].get(name, {}), each) for name, each in (missing | given).items()}
    if value is not ...:
        return value
    return schema.get("enum", [FORMATS.get(schema.get("format", ""), SAMPLES[schema["type"]])])[0]
