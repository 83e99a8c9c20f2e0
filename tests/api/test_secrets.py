"""What requests bring that is secret is shown to nobody again, and stored in no table, event or log as it is.

`x-secret` in the document says which fields are. Each is sent with a text of its own, which is then looked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

import httpx
import pytest
import structlog
from structlog.contextvars import merge_contextvars

from ipucloud.identity.roles import Role
from tests.api.bodies import BODIES, QUERIES
from tests.api.operations import OPERATIONS, Documented
from tests.api.support import key, problem
from tests.api.targets import numbers
from tests.api.tenancy import Tenancy, tenancy
from tests.support.cases import all_cases
from tests.support.filled_in import openapi
from tests.support.people import PASSWORD

__all__ = ["tenancy"]
pytestmark = pytest.mark.anyio

KINDS: dict[str, Callable[[str], object]] = {
    "all": lambda marker: marker,
    "values": lambda marker: {"TOKEN": marker},
    "password": lambda marker: {"username": "ci", "password": marker},
    "query": lambda marker: f"https://hooks.example.com/in?token={marker}&{marker}",
}
FIELDS: dict[str, Callable[[str], object]] = {"user_data": lambda marker: f"#!/bin/sh\necho {marker}\n"}
LOGIN: dict[str, object] = {"email": "nobody@example.com", "password": PASSWORD}
OTHERS: dict[str, dict[str, object]] = {"logIn": LOGIN, "signIn": {}, "acceptInvitation": {"password": PASSWORD}}
"""Bodies of operations that have none in `BODIES`."""
REFUSED = {
    "acceptInvitation": "no such invitation",
    "changePassword": "a token is not a person",
    "fetchDeviceToken": "no such login",
    "logIn": "nobody",
    "showInvitation": "no such invitation",
    "signIn": "nobody",
    "beginProviderSignIn": "no such provider",
}
"""Operations that refuse what is sent here."""
LOOKS_SECRET = re.compile("secret|passw|token|credential|code$|user_data|environment|url|private|(^|_)key$")
NOT_SECRET = {
    ("confirmFaultReport", "code"): "of a health report",
    ("createSshKey", "public_key"): "public",
    ("signSshKey", "public_key"): "public",
    ("rotateVipuKey", "end_server_key"): "whether",
    **dict.fromkeys(
        ((f"{verb}DeviceLogin", "user_code") for verb in ("approve", "deny", "show")), "for people to compare"
    ),
}
"""Fields whose names look like it, and what they are."""


def schema_of(operation: dict[str, Any]) -> dict[str, Any]:
    [media] = operation["requestBody"]["content"].values()
    schema: dict[str, Any] = media["schema"]
    name = schema.get("$ref", "").rpartition("/")[2]
    return openapi()["components"]["schemas"][name] if name else schema


def fields() -> Iterator[tuple[str, str, str | None]]:
    """Operation, field and `x-secret`, of each field of each body of JSON."""
    for methods in openapi()["paths"].values():
        for operation in methods.values():
            if "requestBody" in operation:
                for name, field in schema_of(operation).get("properties", {}).items():
                    kinds = {each.get("x-secret") for each in (field, *field.get("anyOf", ()))} - {None}
                    yield operation["operationId"], name, next(iter(kinds), None)


SECRET = [(operation, name, kind) for operation, name, kind in fields() if kind is not None]


def test_fields_that_look_secret_are_declared_so() -> None:
    looking = {(operation, name) for operation, name, kind in fields() if kind is None and LOOKS_SECRET.search(name)}
    assert looking == NOT_SECRET.keys()


def sent(operation: str, name: str, kind: str, marker: str) -> dict[str, Any]:
    usual = OTHERS.get(operation) or (BODIES[operation](next(numbers)) if operation in BODIES else {})
    return usual | {name: FIELDS.get(name, KINDS[kind])(marker)}


async def ask(tenancy: Tenancy, operation: Documented, names: dict[str, str], body: dict[str, Any]) -> httpx.Response:
    caller = tenancy.by_role[Role.PAYER if operation.of_account else Role.OWNER]
    return await caller.request(operation.method, operation.path.format(**names), json=body, headers=key())


def readable_names(operation: Documented, names: dict[str, str], answer: httpx.Response) -> dict[str, str]:
    """What can be read after the request: its objects, and the one that it made."""
    document = answer.json() if answer.is_success and answer.content else {}
    readable = dict(names)
    for noun, member in {"webhook": "id", "connection": "id", "job": "number", "service": "name"}.items():
        if operation.path.endswith(f"/{noun}s") or operation.path.endswith(f"-{noun}s"):
            readable[noun] = str(document[member])
    if document.get("target"):
        readable |= {"cluster": document["target"]["id"], "operation": document["id"]}
    return readable


async def shown(tenancy: Tenancy, operation: Documented, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Answers to those who may read most and least, to all that can be asked about the names, and about no name."""
    answers = []
    new = names.keys() - {"project", "account", "region", "flavor", "recipe"}
    for candidate in OPERATIONS.values():
        alike = (candidate.of_account, candidate.scoped) == (operation.of_account, operation.scoped)
        about = candidate.named & new or "{" not in candidate.path or candidate.scoped
        if candidate.method == "GET" and candidate.named <= names.keys() and alike and about:
            readers = [Role.PAYER, Role.ADMIN] if candidate.of_account else [Role.VIEWER, Role.OWNER, Role.ADMIN]
            for reader in readers:
                answer = await tenancy.by_role[reader].get(
                    candidate.path.format(**names), params=QUERIES.get(candidate.id, {})
                )
                answers.append((f"{candidate.id} as {reader}", answer.text + repr(answer.headers)))
    return iter(answers)


@pytest.mark.parametrize(("name", "field", "kind"), SECRET)
async def test_a_secret_is_shown_and_stored_nowhere(tenancy: Tenancy, name: str, field: str, kind: str) -> None:
    operation, marker = OPERATIONS[name], f"m{uuid4().hex}"
    names = await tenancy.target(operation, tenancy.project) | {"provider": "nobody"}
    body = sent(name, field, kind, marker)
    with structlog.testing.capture_logs(processors=[merge_contextvars]) as lines:
        problem(await ask(tenancy, operation, names, body | {"no_such_field": marker}), 422, "validation_failed")
        answer = await ask(tenancy, operation, names, body)
        assert answer.is_success != (name in REFUSED), answer.text
        texts = dict(await shown(tenancy, operation, readable_names(operation, names, answer)))
    with all_cases() as case:
        for where, text in {
            **texts,
            "its own answer": answer.text + repr(answer.headers),
            "the log": repr(lines),
        }.items():
            with case(where):
                assert marker not in text
        with case("the database"):
            assert await tenancy.api.stores(marker) == []


async def test_a_repeated_request_is_answered_without_the_secret_too(tenancy: Tenancy) -> None:
    operation, same, marker = OPERATIONS["createWebhook"], key(), f"m{uuid4().hex}"
    names, body = {"project": tenancy.project.slug}, sent("createWebhook", "url", "query", marker)
    caller, path = tenancy.by_role[Role.OWNER], operation.path.format(**names)
    first, second = [await caller.post(path, json=body, headers=same) for _ in range(2)]
    assert (first.json()["id"], second.headers["idempotent-replayed"]) == (second.json()["id"], "true")
    assert first.json()["url"] == second.json()["url"] == "https://hooks.example.com/in?token=***&***"
