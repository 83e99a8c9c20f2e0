"""What docs/openapi.json says: answers, of which a test writes only what it is about, and bodies that are accepted."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from ipucloud.api.shared import expanded

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
REFERENCE = "#/components/schemas/"
SAMPLES = {"string": "text", "integer": 1, "number": 1.0, "boolean": False, "array": [], "object": {}}
FORMATS = {"date": "2026-01-01", "date-time": "2026-01-01T00:00:00Z", "uuid": "01900000-0000-7000-8000-0000000000ff"}


@cache
def openapi() -> Mapping[str, Any]:
    """The document with each operation written out: large, so that a process reads it once."""
    return expanded(committed())


def committed() -> dict[str, Any]:
    """The document as it is committed."""
    document: dict[str, Any] = orjson.loads(COMMITTED.read_bytes())
    return document


def component(name: str, value: object) -> object:
    """`value` with everything that this component must have."""
    return _filled_in({"$ref": REFERENCE + name}, value)


def filled_in(method: str, path: str, status: int, body: object) -> object:
    """`body` with everything that this answer must have; as it is when the API has no such answer."""
    schema = _answer(method.lower(), path, str(status))
    return body if schema is None else _filled_in(schema, body)


def faults_of_body(method: str, path: str, body: object) -> list[str]:
    """Why the API does not accept this body; nothing when it has no such operation."""
    operation = _operation(method.lower(), path)
    schema = _schema(operation.get("requestBody", {})) if operation else None
    if schema is None:
        return []
    whole = {**schema, "components": openapi()["components"]}
    return [f"{each.instance_path}: {each.message}" for each in jsonschema_rs.validator_for(whole).iter_errors(body)]


def _answer(method: str, path: str, status: str) -> Mapping[str, Any] | None:
    operation = _operation(method, path)
    return _schema(operation["responses"].get(status, {})) if operation else None


def _schema(described: Mapping[str, Any]) -> Mapping[str, Any] | None:
    schema: Mapping[str, Any] | None = described.get("content", {}).get("application/json", {}).get("schema")
    return schema


def _operation(method: str, path: str) -> Mapping[str, Any] | None:
    for template, operations in openapi()["paths"].items():
        pattern = re.sub(r"\\{\w+\\}", "[^/:]+", re.escape(template))
        if method in operations and re.fullmatch(pattern, path):
            operation: Mapping[str, Any] = operations[method]
            return operation
    return None


def _filled_in(schema: Mapping[str, Any], value: Any) -> Any:
    """`value` with what `schema` requires; Ellipsis stands for anything."""
    if "$ref" in schema:
        return _filled_in(openapi()["components"]["schemas"][schema["$ref"].removeprefix(REFERENCE)], value)
    if "anyOf" in schema:
        nullable = {"type": "null"} in schema["anyOf"]
        return None if value is None or (value is ... and nullable) else _filled_in(schema["anyOf"][0], value)
    if isinstance(value, list) and "items" in schema:
        return [_filled_in(schema["items"], each) for each in value]
    if "properties" in schema and (value is ... or isinstance(value, dict)):
        present: dict[str, Any] = {} if value is ... else value
        missing = dict.fromkeys(schema.get("required", []), ...)
        return {
            name: _filled_in(schema["properties"].get(name, {}), each) for name, each in (missing | present).items()
        }
    if value is not ...:
        return value
    usual = [FORMATS.get(schema.get("format", ""), SAMPLES[schema["type"]])]
    return (schema.get("enum") or schema.get("examples") or usual)[0]
