"""An account that an owner made in the name of another person, what signs in to it, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import httpx
import sqlalchemy as sa

from ipucloud.kernel.sealing import read_keys, unseal
from ipucloud.notifications.deliver import link_place
from tests.api.people import ACCEPT, LOGIN, ME, OURS, SESSION
from tests.api.support import SECRETS_KEY, Api, ok, problem
from tests.api.test_device_logins import DEVICES, begin_login, fetched
from tests.support.factories import Project

ANN = "ann@example.com"
THEIRS, OWN = "a-password-of-the-attacker-7", "quiet-lamp-of-ann-42-river"


@dataclass(frozen=True, slots=True)
class Attack:
    """The account of `ANN`, made by an owner of `project`, and everything that signs in to it."""

    project: Project
    owner: httpx.AsyncClient
    browser: httpx.AsyncClient
    login: httpx.AsyncClient
    personal: httpx.AsyncClient
    service: httpx.AsyncClient
    device: dict[str, Any]
    code: str
    invitation: str

    @property
    def base(self) -> str:
        return f"/v1/projects/{self.project.slug}"


async def set_up_attack(api: Api) -> Attack:
    project = await api.other_project()
    owner = api.client(project.token.secret)
    base = f"/v1/projects/{project.slug}"
    invitation = (await owner.post(f"{base}/invitations", json={"email": ANN, "role": "owner"})).json()
    browser = api.client(**OURS)
    ok(await browser.post(ACCEPT, json={"secret": invitation["secret"], "password": THEIRS}))
    signing = {"email": ANN, "password": THEIRS}
    assert (await browser.post(SESSION, json=signing)).status_code == 201
    login = api.client((await api.client().post(LOGIN, json=signing)).json()["token"])
    body = {"name": "mine", "role": "viewer"}
    personal = (await login.post(f"{base}/tokens", json=body)).json()["token"]
    service = (await owner.post(f"{base}/tokens", json=body | {"name": "ci"})).json()["token"]
    device = await begin_login(api)
    assert (await browser.post(f"{DEVICES}:approve", json={"user_code": device["user_code"]})).status_code == 204
    code = (await login.post(f"{SESSION}/links")).json()["code"]
    for caller in (browser, login, api.client(personal)):
        assert (await caller.get(ME)).json()["user"]["verified_at"] is None
    [member] = (await owner.get(f"{base}/members")).json()["items"]
    assert (member["email"], member["verified"]) == (ANN, False)
    return Attack(
        project, owner, browser, login, api.client(personal), api.client(service), device, code, invitation["secret"]
    )


async def nothing_is_left(api: Api, attack: Attack) -> None:
    """Of what signed in to the account, nothing does."""
    for caller in (attack.browser, attack.login, attack.personal):
        problem(await caller.get(ME), 401, "unauthenticated")
    for path in (SESSION, LOGIN):
        problem(await api.client(**OURS).post(path, json={"email": ANN, "password": THEIRS}), 401, "unauthenticated")
    device = await fetched(api, attack.device)
    assert device.json()["code"] in {"not_a_member", "expired_token"}, device.text
    problem(await api.client(**OURS).post(SESSION, json={"code": attack.code}), 401, "unauthenticated")
    refused = await attack.login.put(f"{ME}/password", json={"current_password": THEIRS, "new_password": OWN})
    problem(refused, 401, "unauthenticated")
    for invitation in (await attack.owner.get(f"{attack.base}/invitations?open=true")).json()["items"]:
        again = (await attack.owner.post(f"{attack.base}/invitations/{invitation['id']}:renew")).json()
        if again["secret"] is not None:
            accepted = await api.client().post(ACCEPT, json={"secret": again["secret"], "password": THEIRS})
            problem(accepted, 401, "unauthenticated")
    assert (await attack.service.get(attack.base)).status_code == 200  # nobody's: the project's


async def is_invited_again(attack: Attack, proof: str) -> None:
    """The attacker's project has her as invited, not as a member, and its events say why."""
    assert (await attack.owner.get(f"{attack.base}/members")).json()["items"] == []
    [invitation] = (await attack.owner.get(f"{attack.base}/invitations?open=true")).json()["items"]
    name = (await attack.owner.get(ME)).json()["token"]["name"]
    assert (invitation["email"], invitation["role"], invitation["invited_by"]) == (ANN, "owner", name)
    [removal] = (await attack.owner.get(f"{attack.base}/events?type=member.removed")).json()["items"]
    assert (removal["data"]["email"], removal["address"]) == (ANN, None)
    assert f"was verified {proof}" in removal["data"]["reason"]


async def mailed(api: Api, *, to: str = ANN) -> list[str]:
    """The secrets of links that she got, and that were not sent yet when a later one replaced them."""
    statement = sa.text(
        "SELECT m.id, coalesce(i.project_id, i.account_id) AS home, m.link FROM mails m"
        " JOIN invitations i ON i.id = m.invitation_id"
        " WHERE m.recipient = :to AND m.state = 'pending' ORDER BY m.created_at, m.id"
    )
    async with api.world.database.begin() as connection:
        rows = (await connection.execute(statement, {"to": to})).all()
    links = [unseal(read_keys(SECRETS_KEY), row.link, link_place(row.id, row.home)) for row in rows]
    return [link.partition("#secret=")[2] for link in links]
