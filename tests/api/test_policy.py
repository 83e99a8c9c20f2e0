"""Who may do what: every operation of the document, asked by those who may not and by one who may.

Which permission an operation needs, and which roles have it, is compared with the code by
`tests/unit/api/test_permissions.py`. Here each operation is to ask for that permission, for a live token and for its
own project, before it looks at what else is wrong with the request, and to change nothing when it refuses.
"""

from __future__ import annotations

from collections.abc import Awaitable
from functools import partial
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Permission, Role
from ipucloud.identity.tokens import new_token
from ipucloud.kernel.ids import new_id
from tests.api.operations import AUTHORISED, OPERATIONS, Documented
from tests.api.policy import BY_CLUSTER, GIVING, NEEDED, OF_EVERYBODY, OF_ITSELF, OF_PEOPLE, POLICY, ROLES
from tests.api.support import items, problem
from tests.api.tenancy import Attempt, Fault, Tenancy, by_operation, same_but_for_the_request, tenancy, unknown
from tests.support.cases import all_cases

__all__ = ["tenancy"]
pytestmark = pytest.mark.anyio

TAKES_BODY = frozenset({"POST", "PUT", "PATCH"})
ABOUT_THE_REQUEST = frozenset({400, 411, 412, 413, 415, 422, 428})
JSON = {"Content-Type": "application/json"}
FAULTS = {
    "an unknown query parameter": Fault(TAKES_BODY | {"GET", "DELETE"}, query={"no-such-parameter": "1"}),
    "a bad body": Fault(TAKES_BODY, b"{", JSON),
    "a body of another type": Fault(TAKES_BODY, b"[[1]]", JSON, always=False),
    "no body": Fault(TAKES_BODY, b"", always=False),
    "a bad content type": Fault(TAKES_BODY, b"{}", {"Content-Type": "text/plain"}),
    "a bad Idempotency-Key": Fault(
        frozenset({"POST", "PATCH"}), headers={"Idempotency-Key": "two words"}, always=False
    ),
    "no If-Match": Fault(frozenset({"PUT"}), headers={"If-Match": ""}, always=False),
    "an oversized body": Fault(TAKES_BODY, b'"' + b"x" * 300_000 + b'"', JSON),
}
RANK = {role: sum(role in having for having in ROLES.values()) for role in Role}
"""How many permissions a role has."""


def strongest_without(operation: Documented) -> Role | None:
    """Of the roles that may not, if there is one. To a payer, a project is none."""
    without = set(Role) - POLICY[operation.id] - ({Role.PAYER} if operation.scoped else set())
    return max(without, key=lambda role: (RANK[role], role), default=None)


@pytest.mark.acceptance("SEC04-02")
async def test_a_request_that_may_not_be_made_is_refused_and_changes_nothing(tenancy: Tenancy) -> None:
    others = {each: await tenancy.narrowed(Role.ADMIN, *set(Permission) - {each}) for each in Permission}
    project = await tenancy.api.other_project()
    its_owner, its_payer = tenancy.api.client(project.token.secret), await tenancy.api.caller(Role.PAYER, project)

    def attempts(operation: Documented, names: dict[str, str]) -> dict[str, Attempt]:
        async def refused(status: int, code: str, caller: httpx.AsyncClient, **members: str) -> None:
            answer = await tenancy.ask(operation, caller, names)
            refusal = problem(answer, status, code)
            assert refusal | members == refusal
            assert answer.headers.get("www-authenticate", "").startswith("Bearer") == (status == 401)

        async def hidden(caller: httpx.AsyncClient, **own: str) -> None:
            """The same answer for an object of another project or account, and for one that does not exist."""
            answers = [await tenancy.ask(operation, caller, each | own) for each in (names, unknown(names))]
            same_but_for_the_request(*answers)

        needed, role = NEEDED[operation.id], strongest_without(operation)
        cases: dict[str, Attempt] = {
            "without a token": partial(refused, 401, "unauthenticated", tenancy.api.client()),
            "with a revoked token": partial(refused, 401, "unauthenticated", tenancy.dead),
        }
        if role is not None:
            cases[f"as {role}"] = partial(refused, 403, "permission_denied", tenancy.by_role[role])
        if operation.id not in OF_ITSELF:
            cases[f"without the scope {needed}"] = partial(
                refused, 403, "permission_denied", others[needed], scope=needed
            )
        if operation.scoped:
            cases["in another project"] = partial(hidden, tenancy.stranger)
            payer = tenancy.by_role[Role.PAYER]  # of its account, whose projects are not there
            cases["in a project that one pays for"] = partial(refused, 404, "not_found", payer)
            if operation.path.count("{") > 1:
                cases["of another project's object"] = partial(hidden, its_owner, project=project.slug)
        elif Role.PAYER in POLICY[operation.id] and "/billing/" in operation.path and operation.named:
            cases["of another account"] = partial(hidden, its_payer)
        return cases

    await by_operation(AUTHORISED, tenancy, attempts)


