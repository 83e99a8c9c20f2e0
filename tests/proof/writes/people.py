"""Writes about people: members, invitations, and what a person does with its sessions and logins."""

from __future__ import annotations

from functools import partial
from ipaddress import ip_address
from itertools import count

import sqlalchemy as sa

from ipucloud.identity.roles import Role
from ipucloud.identity.tables import browser_sessions
from ipucloud.identity.tokens import Kind, new_secret
from ipucloud.kernel.ids import new_id
from tests.api.support import key
from tests.proof.writes.write import At, Cases, Setup, Where, Write, created, of_account, of_project, sent
from tests.support.people import make_member, make_owned, make_person

_CLIENTS = count(1)
"""Addresses to sign in from: too many attempts from one are refused."""


def _invitations(home: Where, of: str, **role: str) -> Cases:
    def body(setup: Setup) -> dict[str, object]:
        return {"email": f"{setup.fresh()}@example.com", **role}

    invitation = created(home, "/invitations", body)
    return {
        f"create{of}Invitation": sent(home, "POST", "/invitations", body, body),
        f"renew{of}Invitation": sent(invitation, "POST", ":renew"),
        f"revoke{of}Invitation": sent(invitation, "DELETE"),
    }


async def _member(setup: Setup) -> At:
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        member = (await make_person(connection, project.id, Role.VIEWER)).member
    return At(f"/v1/projects/{project.slug}/members/{member}", project.token.secret)


async def _account_member(setup: Setup) -> At:
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        member = (await make_person(connection, project.id, Role.PAYER)).member
    return At(f"/v1/billing/accounts/{project.id}/members/{member}", setup.admin.secret)


async def _person(setup: Setup) -> At:
    """Who is logged in, and writes about themselves."""
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        person = await make_person(connection, project.id)
        return At("/v1", (await make_owned(connection, person, project.id, Role.VIEWER)).secret)


async def switch_session(setup: Setup) -> Write:
    project, other = await setup.project(), await setup.project()
    async with setup.world.database.begin() as connection:
        person = await make_person(connection, project.id)
        elsewhere = await make_member(connection, person.id, other.id, Role.VIEWER)
        login = await make_owned(connection, person, project.id, Role.VIEWER)
    answer = await setup.client.post("/v1/session", json={"token": login.secret})
    cookie = answer.headers["set-cookie"].partition(";")[0]
    headers = {"Cookie": cookie, "Sec-Fetch-Site": "same-origin"}
    return Write("PUT", "/v1/session/membership", "", {"membership_id": str(elsewhere)}, headers=headers)


async def _decided(setup: Setup, verb: str) -> Write:
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        person = await make_person(connection, project.id)
        secret, hashed = new_secret(Kind.SESSION)
        await connection.execute(
            sa.insert(browser_sessions).values(
                id=new_id(),
                token_id=person.member,
                secret_hash=hashed,
                expires_at=sa.text("app_now() + interval '1 hour'"),
                idle_until=sa.text("app_now() + interval '1 hour'"),
            )
        )
    address = {"X-Forwarded-For": str(ip_address("10.0.0.0") + next(_CLIENTS))}
    bodies = []
    for name in ("desk", "lap"):
        device = (await setup.client.post("/v1/login/devices", json={"name": name}, headers=address)).json()
        bodies.append({"user_code": device["user_code"]})
    headers = {"Cookie": f"ipucloud-session={secret}", "Sec-Fetch-Site": "same-origin", **address, **key()}
    path = f"/v1/login/devices:{verb}"
    return Write("POST", path, "", bodies[0], bodies[1], headers)


WRITES: Cases = {
    **_invitations(of_project, "", role="viewer"),
    **_invitations(of_account, "Account"),
    "updateMember": sent(_member, "PATCH", "", {"role": "operator"}, {"role": "owner"}),
    "removeMember": sent(_member, "DELETE"),
    "removeAccountMember": sent(_account_member, "DELETE"),
    "logOut": sent(_person, "DELETE", "/login"),
    "switchSession": switch_session,
    "replaceNotifications": sent(_person, "PUT", "/me/notifications", {"language": "de", "subscriptions": []}),
    "approveDeviceLogin": partial(_decided, verb="approve"),
    "denyDeviceLogin": partial(_decided, verb="deny"),
}
