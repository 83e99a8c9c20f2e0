"""SCIM: the protocol, and who may speak it. What follows for people is in `test_provisioned_people`."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID

import httpx
import pytest

from ipucloud.identity.roles import Role
from tests.api.people import person
from tests.api.support import UNLIMITED, Api, ok, problem, running
from tests.support.people import PASSWORD
from tests.support.postgres import Database as Scratch
from tests.support.scim import (
    CORE,
    TYPE,
    USERS,
    activity,
    identity_provider,
    patch_json,
    scim_error,
    user_json,
)
from tests.support.world import World

pytestmark = pytest.mark.anyio

ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
EXTERNAL = {"externalId": "00u1"}


async def created(provider: httpx.AsyncClient, user_name: str, **more: object) -> dict[str, Any]:
    return ok(await provider.post(USERS, json=user_json(user_name, **more)), 201)


async def names(provider: httpx.AsyncClient, **query: object) -> list[str]:
    answer = ok(await provider.get(USERS, params={name: str(value) for name, value in query.items()}))
    return [each["userName"] for each in answer["Resources"]]


async def test_the_protocols_own_checker_finds_nothing_wrong(api: Api) -> None:
    from tests.support.scim_checker import checked

    results = await checked(await identity_provider(api))
    assert {each.title for each in results} > {"object_creation", "object_deletion", "check_replace_attribute"}
    assert [f"{each.title}: {each.reason}" for each in results if each.status.name != "SUCCESS"] == []


async def test_a_user_is_created_found_replaced_and_patched(api: Api) -> None:
    provider = await identity_provider(api)
    name = {"givenName": "Ann", "familyName": "Lee", "formatted": "Dr. Ann Lee"}
    user = await created(provider, "Ann.Lee@Example.COM", externalId="00u1", displayName="Ann", name=name, active=True)
    path = f"{USERS}/{user['id']}"
    assert user["meta"].pop("created") == user["meta"].pop("lastModified")
    assert user == {
        "schemas": [CORE],
        "id": user["id"],
        "externalId": "00u1",
        "userName": "ann.lee@example.com",
        "displayName": "Ann",
        "name": name,
        "active": True,
        "meta": {"resourceType": "User", "location": f"http://api{path}"},
    }
    answer = await provider.get(path)
    assert (answer.headers["content-type"], answer.headers["location"]) == (TYPE, f"http://api{path}")
    for filter_ in (
        'userName eq "ANN.lee@example.com"',
        f'{CORE}:username Eq "ann.lee@example.com"',
        'externalId eq "00u1"',
    ):
        assert await names(provider, filter=filter_) == ["ann.lee@example.com"]
    for missed in ('userName eq "ann"', 'externalId eq "00U1"', 'externalId eq ""'):
        assert await names(provider, filter=missed) == []

    replaced = (await provider.put(path, json=user_json("ann@example.com", displayName="A. Lee"))).json()
    assert (replaced["id"], replaced["userName"], replaced["active"]) == (user["id"], "ann@example.com", True)
    assert replaced["displayName"] == "A. Lee"
    assert not {"externalId", "name"} & set(replaced)
    entra = patch_json(  # as Entra ID sends them: capitals, texts for booleans, attributes that nobody published
        {"op": "Add", "path": "name.givenName", "value": "Anna"},
        {"op": "Replace", "path": "active", "value": "False"},
        {"op": "Add", "path": 'emails[type eq "work"].value', "value": "ann@example.com"},
        {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Research"},
    )
    patched = (await provider.patch(path, json=entra)).json()
    assert (patched["name"], patched["active"]) == ({"givenName": "Anna"}, False)
    assert patched["meta"]["lastModified"] > patched["meta"]["created"]
    before = await api.snapshot()
    assert (await provider.patch(path, json=entra)).json() == patched  # nothing is left to change
    assert (await api.snapshot())["users"] == before["users"]
    assert (await provider.get(path, params={"attributes": "active"})).json().keys() == {"schemas", "id", "active"}


async def test_people_who_were_invited_are_found_and_adopted(api: Api) -> None:
    ann, provider = await person(api), await identity_provider(api)
    assert "userName" in scim_error(await provider.post(USERS, json=user_json(ann.email)), 409, "uniqueness")
    [user] = (await provider.get(USERS, params={"filter": f'userName eq "{ann.email}"'})).json()["Resources"]
    assert (user["id"], user["active"]) == (str(ann.id), True)
    answer = await provider.patch(f"{USERS}/{ann.id}", json=patch_json({"op": "add", "value": EXTERNAL}))
    assert answer.json()["externalId"] == "00u1"
    assert (await api.client().post("/v1/login", json={"email": ann.email, "password": PASSWORD})).status_code == 201


async def test_attributes_that_are_not_kept_do_no_harm(api: Api) -> None:
    provider = await identity_provider(api)
    more = {
        "schemas": [CORE, ENTERPRISE],
        ENTERPRISE: {"department": "Research"},
        "password": "a-secret-of-the-directory",
        "emails": [{"value": "ann@example.com", "primary": True, "type": "work"}],
        "groups": [],
        "id": "mine",
        "active": None,
    }
    user = await created(provider, "ann@example.com", **more)
    assert user.keys() == {"schemas", "id", "userName", "active", "meta"}
    assert (user["active"], UUID(user["id"]).version) == (True, 7)
    assert not await api.stores("a-secret-of-the-directory")


async def test_users_are_read_in_pages(api: Api) -> None:
    provider = await identity_provider(api)
    emails = [f"person-{each}@example.net" for each in range(5)]
    for each in emails:
        await created(provider, each)
    assert await names(provider) == emails
    page = (await provider.get(USERS, params={"startIndex": 2, "count": 2})).json()
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (5, 2, 2)
    assert [each["userName"] for each in page["Resources"]] == emails[1:3]
    assert await names(provider, startIndex=-3, count=1) == emails[:1]
    assert await names(provider, startIndex=99) == []
    counted = (await provider.get(USERS, params={"count": 0})).json()
    assert (counted["totalResults"], counted.get("Resources", [])) == (5, [])
    config = (await provider.get("/scim/v2/ServiceProviderConfig")).json()
    assert await names(provider, count=10**6) == emails
    assert config["filter"] == {"supported": True, "maxResults": 200}
    features = ("patch", "bulk", "sort", "etag", "changePassword")
    assert [each for each in features if config[each]["supported"]] == ["patch"]


BAD_BODIES: dict[str, tuple[object, str]] = {
    "no e-mail": (user_json("ann"), "invalidValue"),
    "no userName": ({"schemas": [CORE]}, "invalidValue"),
    "a number": (user_json("ann@example.com", displayName=3), "invalidValue"),
    "no boolean": (user_json("ann@example.com", active="perhaps"), "invalidValue"),
    "a long name": (user_json("ann@example.com", displayName="x" * 257), "invalidValue"),
    "another schema": ({"schemas": ["urn:example:dog"], "userName": "ann@example.com"}, "invalidSyntax"),
    "a list": ([], "invalidSyntax"),
    "null": (None, "invalidSyntax"),
    "a name that is none": (user_json("ann@example.com", name="Ann"), "invalidValue"),
    "U+0000": (user_json("ann@example.com", displayName="a\x00"), "invalidSyntax"),
}
BAD_PATCHES: dict[str, tuple[object, str]] = {
    "no operation": (patch_json(), "invalidValue"),
    "an unknown operation": (patch_json({"op": "move", "path": "active"}), "invalidValue"),
    "read-only": (patch_json({"op": "replace", "path": "id", "value": "x"}), "mutability"),
    "required": (patch_json({"op": "remove", "path": "userName"}), "mutability"),
    "active is always known": (patch_json({"op": "remove", "path": "active"}), "mutability"),
    "no path": (patch_json({"op": "remove"}), "noTarget"),
    "a path that is none": (patch_json({"op": "add", "path": "((", "value": 1}), "invalidPath"),
    "a long path": (patch_json({"op": "add", "path": "x" * 2000, "value": 1}), "invalidPath"),
    "no boolean": (patch_json({"op": "replace", "path": "active", "value": "perhaps"}), "invalidValue"),
    "too many": (patch_json(*[{"op": "replace", "path": "active", "value": True}] * 101), "tooMany"),
    "no patch": (user_json("ann@example.com"), "invalidSyntax"),
    "no object": ("active", "invalidSyntax"),
    "the last wrong": (
        patch_json({"op": "replace", "value": {"displayName": "x"}}, {"op": "replace", "value": {"active": "x"}}),
        "invalidValue",
    ),
}
BAD_FILTERS = [
    "userName eq",
    'userName co "ann"',
    'userName eq "a" and active eq true',
    'nickName eq "a"',
    'displayName eq "a"',
    "userName eq 3",
    "userName pr",
    '"',
    "(" * 900,
    "not (" * 200,
    f'userName eq "{"x" * 1100}"',
    'externalId eq "\\u0000"',
    'externalId eq "\\ud800"',
]


async def test_bad_requests_are_told_so_and_change_nothing(api: Api) -> None:
    provider = await identity_provider(api)
    user, other = await created(provider, "ann@example.com"), await created(provider, "bob@example.com")
    path = f"{USERS}/{user['id']}"
    before = await api.snapshot()
    for case, (body, scim_type) in BAD_BODIES.items():
        for answer in (await provider.post(USERS, json=body), await provider.put(path, json=body)):
            assert scim_error(answer, 400, scim_type), case
    for case, (body, scim_type) in BAD_PATCHES.items():
        sentence = scim_error(await provider.patch(path, json=body), 400, scim_type)
        assert "pydantic" not in sentence, case
        assert len(sentence) <= 301, case
    for wrong in BAD_FILTERS:
        scim_error(await provider.get(USERS, params={"filter": wrong}), 400, "invalidFilter")
        scim_error(await provider.post(f"{USERS}/.search", json={"filter": wrong}), 400, "invalidFilter")
    for query in ({"count": "many"}, {"startIndex": "first"}, {"attributes": "a", "excludedAttributes": "b"}):
        scim_error(await provider.get(USERS, params=query), 400, "invalidValue")
    scim_error(await provider.put(path, json=user_json("Bob@example.com")), 409, "uniqueness")
    replaced = patch_json({"op": "replace", "path": "userName", "value": other["userName"]})
    scim_error(await provider.patch(path, json=replaced), 409, "uniqueness")
    for unknown in ("0", "01a22000-0000-7000-8000-000000000000", "%00"):
        for method in ("GET", "PUT", "PATCH", "DELETE"):
            body = activity(active=True) if method == "PATCH" else user_json("eve@example.com")
            scim_error(await provider.request(method, f"{USERS}/{unknown}", json=body), 404)
    after = await api.snapshot()
    assert {name for name in after if after[name] != before[name]} <= {"audit_log"}


async def test_what_is_no_json_of_scim_is_refused(api: Api) -> None:
    provider = await identity_provider(api)
    text = json.dumps(user_json("ann@example.com"))
    scim_error(await provider.post(USERS, content="{"), 400, "invalidSyntax")
    scim_error(await provider.post(USERS, content="[" * 40 + "]" * 40), 400, "invalidSyntax")
    scim_error(await provider.post(USERS, content=text, headers={"Content-Type": "text/plain"}), 415)
    limit = api.services.settings.body_limit
    scim_error(await provider.post(USERS, content=text + " " * limit), 413)
    for method, path in (("DELETE", USERS), ("POST", f"{USERS}/0"), ("PUT", "/scim/v2/Schemas")):
        scim_error(await provider.request(method, path), 405)
    scim_error(await provider.post("/scim/v2/Groups", content=text), 405)
    scim_error(await provider.get("/scim/v2/Schemas", params={"filter": 'id eq "x"'}), 403)
    assert await names(provider) == []
    ok(await provider.post(USERS, content=text, headers={"Content-Type": "application/json; charset=utf-8"}), 201)


async def test_nobody_else_may(api: Api, admin: httpx.AsyncClient) -> None:
    ann = await person(api, Role.OWNER)
    login = (await api.client().post("/v1/login", json={"email": ann.email, "password": PASSWORD})).json()["token"]
    browser = api.client(**{"Sec-Fetch-Site": "same-origin"})
    secret = admin.headers["authorization"].removeprefix("Bearer ")
    signed_in = await browser.post("/v1/session", json={"token": secret})
    browser = api.client(Cookie=signed_in.headers["set-cookie"].partition(";")[0], **{"Sec-Fetch-Site": "same-origin"})
    assert (await browser.get("/v1/whoami")).status_code == 200
    strangers: dict[str, tuple[httpx.AsyncClient, int]] = {
        **{str(role): (await api.caller(role), 403) for role in Role if role is not Role.ADMIN},
        "login": (api.client(login), 403),
        "narrowed": (await identity_provider(api, "platform:write", "platform:read"), 403),
        "nobody": (api.client(), 401),
        "garbage": (api.client("ipu_test_x"), 401),
        "browser": (browser, 401),  # although its token may: a page of another site must not
    }
    before = await api.snapshot()
    for who, (caller, status) in strangers.items():
        for method, path in (
            ("GET", USERS),
            ("POST", USERS),
            ("GET", f"{USERS}/{ann.id}"),
            ("PUT", f"{USERS}/{ann.id}"),
            ("PATCH", f"{USERS}/{ann.id}"),
            ("DELETE", f"{USERS}/{ann.id}"),
            ("POST", f"{USERS}/.search"),
            ("GET", "/scim/v2/ServiceProviderConfig"),
            ("GET", "/scim/v2/Schemas"),
            ("GET", "/scim/v2/ResourceTypes/User"),
        ):
            answer = await caller.request(method, path, content="{" if method == "PUT" else None)
            assert scim_error(answer, status), who
            assert (answer.headers.get("www-authenticate") is not None) == (status == 401)
    after = await api.snapshot()
    assert {name for name in after if after[name] != before[name]} <= {"audit_log"}
    assert (await admin.get(USERS)).status_code == 200


async def test_the_providers_token_can_do_nothing_else_and_keeps_no_administrator(api: Api) -> None:
    admin = await api.caller(Role.ADMIN)
    for each in (await admin.get("/v1/tokens", params={"active": "true"})).json()["items"]:
        if each["id"] != (await admin.get("/v1/me")).json()["token"]["id"]:
            assert (await admin.delete(f"/v1/tokens/{each['id']}")).status_code == 204
    token = await admin.post("/v1/tokens", json={"name": "directory", "role": "admin", "scopes": ["person:provision"]})
    provider = api.client(token.json()["token"])
    assert (await provider.get(USERS)).status_code == 200
    for path in ("/v1/projects", "/v1/tokens", f"{api.base}/members", f"{api.base}/clusters"):
        problem(await provider.get(path), 403, "permission_denied")
    own = (await admin.get("/v1/me")).json()["token"]["id"]
    problem(await admin.delete(f"/v1/tokens/{own}"), 409, "last_administrator")
    assert (await admin.delete(f"/v1/tokens/{token.json()['id']}")).status_code == 204


async def test_of_many_posts_of_one_name_one_makes_a_user(api: Api) -> None:
    provider = await identity_provider(api)
    answers = await asyncio.gather(*(provider.post(USERS, json=user_json("new@example.com")) for _ in range(8)))
    assert sorted(each.status_code for each in answers) == [201] + [409] * 7
    assert await names(provider) == ["new@example.com"]
    bob = await created(provider, "bob@example.com")
    renamed = user_json("eve@example.com")
    both = await asyncio.gather(provider.put(f"{USERS}/{bob['id']}", json=renamed), provider.post(USERS, json=renamed))
    assert sorted(each.status_code for each in both) in ([200, 409], [201, 409])
    assert (await names(provider)).count("eve@example.com") == 1


async def test_requests_are_limited_logged_and_protected_as_all_are(world: World, database: Scratch) -> None:
    limits = UNLIMITED | {"rate_limit_per_second": 0.001, "rate_limit_burst": 5}
    async with running(world, database.app_url) as api:
        provider = await identity_provider(api)
        secret = provider.headers["authorization"].removeprefix("Bearer ")
    async with running(world, database.app_url, settings=limits) as api:
        caller = api.client(secret)
        answer = await caller.get(USERS, headers={"Request-Id": "directory-request-0001"})
        assert answer.headers["request-id"] == "directory-request-0001"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "ratelimit" in answer.headers
        answers = [await caller.get(USERS) for _ in range(6)]
        assert scim_error(answers[-1], 429)
        assert "retry-after" in answers[-1].headers


async def test_an_attribute_that_is_given_twice_is_refused_in_whichever_case(api: Api) -> None:
    provider = await identity_provider(api)
    for name in ("active", "Active"):
        body = json.dumps(user_json("ann@example.com", active=False))[:-1] + f', "{name}": true}}'
        answer = await provider.post(USERS, content=body, headers={"Content-Type": "application/scim+json"})
        assert f'the key "{name}" twice' in scim_error(answer, 400, "invalidSyntax")
    scim_error(await provider.get(USERS, params=[("count", "1"), ("count", "2")]), 400, "invalidValue")
    assert (await provider.get(USERS)).json()["totalResults"] == 0


async def test_every_write_is_in_the_audit_log(api: Api) -> None:
    provider, admin = await identity_provider(api), await api.caller(Role.ADMIN)
    user = await created(provider, "ann@example.com")
    path = f"{USERS}/{user['id']}"
    await provider.get(path)
    await provider.put(path, json=user_json("ann@example.com", active=False))
    await provider.patch(path, json=patch_json({"op": "remove", "path": "id"}))
    await provider.delete(path)
    await api.owner.delete(path)
    items = (await admin.get("/v1/operator/audit-log", params={"limit": 6})).json()["items"]
    entries = [(each["operation"], each["actor"], each["status"], each["code"]) for each in reversed(items)]
    assert entries[1:] == [
        ("scimCreateUser", "directory", 201, None),
        ("scimReplaceUser", "directory", 200, None),
        ("scimPatchUser", "directory", 400, "malformed_request"),
        ("scimDeleteUser", "directory", 204, None),
        ("scimDeleteUser", entries[-1][1], 403, "permission_denied"),
    ]
    assert {each["objects"].get("user_id") for each in items[1:5]} == {user["id"]}


async def test_a_provider_that_looks_for_groups_finds_an_empty_list(api: Api) -> None:
    provider = await identity_provider(api)
    for query in ({}, {"filter": 'displayName eq "Engineers"', "startIndex": "1", "count": "10"}):
        answer = await provider.get("/scim/v2/Groups", params=query)
        assert answer.status_code == 200, answer.text
        assert (answer.json()["totalResults"], answer.json().get("Resources", [])) == (0, [])