async def test_who_asks_is_judged_before_what_is_asked(tenancy: Tenancy) -> None:
    """A request is judged in one order: 401, 404 for the project, 403, and only then what is wrong with it."""

    def attempts(operation: Documented, names: dict[str, str]) -> dict[str, Attempt]:
        async def judged(fault: str, statuses: set[int], caller: httpx.AsyncClient, **other: str) -> None:
            answer = await tenancy.ask(operation, caller, names | other, FAULTS[fault])
            assert answer.status_code in statuses, f"{answer.status_code} {answer.text}"
            if answer.status_code != 413:  # ended before the request has an id
                problem(answer, answer.status_code, answer.json()["code"])

        cases: dict[str, Attempt] = {}
        role = strongest_without(operation)
        for fault in (each for each, what in FAULTS.items() if operation.method in what.methods):
            if not cases:
                cases[f"{fault} with a revoked token"] = partial(judged, fault, {401}, tenancy.dead)
                if operation.scoped:
                    nowhere = partial(judged, fault, {404}, tenancy.admin, project="no-such-project")
                    cases[f"{fault} in no project"] = nowhere
                    cases[f"{fault} in another project"] = partial(judged, fault, {404}, tenancy.stranger)
            if role is not None:
                cases[f"{fault} as {role}"] = partial(judged, fault, {403}, tenancy.by_role[role])
            if FAULTS[fault].always:
                cases[f"{fault} as admin"] = partial(judged, fault, set(ABOUT_THE_REQUEST), tenancy.admin)
        return cases

    await by_operation(AUTHORISED, tenancy, attempts)


async def test_the_weakest_role_that_may_needs_no_other_scope(tenancy: Tenancy) -> None:
    with all_cases() as case:
        for operation in (each for each in AUTHORISED if each.id not in OF_PEOPLE):
            role = min(POLICY[operation.id], key=lambda role: (RANK[role], role))
            with case(f"{operation.id} as {role}"):
                project = tenancy.project
                caller = await tenancy.narrowed(role, NEEDED[operation.id])
                if operation.id in GIVING:
                    caller = tenancy.by_role[role]
                if operation.id == "deleteProject":  # not the one that all share
                    project = await tenancy.api.other_project()
                names = await tenancy.target(operation, project)
                answer = await tenancy.ask(operation, caller, names)
                assert answer.status_code == operation.success, f"{answer.status_code} {answer.text}"


