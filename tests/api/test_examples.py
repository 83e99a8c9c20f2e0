"""Every field of the OpenAPI document is described, and every body and answer has an example that holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jsonschema_rs
from pydantic import BaseModel

from ipucloud.api.app import create_app
from ipucloud.api.document import TAGS, public
from ipucloud.api.nouns import every_route
from ipucloud.api.routing import ApiRoute
from ipucloud.config import Settings
from ipucloud.contract.descriptions import DESCRIPTIONS
from ipucloud.contract.examples.all import EXAMPLES
from ipucloud.kernel.errors import MEDIA_TYPE, REGISTRY
from tests.support.filled_in import openapi

DOCUMENT = openapi()
COMPONENTS = DOCUMENT["components"]
SCHEMAS: dict[str, dict[str, Any]] = COMPONENTS["schemas"]


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every body and answer that is JSON, with where it is."""
    for path in DOCUMENT["paths"].values():
        for operation in path.values():
            parts = {"body": operation.get("requestBody", {}), **operation["responses"]}
            for name, part in parts.items():
                for media, content in part.get("content", {}).items():
                    if media in {"application/json", MEDIA_TYPE}:
                        yield f"{operation['operationId']} {name}", content


def test_every_body_and_answer_has_examples_that_are_valid() -> None:
    shown = {}
    for where, content in contents():
        assert content.get("examples"), where
        for example in content["examples"].values():
            shown[example["$ref"].rpartition("/")[2]] = content["schema"]
    assert shown.keys() <= COMPONENTS["examples"].keys()
    for name, schema in shown.items():
        whole = {**schema, "components": {"schemas": SCHEMAS}}
        validator = jsonschema_rs.Draft202012Validator(whole, validate_formats=True)
        faults = validator.iter_errors(COMPONENTS["examples"][name]["value"])
        assert [(name, fault.instance_path, fault.message) for fault in faults] == []


def test_every_message_has_an_example_that_is_valid() -> None:
    for name, webhook in DOCUMENT["webhooks"].items():
        content = webhook["post"]["requestBody"]["content"]["application/json"]
        message = content["examples"]["example"]["value"]
        assert message["type"] == name
        whole = {**content["schema"], "components": {"schemas": SCHEMAS}}
        jsonschema_rs.validate(whole, message, validate_formats=True)


def test_every_component_is_described_under_its_public_name() -> None:
    assert [name for name, schema in SCHEMAS.items() if not schema.get("description")] == []
    assert [name for name in SCHEMAS if name.endswith("Out")] == []
    assert [name for name, schema in SCHEMAS.items() if "title" in schema] == []


def bodies() -> Iterator[type[BaseModel]]:
    for route in every_route(create_app(Settings.model_construct()).routes):
        if isinstance(route, ApiRoute) and route.arguments.body is not None:
            yield route.arguments.body


def test_the_example_of_every_body_is_accepted() -> None:
    for model in set(bodies()):
        model.model_validate(COMPONENTS["examples"][model.__name__]["value"])


def test_an_error_has_an_example_for_each_of_its_codes() -> None:
    for code, kind in REGISTRY.items():
        example = COMPONENTS["examples"][code]["value"]
        assert (example["code"], example["status"], example["type"]) == (code, kind.status, kind.page)


def test_every_field_is_described() -> None:
    fields = [(name, field, value) for name, schema in SCHEMAS.items() for field, value in _fields(schema)]
    assert [f"{name}.{field}" for name, field, value in fields if not value.get("description")] == []
    texts = {f"{name}.{field}": value["description"] for name, field, value in fields}
    assert {where: text for where, text in texts.items() if not text.endswith((".", "…"))} == {}


def test_no_description_and_no_example_is_of_a_field_that_does_not_exist() -> None:
    fields = [(name, field) for name, schema in SCHEMAS.items() for field, _ in _fields(schema)]
    known = {field for _, field in fields} | {f"{name}.{field}" for name, field in fields}
    keys = [key.rpartition(".") for key in DESCRIPTIONS.keys() | EXAMPLES.keys()]
    assert {f"{public(model)}{dot}{field}" for model, dot, field in keys} - known == set()


def test_every_tag_is_described_and_used() -> None:
    used = {tag for path in DOCUMENT["paths"].values() for operation in path.values() for tag in operation["tags"]}
    assert used == TAGS.keys() == {tag["name"] for tag in DOCUMENT["tags"]}
    assert all(tag["description"] for tag in DOCUMENT["tags"])


def _fields(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from schema.get("properties", {}).items()
