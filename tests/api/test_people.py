"""People: signed in with a password, which ends everything else when it changes; their logins and tokens are theirs."""

from __future__ import annotations

from datetime import timedelta

import pytest

from ipucloud.identity.roles import Role
from ipucloud.identity.tokens import TokenKind
from tests.api.people import ACCEPT, LOGIN, ME, OURS, SESSION, advance, logged_in, person
from tests.api.support import Api, items, problem
from tests.support.people import PASSWORD, make_owned
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio


async def test_bad_input_changes_nothing(api: Api) -> None:
    who, path = await person(api), f"{api.base}/invitations"
    before = await api.snapshot()
    for body in (
        {"email": "nobody", "role": "viewer"},
        {"email": "a@b", "role": "viewer"},
        {"email": "ann@example.com\n", "role": "viewer"},
        {"email": f"{'a' * 250}@example.com", "role": "viewer"},
        {"email": "ann@example.com"},
        {"email": "ann@example.com", "role": "admin"},
        {"email": "ann@example.com", "role": "payer"},
        {"email": "ann@example.com", "role": "viewer", "project_id": str(who.id)},
    ):
        problem(await api.owner.post(path, json=body), 422, "validation_failed")
    anybody = api.client()
    for sign_in in (
        {"email": who.email},
        {"password": PASSWORD},
        {"email": who.email, "password": PASSWORD, "token": "x"},
        {"token": "x", "project": "x"},
    ):
        problem(await anybody.post(SESSION, json=sign_in), 422, "validation_failed")
    cross_site = {"Sec-Fetch-Site": "cross-site"}
    for where, sent in (
        (LOGIN, {"email": who.email, "password": PASSWORD}),
        (ACCEPT, {"secret": "x", "password": "x"}),
    ):
        problem(await anybody.post(where, json=sent, headers=cross_site), 403, "cross_site_request")
    role = await api.owner.patch(f"{api.base}/members/{who.member}", json={"role": "support"})
    problem(role, 422, "validation_failed")
    for verb, where in (("PUT", f"{SESSION}/membership"), ("PUT", f"{ME}/password"), ("DELETE", LOGIN)):
        bodies = {
            f"{SESSION}/membership": {"membership_id": str(who.member)},
            f"{ME}/password": {"current_password": PASSWORD, "new_password": f"{PASSWORD}-2"},
        }
        problem(await api.owner.request(verb, where, json=bodies.get(where)), 409, "state_conflict")
    assert await api.snapshot() == before


async def test_a_wrong_password_and_an_unknown_person_are_one_answer_and_are_limited(api: Api) -> None:
    who = await person(api)
    answers = []
    for email in (who.email, "nobody@example.com"):
        for path in (SESSION, LOGIN):
            caller = api.client(address="192.0.2.7")
            answer = await caller.post(path, json={"email": email, "password": "wrong"})
            refused = problem(answer, 401, "unauthenticated")
            answers.append((refused["detail"], refused["title"]))
    assert len(set(answers)) == 1
    guesser = api.client(address="192.0.2.8")
    bad = {"email": who.email, "password": "wrong"}
    codes = [(await guesser.post(LOGIN, json=bad)).status_code for _ in range(11)]
    assert codes == [401] * 10 + [429]
    limited = await guesser.post(LOGIN, json=bad | {"password": PASSWORD})
    assert int(limited.headers["retry-after"]) >= 1
    problem(limited, 429, "rate_limited")
    elsewhere = api.client(address="198.51.100.1")  # who guesses does not keep the person out
    assert (await elsewhere.post(LOGIN, json=bad | {"password": PASSWORD})).status_code == 201


