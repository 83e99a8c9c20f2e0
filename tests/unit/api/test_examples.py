"""Every example of the OpenAPI document is what it stands for: its schema and its model accept it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from jsonschema_rs import Draft202012Validator, Registry
from pydantic import BaseModel

from ipucloud.api.app import create_app
from ipucloud.api.document import public
from ipucloud.api.nouns import every_route
from ipucloud.api.routing import ApiRoute
from ipucloud.config import Settings
from tests.support.cases import all_cases
from tests.support.filled_in import openapi
from tests.support.own_process import Call, own_process

DOCUMENT = openapi()
SCHEMAS: dict[str, Any] = DOCUMENT["components"]["schemas"]
STAND_INS = {"date-time": "2126-01-31T23:59:30Z", "date": "2126-01-31", "uuid": "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b77"}
"""For what has a form and no example."""


def sent_and_answered() -> Iterator[tuple[type[BaseModel], bool]]:
    """The model of every body and every answer; whether it is sent."""
    models = set()
    for route in every_route(create_app(Settings.model_construct()).routes):
        if isinstance(route, ApiRoute):
            for model, is_sent in ((route.arguments.body, True), (route.response_model, False)):
                if model is not None and model not in models:
                    models.add(model)
                    yield model, is_sent


@cache
def registry() -> Registry:
    return Registry([("urn:openapi", {**DOCUMENT})])


@cache
def schema_at(pointer: str) -> Draft202012Validator:
    """The schema at this place of the document, compiled once."""
    return Draft202012Validator({"$ref": f"urn:openapi#{quote(pointer)}"}, registry=registry(), validate_formats=True)


def examples(node: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """(where its schema is, value) of every example of the document."""
    if isinstance(node, dict):
        if isinstance(node.get("examples"), list):
            schema = f"{place}/schema" if "schema" in node else place
            yield from ((schema, value) for value in node["examples"])
        for name, inner in node.items():
            yield from examples(inner, f"{place}/{name.replace('~', '~0').replace('/', '~1')}")
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from examples(inner, f"{place}/{number}")


def made_of_examples(schema: dict[str, Any], *, whole: bool) -> Any:
    """A value as a reader of the document would write it; `whole`: with every member that it has an example for."""
    if "$ref" in schema:
        return made_of_examples(SCHEMAS[schema["$ref"].rpartition("/")[2]], whole=whole)
    known = [*schema.get("examples", ()), *schema.get("enum", ()), schema.get("const"), schema.get("default")]
    for value in known:
        if value is not None:
            return value
    if "anyOf" in schema:
        return made_of_examples(schema["anyOf"][0], whole=whole)
    if schema["type"] == "array":
        return [made_of_examples(schema["items"], whole=whole)]
    return an_object(schema, whole=whole) if schema["type"] == "object" else stand_in(schema)


def an_object(schema: dict[str, Any], *, whole: bool) -> dict[str, Any]:
    members, required = schema.get("properties", {}), schema.get("required", ())
    return {
        name: made_of_examples(member, whole=whole)
        for name, member in members.items()
        if name in required or (whole and shown(member))
    }


def stand_in(schema: dict[str, Any]) -> Any:
    """A value of a simple type that has no example."""
    if schema["type"] == "boolean":
        return True
    if schema["type"] in {"integer", "number"}:
        return int(schema.get("minimum", 1))
    return STAND_INS.get(schema.get("format", ""), "x" * schema.get("minLength", 1))


def shown(schema: dict[str, Any]) -> bool:
    """Whether the document shows what the value looks like."""
    within = [*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else [])]
    return "$ref" in schema or "examples" in schema or any(map(shown, within))


def every_example_fits() -> None:
    with all_cases() as case:
        for place, value in examples(DOCUMENT):
            with case(place):
                schema_at(place).validate(value)


def every_document_is_accepted() -> None:
    with all_cases() as case:
        for (model, sent), whole in product(sent_and_answered(), (False, True)):
            name = public(model.__name__)
            with case(f"{name}, {'all' if whole else 'required'} members"):
                value = made_of_examples(SCHEMAS[name], whole=whole)
                schema_at(f"/components/schemas/{name}").validate(value)
                if sent:
                    model.model_validate(value)
                else:
                    model.model_validate_json(orjson.dumps(value))


@pytest.fixture(scope="module")
def call() -> Iterator[Call]:
    """The compiled schemas take 70 MB."""
    with own_process() as call:
        yield call


def test_an_example_fits_its_schema(call: Call) -> None:
    call(every_example_fits)


def test_a_document_made_of_examples_is_accepted(call: Call) -> None:
    call(every_document_is_accepted)
