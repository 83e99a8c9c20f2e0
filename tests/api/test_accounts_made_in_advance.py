"""An account that somebody made in the name of another is not theirs any more once that person comes."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import httpx
import pytest
import structlog
import typer
from typer.testing import CliRunner

from ipucloud.cli.service import reset_password as reset_password_command
from ipucloud.cli.service import verify_accounts
from ipucloud.identity.roles import Role
from ipucloud.identity.verification import Reset, reset_password
from tests.api.account_takeover import ANN, OWN, THEIRS, is_invited_again, mailed, nothing_is_left, set_up_attack
from tests.api.people import ACCEPT, BY_HAND, LOGIN, ME, OURS, SESSION, SHOW, events, invite, logged_in, person
from tests.api.support import UNLIMITED, Api, items, key, ok, problem, running
from tests.api.test_device_logins import DEVICES, begin_login, fetched
from tests.api.test_provider_sign_in import returned, signed_in
from tests.api.test_provider_sign_in import start_sign_in as at_provider
from tests.support.oidc_provider import RunningProvider
from tests.support.people import PASSWORD
from tests.support.postgres import Database as Scratch
from tests.support.scim import USERS, activity, identity_provider, patch_json, scim_error, user_json

pytestmark = pytest.mark.anyio

ISSUED = "issued-lamp-of-ann-42-river"
SMTP: dict[str, object] = {"smtp_host": "127.0.0.1", "smtp_from": "cloud@ipucloud.example"}


@pytest.fixture
def settings(sso: RunningProvider) -> dict[str, object]:
    sso.person("subject-ann", ANN)
    return UNLIMITED | {"oidc_providers": [sso.settings()]}


@pytest.fixture
async def mailing(database: Scratch, settings: dict[str, object], api: Api) -> AsyncIterator[Api]:
    """The same installation, which sends e-mail by now."""
    async with running(api.world, database.app_url, settings=settings | SMTP) as started:
        yield started


async def joined_at_provider(api: Api, sso: RunningProvider) -> httpx.AsyncClient:
    """She accepts the invitation to our project by signing in at the provider."""
    secret = (await invite(api, ANN, "owner"))["secret"]
    browser = api.client(**OURS)
    session = ok(await returned(browser, sso.visit(await at_provider(browser, secret))), 201)
    assert (session["role"], session["project"]["slug"]) == ("owner", api.world.project.slug)
    return browser


async def test_who_joins_through_a_provider_shares_the_account_with_nobody(api: Api, sso: RunningProvider) -> None:
    attack = await set_up_attack(api)
    ann = await joined_at_provider(api, sso)
    await nothing_is_left(api, attack)
    await is_invited_again(attack, "when the person signed in through an identity provider")
    me = (await ann.get(ME)).json()
    assert [each["project"] for each in me["memberships"]] == [api.world.project.slug]
    assert (me["user"]["password_set_at"], me["user"]["verified_at"] is None) == (None, False)
    [member] = await items(api.owner, f"{api.base}/members")
    assert (member["email"], member["verified"]) == (ANN, True)

    [invitation] = await items(attack.owner, f"{attack.base}/invitations?open=true")
    secret = (await attack.owner.post(f"{attack.base}/invitations/{invitation['id']}:renew")).json()["secret"]
    browser = api.client(**OURS)
    again = await returned(browser, sso.visit(await at_provider(browser, secret)))
    assert (again.status_code, again.json()["project"]["slug"]) == (201, attack.project.slug)
    assert len((await browser.get(ME)).json()["memberships"]) == 2  # a verified account is not taken over again


async def test_the_first_sign_in_ends_the_access_of_others_though_she_is_a_member_of_nothing(
    api: Api, sso: RunningProvider
) -> None:
    attack = await set_up_attack(api)
    with structlog.testing.capture_logs() as logs:
        refused = problem(await signed_in(api, sso), 403, "not_a_member")
    assert attack.project.slug in refused["detail"]
    assert "renew the invitation" in refused["detail"]
    assert [each["memberships"] for each in logs if each["event"] == "earlier_access_ended"] == [1]
    await nothing_is_left(api, attack)
    await is_invited_again(attack, "when the person signed in through an identity provider")
    admin = await api.caller(Role.ADMIN)
    log = await items(admin, "/v1/operator/audit-log")
    [entry] = [each for each in log if "verified_user_id" in each["objects"]]
    assert (entry["operation"], entry["status"], entry["code"]) == ("signIn", 403, "not_a_member")


async def put(provider: httpx.AsyncClient, user_id: str) -> httpx.Response:
    return await provider.put(f"{USERS}/{user_id}", json=user_json(ANN, active=True))


async def patch_external_id(provider: httpx.AsyncClient, user_id: str) -> httpx.Response:
    body = patch_json({"op": "add", "path": "externalId", "value": "00u7"})
    return await provider.patch(f"{USERS}/{user_id}", json=body)


@pytest.mark.parametrize("takes_over", [put, patch_external_id])
async def test_an_account_that_a_directory_takes_over_is_whose_the_directory_says(
    api: Api, sso: RunningProvider, takes_over: Callable[[httpx.AsyncClient, str], Awaitable[httpx.Response]]
) -> None:
    attack, provider = await set_up_attack(api), await identity_provider(api)
    scim_error(await provider.post(USERS, json=user_json(ANN)), 409, "uniqueness")
    [user] = (await provider.get(USERS, params={"filter": f'userName eq "{ANN}"'})).json()["Resources"]
    assert (await attack.browser.get(ME)).status_code == 200  # it has only looked
    assert (await takes_over(provider, user["id"])).status_code == 200
    await nothing_is_left(api, attack)
    await is_invited_again(attack, "when the identity provider that keeps the people took the account over")
    ann = await joined_at_provider(api, sso)
    assert [each["role"] for each in (await ann.get(ME)).json()["memberships"]] == ["owner"]
    assert (await takes_over(provider, user["id"])).status_code == 200
    assert (await ann.get(ME)).status_code == 200


async def test_an_account_that_was_deactivated_returns_without_what_was_there_in_advance(
    api: Api, sso: RunningProvider
) -> None:
    attack, provider = await set_up_attack(api), await identity_provider(api)
    [user] = (await provider.get(USERS, params={"filter": f'userName eq "{ANN}"'})).json()["Resources"]
    for active in (False, True):
        ok(await provider.patch(f"{USERS}/{user['id']}", json=activity(active=active)))
        await nothing_is_left(api, attack)
    assert await items(attack.owner, f"{attack.base}/invitations?open=true") == []
    ann = await joined_at_provider(api, sso)
    assert len((await ann.get(ME)).json()["memberships"]) == 1


async def test_another_user_name_ends_the_open_invitations_to_the_former_one(api: Api) -> None:
    provider, ann = await identity_provider(api), await person(api, Role.VIEWER, ANN)
    login, other = await logged_in(api, ann), await api.other_project()
    base = f"/v1/projects/{other.slug}/invitations"
    invitation = (await api.client(other.token.secret).post(base, json={"email": ANN, "role": "owner"})).json()
    renamed = patch_json({"op": "replace", "path": "userName", "value": "ann.lee@example.com"})
    assert (await provider.patch(f"{USERS}/{ann.id}", json=renamed)).status_code == 200
    assert (await login.get(ME)).json()["user"]["email"] == "ann.lee@example.com"  # she stays who she is
    answer = await api.client().post(ACCEPT, json={"secret": invitation["secret"], "password": OWN})
    problem(answer, 410, "invitation_ended")  # the mailbox may be of another person by now


async def test_where_mail_is_sent_only_the_invited_person_gets_the_link(mailing: Api) -> None:
    project = await mailing.other_project()
    owner, path = mailing.client(project.token.secret), f"/v1/projects/{project.slug}/invitations"
    repeated = key()
    for _ in range(2):
        invitation = (await owner.post(path, json={"email": ANN, "role": "operator"}, headers=repeated)).json()
        assert invitation | {"email": ANN, "emailed": True, "url": None, "secret": None} == invitation
    [first] = await mailed(mailing)
    repeated = key()
    for _ in range(2):
        renewed = (await owner.post(f"{path}/{invitation['id']}:renew", headers=repeated)).json()
        assert (renewed["emailed"], renewed["url"], renewed["secret"]) == (True, None, None)
    assert not await mailing.stores("ipi_")
    assert [each["emailed"] for each in await items(owner, path)] == [True]
    [secret] = await mailed(mailing)
    anybody = mailing.client(**OURS)
    problem(await anybody.post(SHOW, json={"secret": first}), 404, "not_found")
    assert not (await anybody.post(SHOW, json={"secret": secret})).json()["has_account"]
    assert (await anybody.post(ACCEPT, json={"secret": secret, "password": OWN})).status_code == 200
    session = await anybody.post(SESSION, json={"email": ANN, "password": OWN})
    assert (session.status_code, (await anybody.get(ME)).json()["user"]["verified_at"] is not None) == (201, True)

    accounts = f"/v1/billing/accounts/{mailing.world.project.id}/invitations"
    admin = await mailing.caller(Role.ADMIN)
    payer = (await admin.post(accounts, json={"email": "pay@example.com"})).json()
    assert (payer["emailed"], payer["secret"]) == (True, None)


async def test_who_opens_the_link_in_her_mailbox_gets_the_account_without_knowing_its_password(
    api: Api, mailing: Api
) -> None:
    attack = await set_up_attack(api)
    invitation = await invite(mailing, ANN, "owner")
    assert invitation["secret"] is None
    [secret] = await mailed(mailing)
    shown = (await mailing.client().post(SHOW, json={"secret": secret})).json()
    assert not shown["has_account"]  # none that counts: she chooses a password
    problem(await mailing.client().post(ACCEPT, json={"secret": secret, "password": "kurz"}), 422, "validation_failed")
    assert (await attack.browser.get(ME)).status_code == 200
    accepted = await mailing.client().post(ACCEPT, json={"secret": secret, "password": OWN})
    assert (accepted.status_code, accepted.json()["has_account"]) == (200, True)
    await is_invited_again(attack, "when the person opened a link that only the mailbox got")
    browser = mailing.client(**OURS)
    session = await browser.post(SESSION, json={"email": ANN, "password": OWN})
    assert (session.status_code, session.json()["role"]) == (201, "owner")
    [newest, oldest] = await items(attack.owner, f"{attack.base}/events?type=member.invited")
    assert (oldest["data"], newest["actor"]) == ({"email": ANN, "role": "owner"}, ANN)

    *_, again = await mailed(mailing)  # to the project of the attacker
    problem(await mailing.client().post(ACCEPT, json={"secret": again, "password": THEIRS}), 401, "unauthenticated")
    assert (await mailing.client().post(ACCEPT, json={"secret": again, "password": OWN})).status_code == 200
    assert len((await browser.get(ME)).json()["memberships"]) == 2
    await nothing_is_left(mailing, attack)


async def test_a_link_that_was_shown_proves_nothing(api: Api, mailing: Api) -> None:
    """Neither one from before mail was sent, nor a second invitation, whose link an owner passes on."""
    attack = await set_up_attack(api)
    secret = (await invite(api, ANN))["secret"]
    shown = (await mailing.client().post(SHOW, json={"secret": secret})).json()
    assert shown["has_account"]
    before = await api.snapshot()
    problem(await mailing.client().post(ACCEPT, json={"secret": secret, "password": OWN}), 401, "unauthenticated")
    assert await api.snapshot() == before
    assert (await mailing.client().post(ACCEPT, json={"secret": secret, "password": THEIRS})).status_code == 200
    members = await items(api.owner, f"{api.base}/members")
    assert [each["verified"] for each in members] == [False]
    assert (await attack.login.get(ME)).json()["user"]["verified_at"] is None


async def reset(api: Api, email: str, *, keep: bool | None = None) -> Reset:
    hashed = await api.services.passwords.hash(ISSUED)
    async with api.world.database.begin() as connection:
        done = await reset_password(connection, email, hashed, BY_HAND, keep=keep)
    assert done is not None
    return done


@pytest.mark.parametrize("keep", [None, True])
async def test_the_operators_reset_gives_the_account_to_her_alone(api: Api, keep: bool | None) -> None:
    attack = await set_up_attack(api)
    done = await reset(api, ANN, keep=keep)
    answer = await api.client().post(LOGIN, json={"email": ANN, "password": ISSUED})
    if keep:
        assert (done.kept, done.again) == ([attack.project.slug], [])
        assert answer.status_code == 201
        assert (await api.client(answer.json()["token"]).get(ME)).json()["user"]["verified_at"] is not None
    else:
        assert (done.kept, [each.place for each in done.again]) == ([], [attack.project.slug])
        problem(answer, 403, "not_a_member")
        await is_invited_again(attack, "when the operator reset the password")
    await nothing_is_left(api, attack)


async def at_database(database: Scratch, app: typer.Typer, *arguments: str, status: int = 0) -> Any:
    environment = {"IPUCLOUD_DATABASE_URL": database.app_url}
    done = await asyncio.to_thread(CliRunner().invoke, app, [*arguments, "--json"], env=environment)
    assert done.exit_code == status, done.output
    return json.loads(done.stdout) if done.stdout else None


async def test_operators_reset_and_verify_accounts_at_the_database(
    api: Api, sso: RunningProvider, database: Scratch
) -> None:
    attack, known = await set_up_attack(api), await person(api, Role.VIEWER)
    [listed] = await at_database(database, verify_accounts.app)
    assert (listed["email"], listed["places"]) == (ANN, attack.project.slug)
    done = await at_database(database, reset_password_command.app, ANN)
    assert (done["member_of"], done["invited_again_to"]) == ([], [attack.project.slug])
    await nothing_is_left(api, attack)
    problem(await api.client().post(LOGIN, json={"email": ANN, "password": done["password"]}), 403, "not_a_member")
    kept = await at_database(database, reset_password_command.app, known.email)
    assert kept["member_of"] == [api.world.project.slug]
    await at_database(database, reset_password_command.app, "nobody@example.com", status=3)
    assert await at_database(database, verify_accounts.app, ANN, status=3) == []


async def test_an_account_that_the_operator_verified_loses_nothing(
    api: Api, sso: RunningProvider, database: Scratch
) -> None:
    """For people who have used their accounts since before e-mails were verified."""
    attack = await set_up_attack(api)
    [verified] = await at_database(database, verify_accounts.app, "--all")
    assert verified["email"] == ANN
    assert (await signed_in(api, sso)).status_code == 201
    assert (await attack.login.get(ME)).json()["user"]["verified_at"] is not None


async def test_a_reset_of_a_verified_account_keeps_its_memberships_and_nothing_that_was_signed_in(api: Api) -> None:
    ann = await person(api, Role.OWNER, ANN)
    login = await logged_in(api, ann)
    token = (await login.post(f"{api.base}/tokens", json={"name": "mine", "role": "viewer"})).json()["token"]
    browser, device = api.client(**OURS), await begin_login(api)
    assert (await browser.post(SESSION, json={"email": ANN, "password": PASSWORD})).status_code == 201
    assert (await browser.post(f"{DEVICES}:approve", json={"user_code": device["user_code"]})).status_code == 204
    assert (await reset(api, ANN)).kept == [api.world.project.slug]
    for caller in (login, browser, api.client(token)):
        problem(await caller.get(ME), 401, "unauthenticated")
    problem(await fetched(api, device), 400, "expired_token")
    ended = await reset(api, ANN, keep=False)
    assert [each.place for each in ended.again] == [api.world.project.slug]


async def test_a_device_that_was_approved_gets_no_token_after_the_password_was_changed(api: Api) -> None:
    ann = await person(api, Role.OPERATOR, ANN)
    browser, device = api.client(**OURS), await begin_login(api)
    assert (await browser.post(SESSION, json={"email": ANN, "password": PASSWORD})).status_code == 201
    assert (await browser.post(f"{DEVICES}:approve", json={"user_code": device["user_code"]})).status_code == 204
    body = {"current_password": PASSWORD, "new_password": OWN}
    assert (await (await logged_in(api, ann)).put(f"{ME}/password", json=body)).status_code == 204
    problem(await fetched(api, device), 400, "expired_token")


async def test_what_is_under_way_when_she_comes_ends_too(api: Api, sso: RunningProvider) -> None:
    attack = await set_up_attack(api)
    signing, body = {"email": ANN, "password": THEIRS}, {"name": "late", "role": "viewer"}
    answers = await asyncio.gather(
        api.client().post(LOGIN, json=signing),
        attack.login.post(f"{attack.base}/tokens", json=body),
        attack.browser.post(f"{attack.base}/tokens", json=body),
        signed_in(api, sso),
        api.client(**OURS).post(SESSION, json=signing),
        attack.personal.get(ME),
        attack.browser.post(f"{attack.base}/tokens", json=body),
    )
    assert {each.status_code for each in answers} <= {200, 201, 401, 403}
    problem(answers[3], 403, "not_a_member")
    await nothing_is_left(api, attack)
    assert await api.world.value("SELECT count(*) FROM tokens WHERE owner_id IS NOT NULL AND revoked_at IS NULL") == 0


async def test_what_a_verified_person_has_stays_whatever_else_verifies_them(
    api: Api, mailing: Api, sso: RunningProvider
) -> None:
    ann = await person(api, Role.OPERATOR, ANN)
    login, other = await logged_in(api, ann), await api.other_project()
    path = f"/v1/projects/{other.slug}/invitations"
    invitation = (await mailing.client(other.token.secret).post(path, json={"email": ANN, "role": "viewer"})).json()
    assert invitation["emailed"]
    [secret] = await mailed(mailing)
    assert (await mailing.client().post(SHOW, json={"secret": secret})).json()["has_account"]
    problem(await mailing.client().post(ACCEPT, json={"secret": secret, "password": OWN}), 401, "unauthenticated")
    assert (await mailing.client().post(ACCEPT, json={"secret": secret, "password": PASSWORD})).status_code == 200
    assert (await signed_in(api, sso)).status_code == 201
    provider = await identity_provider(api)
    assert (await put(provider, str(ann.id))).status_code == 200
    assert len((await login.get(ME)).json()["memberships"]) == 2
    assert (await logged_in(api, ann)) is not None
    assert await events(api, "member.removed") == []


async def test_an_account_with_a_provider_and_a_password_from_before_verification_is_hers_at_her_next_sign_in(
    api: Api, sso: RunningProvider
) -> None:
    """As the versions before left it: the provider was linked to what was there, and the password stayed."""
    attack = await set_up_attack(api)
    await api.world.execute(
        "INSERT INTO user_identities (issuer, subject, user_id)"
        " SELECT :issuer, 'subject-ann', id FROM users WHERE email = :email",
        issuer=api.services.providers.all["sso"].issuer,
        email=ANN,
    )
    assert (await attack.login.get(ME)).status_code == 200
    problem(await signed_in(api, sso), 403, "not_a_member")
    await nothing_is_left(api, attack)
