"""The OpenAPI document: committed, complete and true; all is described, and every body and answer has an example."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import jsonschema_rs
import orjson
from starlette.routing import Route

from ipucloud.api import back_channel
from ipucloud.api.app import create_app
from ipucloud.api.document import TAGS, public, whole
from ipucloud.api.nouns import every_route
from ipucloud.api.openapi import written
from ipucloud.api.routing import ApiRoute
from ipucloud.api.shared import expanded, share
from ipucloud.config import Settings
from ipucloud.contract.descriptions import DESCRIPTIONS
from ipucloud.contract.examples.all import EXAMPLES
from ipucloud.extras.scim.routing import routes as scim_routes
from ipucloud.extras.service_proxy.routes import PATH
from ipucloud.kernel.errors import MEDIA_TYPE, REGISTRY
from tests.api.bodies import STREAMS
from tests.api.policy import OPEN_TO_ALL
from tests.support.cases import all_cases
from tests.support.filled_in import COMMITTED, openapi
from tests.support.own_process import own_process

DOCUMENT = openapi()
COMPONENTS = DOCUMENT["components"]
SCHEMAS: dict[str, dict[str, Any]] = COMPONENTS["schemas"]
ADDRESS = "urn:ipucloud"
REGISTERED = jsonschema_rs.Registry([(ADDRESS, {"components": {"schemas": SCHEMAS}})])
APART = {
    *("/", "/errors", "/errors/{code}", "/openapi.json", "/docs", "/docs/start.js", "/docs/{name}"),
    *(PATH, *(route.path for route in (*scim_routes, *back_channel.routes))),
}
"""Paths for people, of the document itself, of what the programs of services answer, and of other standards."""
FILES = {
    *("downloadAccountExport", "downloadExport", "getAccountInvoiceProof", "getInvoiceProof", "getProjectMetrics"),
    *STREAMS,
}
"""Operations that answer with nothing but a file, or a stream."""


def validator(schema: dict[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """For one of the document's schemas, whose references are read once for all of them."""
    absolute = orjson.loads(orjson.dumps(schema).replace(b'"#/', f'"{ADDRESS}#/'.encode()))
    return jsonschema_rs.Draft202012Validator(absolute, registry=REGISTERED, validate_formats=True)


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in DOCUMENT["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def generated() -> tuple[bytes, bool]:
    """The document that is committed, and whether it says what it would with nothing shared."""
    document = whole(create_app(Settings.model_construct()).routes)
    paths = deepcopy(document["paths"])
    share(document)
    return written(document), expanded(deepcopy(document))["paths"] == paths


def test_the_committed_document_is_the_code() -> None:
    with own_process() as call:
        document, complete = call(generated)
    assert document == COMMITTED.read_bytes(), "run: ./dev openapi"
    assert complete


def test_what_operations_have_alike_is_written_once() -> None:
    inline: Counter[bytes] = Counter()
    for path in orjson.loads(COMMITTED.read_bytes())["paths"].values():
        for operation in path.values():
            parts = [*operation.get("parameters", ()), *operation["responses"].values()]
            inline.update(orjson.dumps(part) for part in parts if "$ref" not in part)
    assert max(inline.values()) == 1


def test_every_route_is_in_it() -> None:
    app = create_app(Settings.model_construct())
    documented = {(path, method.upper()) for path, method, _ in operations()}
    served = {
        (route.path_format, method)
        for route in every_route(app.routes)
        if isinstance(route, Route) and route.path not in APART
        for method in (route.methods or set()) - {"HEAD"}
    }
    assert served == documented


def test_operations_are_described() -> None:
    with all_cases() as case:
        for path, method, operation in operations():
            with case(operation["operationId"]):
                check(path, method, operation)

    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids)


def check(path: str, method: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"]
    assert len(operation["tags"]) == 1
    success = [status for status in operation["responses"] if status < "300"]
    assert len(success) == 1
    for status, response in operation["responses"].items():
        assert response["description"]
        assert "Request-Id" in response["headers"]
        if status >= "400":
            assert set(response["content"]) == {"application/problem+json"}
        elif status not in {"204", "304"} and operation["operationId"] not in FILES:
            schema = response["content"]["application/json"]["schema"]
            assert "$ref" in schema
    if path.startswith("/v1/"):
        assert {"401", "422", "429", "500", "503"} <= set(operation["responses"])
        open_to_all = operation["operationId"] in OPEN_TO_ALL
        assert operation["security"] == ([] if open_to_all else [{"token": []}])
        assert ("x-permission" in operation) is not open_to_all
    for code in operation.get("x-errors", ()):
        assert f"`{code}`" in operation["responses"][str(REGISTRY[code].status)]["description"]
    for parameter in operation.get("parameters", ()):
        assert parameter.get("description"), parameter["name"]
    names = {parameter["name"] for parameter in operation.get("parameters", ())}
    assert ("Idempotency-Key" in names) == (method in {"post", "patch"} and operation["operationId"] not in OPEN_TO_ALL)


def test_every_body_and_answer_is_described() -> None:
    bodies = {name for name in SCHEMAS if name.endswith(("Create", "Patch", "Limits"))}
    assert bodies
    for name, schema in SCHEMAS.items():
        assert any(schema.get(part) for part in ("properties", "enum", "additionalProperties", "oneOf")), name
    for name in bodies:
        assert SCHEMAS[name]["additionalProperties"] is False


def contents() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every body and answer that is JSON, with where it is."""
    for _, _, operation in operations():
        for name, part in {"body": operation.get("requestBody", {}), **operation["responses"]}.items():
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
        faults = validator(schema).iter_errors(COMPONENTS["examples"][name]["value"])
        assert [(name, fault.instance_path, fault.message) for fault in faults] == []


def test_every_message_has_an_example_that_is_valid() -> None:
    for name, webhook in DOCUMENT["webhooks"].items():
        content = webhook["post"]["requestBody"]["content"]["application/json"]
        message = content["examples"]["example"]["value"]
        assert message["type"] == name
        validator(content["schema"]).validate(message)


def test_every_component_is_described_under_its_public_name() -> None:
    assert [name for name, schema in SCHEMAS.items() if not schema.get("description")] == []
    assert [name for name in SCHEMAS if name.endswith("Out")] == []
    assert [name for name, schema in SCHEMAS.items() if "title" in schema] == []


def test_the_example_of_every_body_is_accepted() -> None:
    routes = [each for each in every_route(create_app(Settings.model_construct()).routes) if isinstance(each, ApiRoute)]
    for model in {body for route in routes if (body := route.arguments.body) is not None}:
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
    used = {tag for _, _, operation in operations() for tag in operation["tags"]}
    assert used == TAGS.keys() == {tag["name"] for tag in DOCUMENT["tags"]}
    assert all(tag["description"] for tag in DOCUMENT["tags"])


def _fields(schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield from schema.get("properties", {}).items()
