"""A request is judged in one order: 401, 404 for the project, 403, and only then what is wrong with it.

Every operation of the document, sent by callers who may not send it, with every fault that a request can have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import new_token
from ipucloud.kernel.ids import new_id
from tests.api.policy import BODIES, POLICY
from tests.api.support import Api, problem
from tests.api.tenancy import OPERATIONS, Documented

pytestmark = pytest.mark.anyio

TAKES_BODY = frozenset({"POST", "PUT", "PATCH"})
TAKES_KEY = frozenset({"POST", "PATCH"})
ABOUT_THE_REQUEST = frozenset({400, 411, 412, 413, 415, 422, 428})


@dataclass(frozen=True)
class Fault:
    """What is wrong with a request, and for which methods it is a fault."""

    methods: frozenset[str]
    content: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    always: bool = True
    """False: not every operation of these methods minds."""


JSON = {"Content-Type": "application/json"}
FAULTS = {
    "bad body": Fault(TAKES_BODY, b"{", JSON),
    "body of another type": Fault(TAKES_BODY, b"[[1]]", JSON, always=False),
    "no body": Fault(TAKES_BODY, always=False),
    "bad content type": Fault(TAKES_BODY, b"{}", {"Content-Type": "text/plain"}),
    "bad Idempotency-Key": Fault(TAKES_KEY, headers={"Idempotency-Key": "two words"}, always=False),
    "no If-Match": Fault(frozenset({"PUT"}), always=False),
    "unknown query parameter": Fault(TAKES_BODY | {"GET", "DELETE"}, query={"no-such-parameter": "1"}),
    "oversized body": Fault(TAKES_BODY, b'"' + b"x" * 300_000 + b'"', JSON),
}
"""A body that fits stands in where a fault brings none, but for `no body`."""


@dataclass(frozen=True)
class Callers:
    api: Api
    made_up: httpx.AsyncClient
    stranger: httpx.AsyncClient
    by_role: Mapping[Role, httpx.AsyncClient]


@pytest.fixture(scope="module")
async def callers(shared_api: Api) -> Callers:
    other = await shared_api.other_project()
    roles = (Role.VIEWER, Role.BILLING, Role.SUPPORT, Role.OWNER, Role.ADMIN)
    return Callers(
        shared_api,
        made_up=shared_api.client(new_token("test").secret),
        stranger=shared_api.client(other.token.secret),
        by_role={role: await shared_api.caller(role) for role in roles},
    )


def path_of(operation: Documented, project: str) -> str:
    """The operation's path with names of nothing that exists, but for the project."""
    names: dict[str, Any] = dict.fromkeys(("flavor", "partition", "number"), "none")
    names |= {"project": project, "region": "luxembourg-2"}
    unknown = {part.partition("}")[0]: str(new_id()) for part in operation.path.split("{")[1:]}
    return operation.path.format(**unknown | names)


async def ask(caller: httpx.AsyncClient, operation: Documented, fault: str, project: str) -> httpx.Response:
    what = FAULTS[fault]
    body: dict[str, object] | None = None
    if what.content is None and fault != "no body" and operation.id in BODIES:
        body = BODIES[operation.id](1)
    return await caller.request(
        operation.method,
        path_of(operation, project),
        json=body,
        content=what.content,
        headers=dict(what.headers),
        params=dict(what.query),
    )


def faults(operation: Documented) -> list[str]:
    return [name for name, fault in FAULTS.items() if operation.method in fault.methods]


@pytest.mark.parametrize("name", POLICY)
async def test_who_asks_is_judged_before_what_is_asked(callers: Callers, name: str) -> None:
    operation, project = OPERATIONS[name], callers.api.world.project.slug
    before = await callers.api.snapshot()
    for fault in faults(operation):
        answer = await ask(callers.made_up, operation, fault, project)
        assert answer.status_code == 401, (fault, answer.text)
        problem(answer, 401, "unauthenticated")
        if operation.scoped:
            for caller, where in ((callers.stranger, project), (callers.by_role[Role.ADMIN], "no-such-project")):
                answer = await ask(caller, operation, fault, where)
                assert answer.status_code == 404, (fault, answer.text)
                problem(answer, 404, "not_found")
        for role in callers.by_role.keys() - POLICY[name]:
            answer = await ask(callers.by_role[role], operation, fault, project)
            assert answer.status_code == 403, (fault, role, answer.text)
            problem(answer, 403, "permission_denied")
    assert await callers.api.snapshot() == before


@pytest.mark.parametrize("name", POLICY)
async def test_who_may_ask_is_told_what_is_wrong(callers: Callers, name: str) -> None:
    operation, project = OPERATIONS[name], callers.api.world.project.slug
    for fault in [fault for fault in faults(operation) if FAULTS[fault].always]:
        answer = await ask(callers.by_role[Role.ADMIN], operation, fault, project)
        assert answer.status_code in ABOUT_THE_REQUEST, (fault, answer.text)


async def test_a_path_that_names_nothing_possible_is_judged_too(callers: Callers) -> None:
    problem(await callers.made_up.get("/v1/projects/%00/clusters"), 401, "unauthenticated")
    problem(await callers.stranger.get("/v1/projects/%00/clusters"), 404, "not_found")
