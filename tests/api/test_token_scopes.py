"""Tokens that are narrowed to some of the scopes of their role: what they may do, and what they can give to others."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from ipucloud.identity.roles import Role, scopes_of
from ipucloud.identity.tokens import TokenKind
from ipucloud.kernel.ids import new_id
from tests.api.people import person
from tests.api.support import Api, cluster_json, items, key, ok, problem
from tests.support.people import make_owned, make_person

pytestmark = pytest.mark.anyio

VIEWER = sorted(scopes_of(Role.VIEWER))


async def create_token(caller: httpx.AsyncClient, path: str, **body: object) -> dict[str, Any]:
    return ok(await caller.post(path, json={"name": "narrow"} | body), 201)


async def owning(api: Api, *scopes: str) -> httpx.AsyncClient:
    """A caller with a new token of an owner, narrowed."""
    return api.client((await create_token(api.owner, f"{api.base}/tokens", role="owner", scopes=scopes))["token"])


@pytest.mark.parametrize(
    ("scopes", "code", "pointer", "text"),
    [
        (["cluster:read", "cluster:fly"], "unknown_scope", "/scopes/1", "cluster:write"),
        (["cluster:read", "cluster:write"], "scope_not_of_role", "/scopes/1", "The role viewer does not have"),
        (["cluster:read", "cluster:read"], "duplicate", "/scopes", "cluster:read"),
        ([], "too_short", "/scopes", "1"),
        ([7], "string_type", "/scopes/0", ""),
        ("cluster:read", "list_type", "/scopes", ""),
        (["x" * 65], "string_too_long", "/scopes/0", ""),
    ],
)
async def test_lists_that_mean_nothing_are_refused(
    api: Api, scopes: object, code: str, pointer: str, text: str
) -> None:
    before = await api.snapshot()
    answer = await api.owner.post(f"{api.base}/tokens", json={"name": "narrow", "role": "viewer", "scopes": scopes})
    [fault] = problem(answer, 422, "validation_failed")["errors"]
    assert (fault["pointer"], fault["code"], text in fault["detail"]) == (pointer, code, True)
    assert await api.snapshot() == before


@pytest.mark.parametrize(("role", "scope"), [("payer", "billing:read"), ("support", "platform:write")])
async def test_a_scope_that_a_role_of_the_platform_lacks_is_named(api: Api, role: str, scope: str) -> None:
    admin, payer = await api.caller(Role.ADMIN), {"account_id": str(api.world.project.id)} if role == "payer" else {}
    body = {"name": "narrow", "role": role, "scopes": [scope]} | payer
    await api.world.execute(
        "INSERT INTO billing_accounts (id, name, currency) SELECT id, 'a', 'EUR' FROM projects ON CONFLICT DO NOTHING"
    )
    [fault] = problem(await admin.post("/v1/tokens", json=body), 422, "validation_failed")["errors"]
    assert fault["code"] == "scope_not_of_role"
    assert fault["detail"].startswith(f"The role {role} does not have the scope {scope}. It has: account:read, ")
    narrow = await create_token(admin, "/v1/tokens", **body | {"scopes": ["account:read"]})
    assert (narrow["scopes"], narrow["narrowed"]) == (["account:read"], True)
    problem(await api.client(narrow["token"]).get("/v1/regions"), 403, "permission_denied")
    assert (await api.client(narrow["token"]).get("/v1/billing/accounts")).status_code == 200


async def test_what_a_token_may_is_shown_wherever_it_is(api: Api) -> None:
    path, scopes = f"{api.base}/tokens", ["billing:read", "cluster:read"]
    narrow = await create_token(api.owner, path, role="owner", scopes=scopes[::-1], service=True)
    wide = await create_token(api.owner, path, role="viewer")
    listed = await items(api.owner, f"{api.base}/events", type="token.created", limit=2)
    noted = {shown["subject_id"]: shown["data"] for shown in listed}
    told = {"name": "narrow", "role": "owner", "scopes": scopes, "allowed_sources": [], "clusters": None}
    assert noted[narrow["id"]] == told
    assert noted[wide["id"]]["scopes"] is None
    for token, expected, narrowed in ((narrow, scopes, True), (wide, VIEWER, False)):
        listed = await items(api.owner, path)
        whoami = (await api.client(token["token"]).get("/v1/whoami")).json()
        session = (await api.client().post("/v1/session", json={"token": token["token"]})).json()
        assert whoami["scopes"] == session["scopes"] == expected
        for shown in (
            token,
            whoami["token"],
            session["token"],
            (await api.owner.get(f"{path}/{token['id']}")).json(),
            *(shown for shown in listed if shown["id"] == token["id"]),
        ):
            assert (shown["scopes"], shown["narrowed"]) == (expected, narrowed)


async def test_only_what_the_role_has_counts(api: Api) -> None:
    """A scope that the role loses is lost to the token; the others of the role do not come to it instead."""
    token = await create_token(
        api.owner, f"{api.base}/tokens", role="operator", scopes=["cluster:write", "cluster:read"]
    )
    await api.world.execute("UPDATE tokens SET role = 'viewer' WHERE id = :id", id=token["id"])
    caller = api.client(token["token"])
    assert (await caller.get("/v1/whoami")).json()["scopes"] == ["cluster:read"]
    assert (await caller.get(f"{api.base}/clusters")).status_code == 200
    refusal = problem(await caller.post(f"{api.base}/clusters", json=cluster_json()), 403, "permission_denied")
    assert "scope" not in refusal  # the role itself does not have it
    await api.world.execute("UPDATE tokens SET scopes = '{billing:read}' WHERE id = :id", id=token["id"])
    assert (await caller.get("/v1/whoami")).json()["scopes"] == []
    assert (await caller.get(f"{api.base}/clusters")).status_code == 403


@pytest.mark.parametrize("platform", [False, True])
async def test_a_replaced_token_keeps_its_scopes(api: Api, platform: bool) -> None:
    caller, path = (await api.caller(Role.ADMIN), "/v1/tokens") if platform else (api.owner, f"{api.base}/tokens")
    old = await create_token(
        caller, path, role="support" if platform else "owner", scopes=["token:read", "cluster:read"]
    )
    new = (await caller.post(f"{path}/{old['id']}:rotate", json={})).json()
    assert (new["scopes"], new["narrowed"]) == (["cluster:read", "token:read"], True)
    refused = await api.client(new["token"]).get(f"{api.base}/events")
    assert problem(refused, 403, "permission_denied")["scope"] == "project:read"


async def test_a_narrowed_token_gives_nobody_more_than_it_has(api: Api) -> None:
    path = f"{api.base}/tokens"
    caller = await owning(api, "token:write", "cluster:read", "member:write")
    full = await create_token(api.owner, path, role="viewer")
    wider = await create_token(api.owner, path, role="owner", scopes=["cluster:read", "cluster:write"])
    within = await create_token(api.owner, path, role="viewer", scopes=["cluster:read"])
    viewer = await person(api, Role.VIEWER)
    invitations = f"{api.base}/invitations"
    invited = (await api.owner.post(invitations, json={"email": "o@example.com", "role": "owner"})).json()
    before = await api.snapshot()
    for answer in (
        await caller.post(path, json={"name": "all", "role": "viewer"}),
        await caller.post(path, json={"name": "all", "role": "viewer", "scopes": ["cluster:read", "project:read"]}),
        await caller.post(f"{path}/{full['id']}:rotate", json={}),
        await caller.post(f"{path}/{wider['id']}:rotate", json={}),
        await caller.post(invitations, json={"email": "n@example.com", "role": "viewer"}),
        await caller.post(f"{invitations}/{invited['id']}:renew", json={}),
        await caller.patch(f"{api.base}/members/{viewer.member}", json={"role": "owner"}),
    ):
        refusal = problem(answer, 403, "permission_denied")
        assert "narrowed to cluster:read, member:write, token:write" in refusal["detail"]
    assert await api.snapshot() == before
    assert (await caller.post(f"{path}/{within['id']}:rotate", json={})).status_code == 201
    assert (await caller.delete(f"{path}/{wider['id']}")).status_code == 204
    child = await create_token(caller, path, role="operator", scopes=["cluster:read"])
    assert (await api.client(child["token"]).get(f"{api.base}/clusters")).status_code == 200
    own = (await caller.get("/v1/whoami")).json()["token"]["id"]
    rotated = (await caller.post(f"{path}/{own}:rotate", json={})).json()
    assert rotated["scopes"] == ["cluster:read", "member:write", "token:write"]


async def test_a_narrowed_administrator_gives_nobody_more_than_it_has(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    caller = api.client(
        (await create_token(admin, "/v1/tokens", role="admin", scopes=["platform:write", "account:read"]))["token"]
    )
    support = await create_token(admin, "/v1/tokens", role="support")
    account = await create_token(admin, "/v1/billing/accounts", currency="EUR")
    before = await api.snapshot()
    for path, body in (
        ("/v1/tokens", {"name": "all", "role": "admin"}),
        ("/v1/tokens", {"name": "all", "role": "support", "scopes": ["platform:read"]}),
        ("/v1/tokens", {"name": "all", "role": "payer", "account_id": account["id"]}),
        (f"/v1/tokens/{support['id']}:rotate", {}),
        (f"/v1/billing/accounts/{account['id']}/invitations", {"email": "p@example.com"}),
    ):
        problem(await caller.post(path, json=body), 403, "permission_denied")
    assert await api.snapshot() == before
    payer = {"role": "payer", "account_id": account["id"], "scopes": ["account:read"]}
    assert (await create_token(caller, "/v1/tokens", **payer))["narrowed"] is True


async def test_a_browser_is_as_narrow_as_the_token_that_signed_it_in(api: Api) -> None:
    narrow = await create_token(
        api.owner, f"{api.base}/tokens", role="owner", scopes=["cluster:read", "catalogue:read"]
    )
    link = (await api.client(narrow["token"]).post("/v1/session/links", headers=key())).json()
    for body in ({"token": narrow["token"]}, {"code": link["code"]}):
        answer = await api.client().post("/v1/session", json=body)
        assert answer.json()["scopes"] == ["catalogue:read", "cluster:read"]
        browser = api.client(Cookie=answer.headers["set-cookie"].partition(";")[0])
        assert (await browser.get(f"{api.base}/clusters")).status_code == 200
        assert problem(await browser.get(f"{api.base}/tokens"), 403, "permission_denied")["scope"] == "token:read"
        assert (await browser.delete("/v1/session", headers={"Sec-Fetch-Site": "same-origin"})).status_code == 200


@pytest.mark.parametrize("scopes", [None, "{catalogue:read}"])
async def test_a_session_of_a_personal_token_does_not_become_its_person(api: Api, scopes: str | None) -> None:
    async with api.world.database.begin() as connection:
        person = await make_person(connection, api.world.project.id, Role.OWNER)
        token = await make_owned(connection, person, api.world.project.id, Role.VIEWER, TokenKind.PERSONAL)
    await api.world.execute("UPDATE tokens SET scopes = :scopes WHERE id = :id", scopes=scopes, id=token.id)
    signed_in = await api.client().post("/v1/session", json={"token": token.secret})
    browser = api.client(Cookie=signed_in.headers["set-cookie"].partition(";")[0], **{"Sec-Fetch-Site": "same-origin"})
    answer = await browser.put("/v1/session/membership", json={"membership_id": str(person.member)})
    assert "personal token" in problem(answer, 403, "permission_denied")["detail"]
    assert (await browser.get("/v1/me")).json()["role"] == "viewer"


async def test_paths_outside_the_document_need_their_scope_too(api: Api) -> None:
    caller = await owning(api, "cluster:read", "catalogue:read")
    missing = f"{api.base}/clusters/{new_id()}/services/{new_id()}/proxy/"
    assert problem(await caller.get(missing), 403, "permission_denied")["scope"] == "cluster:write"
    stream = await caller.get(f"{api.base}/events/stream", params={"wait": "0"})
    assert problem(stream, 403, "permission_denied")["scope"] == "project:read"
