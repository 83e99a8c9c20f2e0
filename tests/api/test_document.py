"""The OpenAPI document: committed, complete, and true."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import orjson
from starlette.routing import Route

from ipucloud.api.app import create_app
from ipucloud.api.document import whole
from ipucloud.api.nouns import every_route
from ipucloud.api.openapi import document
from ipucloud.api.scim.routing import routes as scim_routes
from ipucloud.api.shared import expanded
from ipucloud.api.v1.service_proxy import PATH
from ipucloud.config import Settings
from ipucloud.kernel.errors import REGISTRY
from tests.api.bodies import STREAMS
from tests.api.policy import OPEN_TO_ALL
from tests.support.cases import all_cases
from tests.support.filled_in import COMMITTED, openapi
from tests.support.own_process import own_process

APART = {
    *("/", "/errors", "/errors/{code}", "/openapi.json", "/docs", "/docs/start.js", "/docs/{name}"),
    *(PATH, *(route.path for route in scim_routes)),
}
"""Paths for people, of the document itself, of what the programs of services answer, and of SCIM."""
FILES = {
    *("downloadAccountExport", "downloadExport", "getAccountInvoiceProof", "getInvoiceProof", "getProjectMetrics"),
    *STREAMS,
}
"""Operations that answer with nothing but a file, or a stream."""


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in openapi()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def test_the_committed_document_is_the_code() -> None:
    with own_process() as call:
        generated = call(document)
    assert generated == COMMITTED.read_bytes(), "run: python -m ipucloud.api.openapi docs/openapi.json"


def written_out() -> bool:
    """Whether the document says what it would with nothing shared, and shares all that two operations have alike."""
    committed = orjson.loads(COMMITTED.read_bytes())
    assert expanded(committed)["paths"] == whole(create_app(Settings.model_construct()).routes)["paths"]
    inline: Counter[bytes] = Counter()
    for path in committed["paths"].values():
        for operation in path.values():
            parts = [*operation.get("parameters", ()), *operation["responses"].values()]
            inline.update(orjson.dumps(part) for part in parts if "$ref" not in part)
    return max(inline.values()) == 1


def test_what_operations_have_alike_is_written_once() -> None:
    with own_process() as call:
        assert call(written_out)


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
    schemas = openapi()["components"]["schemas"]
    bodies = {name for name in schemas if name.endswith(("Create", "Patch", "Limits"))}
    assert bodies
    for name, schema in schemas.items():
        assert any(schema.get(part) for part in ("properties", "enum", "additionalProperties", "oneOf")), name
    for name in bodies:
        assert schemas[name]["additionalProperties"] is False