@pytest.mark.acceptance("SEC04-01")
async def test_to_a_token_of_one_cluster_others_are_not_there(tenancy: Tenancy) -> None:
    its_own = (await tenancy.api.world.customer(tenancy.project).create("its-own")).target_id
    limited = await tenancy.limited(its_own)

    def attempts(operation: Documented, names: dict[str, str]) -> dict[str, Attempt]:
        async def hidden(fault: Fault | None = None) -> None:
            project = {"project": tenancy.project.slug}
            answers = [await tenancy.ask(operation, limited, each | project, fault) for each in (names, unknown(names))]
            same_but_for_the_request(*answers)

        bad = [
            each
            for each in ("a bad body", "an unknown query parameter")
            if operation.method in FAULTS[each].methods and "{cluster}" in operation.path
        ]
        sound: dict[str, Attempt] = {"sound": hidden}
        return sound | {each: partial(hidden, FAULTS[each]) for each in bad}

    about_one = [each for each in AUTHORISED if each.id in BY_CLUSTER and each.path.count("{") > 1]
    await by_operation(about_one, tenancy, attempts)


async def test_a_token_of_one_cluster_may_do_what_is_about_it_and_nothing_else(tenancy: Tenancy) -> None:
    allowed = BY_CLUSTER | OF_EVERYBODY | OF_ITSELF
    with all_cases() as case:
        for operation in AUTHORISED:
            with case(operation.id):
                about_one = operation.id in BY_CLUSTER and operation.path.count("{") > 1
                names = await tenancy.target(operation, tenancy.project) if about_one or not operation.scoped else {}
                names |= {"project": tenancy.project.slug}
                cluster = UUID(names["cluster"]) if about_one else new_id()
                answer = await tenancy.ask(operation, await tenancy.limited(cluster), unknown(operation.named) | names)
                if operation.id not in allowed:
                    problem(answer, 403, "permission_denied")
                elif operation.id not in OF_PEOPLE:
                    assert answer.status_code == operation.success, f"{answer.status_code} {answer.text}"


async def test_a_text_that_is_no_live_token_is_refused(tenancy: Tenancy, monkeypatch: pytest.MonkeyPatch) -> None:
    async def counted(*_: object) -> Awaitable[Any]:
        raise AssertionError("the database was asked")

    api, secret, expired = tenancy.api, tenancy.project.token.secret, new_token("test")
    await api.world.execute(
        "INSERT INTO tokens (id, project_id, name, role, display_prefix, secret_hash, expires_at)"
        " VALUES (:id, :project, 'expired', 'owner', :prefix, :hash, app_now())",
        id=new_id(),
        project=tenancy.project.id,
        prefix=expired.display_prefix,
        hash=expired.hash,
    )
    never = [secret, f"Basic {secret}", f"Bearer {secret[:-1]}{'1' if secret[-1] == '0' else '0'}"]
    names = {"project": tenancy.project.slug}
    for operation in map(OPERATIONS.get, ("whoami", "getProject", "createCluster", "listAllAuditLog", "addTaxRate")):
        assert operation is not None
        for caller in (api.client(new_token("test").secret), api.client(expired.secret)):
            problem(await tenancy.ask(operation, caller, names), 401, "unauthenticated")
    monkeypatch.setattr(type(api.services.reader), "one", counted)
    for caller in (api.client(), *(api.client(Authorization=each) for each in never)):
        problem(await caller.get("/v1/whoami"), 401, "unauthenticated")


async def test_the_other_scheme_and_every_name_of_a_project(tenancy: Tenancy) -> None:
    project = tenancy.api.world.project
    caller = tenancy.api.client(Authorization=f"apikey {project.token.secret}")
    for name in (project.id, project.number, project.slug, str(project.id).upper()):
        answer = await caller.get(f"/v1/projects/{name}")
        assert answer.json()["slug"] == project.slug


async def test_a_project_token_lists_its_project_only(tenancy: Tenancy) -> None:
    own = await items(tenancy.stranger, "/v1/projects")
    assert len(own) == 1
    everything = (await tenancy.by_role[Role.SUPPORT].get("/v1/projects")).json()["items"]
    assert len(everything) > 1


async def test_a_path_that_names_nothing_possible_is_judged_too(tenancy: Tenancy) -> None:
    problem(await tenancy.dead.get("/v1/projects/%00/clusters"), 401, "unauthenticated")
    problem(await tenancy.stranger.get("/v1/projects/%00/clusters"), 404, "not_found")