async def test_whoever_guesses_keeps_nobody_out_where_they_signed_in_before(api: Api) -> None:
    """From ever new addresses, until the limit of the person is used up for everybody else."""
    who = await person(api)
    good, bad = ({"email": who.email, "password": each} for each in (PASSWORD, "wrong"))
    office = api.client(address="198.51.100.1")
    laptop = api.client(address="198.51.100.2")
    assert (await office.post(LOGIN, json=good)).status_code == 201
    assert (await laptop.post(SESSION, json=good)).status_code == 201
    assert "ipucloud-device" in laptop.cookies
    codes = {(await api.client(address=f"192.0.2.{n}").post(LOGIN, json=bad)).status_code for n in range(1, 120)}
    assert codes == {401, 429}
    problem(await api.client(address="203.0.113.9").post(LOGIN, json=good), 429, "rate_limited")
    assert (await office.post(LOGIN, json=good)).status_code == 201
    travelling = api.client(address="203.0.113.9")
    travelling.cookies.update(laptop.cookies)
    assert (await travelling.post(SESSION, json=good)).status_code == 201
    guesses = [(await travelling.post(SESSION, json=bad)).status_code for _ in range(12)]
    assert guesses[-1] == 429  # a stolen browser guesses no faster than anybody
    forged = api.client(address="203.0.113.10")
    forged.cookies.set("ipucloud-device", "a." + "0" * 64)
    problem(await forged.post(SESSION, json=good), 429, "rate_limited")


async def test_a_login_is_the_persons_and_ends(api: Api, database: Scratch, stopped_clock: None) -> None:
    who = await person(api, Role.OWNER)
    caller = await logged_in(api, who, name="desk", project=api.world.project.slug)
    token = (await caller.get("/v1/whoami")).json()["token"]
    assert (token["kind"], token["owner"], token["role"], token["name"]) == ("login", who.email, "owner", "desk")
    listed = {each["id"]: each for each in await items(api.owner, f"{api.base}/tokens")}
    assert listed[token["id"]]["owner"] == who.email
    assert str(who.member) not in listed  # a membership is no token to see, to rotate or to revoke
    for verb, path in (("GET", ""), ("DELETE", ""), ("POST", ":rotate")):
        body: dict[str, str] | None = {} if verb == "POST" else None
        problem(await api.owner.request(verb, f"{api.base}/tokens/{who.member}{path}", json=body), 404, "not_found")
    problem(await api.owner.post(f"{api.base}/tokens/{token['id']}:rotate", json={}), 409, "state_conflict")
    assert (await caller.delete(LOGIN)).status_code == 204
    problem(await caller.get(ME), 401, "unauthenticated")

    later = await logged_in(api, who)
    await advance(api, database, timedelta(days=30))
    problem(await later.get(ME), 401, "unauthenticated")


async def test_nobody_rotates_a_token_of_somebody_else(api: Api) -> None:
    ann, bob = await person(api, Role.OWNER), await person(api, Role.OWNER)
    async with api.world.database.begin() as connection:
        token = await make_owned(connection, ann, api.world.project.id, Role.OWNER, TokenKind.PERSONAL)
    path = f"{api.base}/tokens/{token.id}"
    for caller in (await logged_in(api, bob), api.owner):
        problem(await caller.post(f"{path}:rotate", json={}), 403, "permission_denied")
    rotated = (await (await logged_in(api, ann)).post(f"{path}:rotate", json={})).json()
    assert (rotated["kind"], rotated["owner"]) == ("personal", ann.email)
    assert (await (await logged_in(api, bob)).delete(f"{api.base}/tokens/{rotated['id']}")).status_code == 204


async def test_a_new_password_ends_everything_else(api: Api) -> None:
    who = await person(api)
    shell, browser, other = await logged_in(api, who), api.client(**OURS), api.client(**OURS)
    for each in (browser, other):
        await each.post(SESSION, json={"email": who.email, "password": PASSWORD})
    new = "lantern-ferry-basil-09"
    body = {"current_password": PASSWORD, "new_password": new}
    answer = await browser.put(f"{ME}/password", json=body | {"current_password": "x"})
    wrong = problem(answer, 422, "validation_failed")
    assert wrong["errors"][0]["code"] == "wrong"
    weak = await browser.put(f"{ME}/password", json=body | {"new_password": "passwordpassword"})
    problem(weak, 422, "validation_failed")
    assert (await browser.put(f"{ME}/password", json=body)).status_code == 204
    assert (await browser.get(ME)).status_code == 200
    for each in (shell, other):
        problem(await each.get(ME), 401, "unauthenticated")
    sign_in = {"email": who.email, "password": PASSWORD}
    problem(await other.post(SESSION, json=sign_in), 401, "unauthenticated")
    assert (await other.post(SESSION, json=sign_in | {"password": new})).status_code == 201
