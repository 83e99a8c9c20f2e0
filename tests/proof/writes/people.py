"""Writes about people: members, invitations, and what a person does with its sessions and logins."""

from __future__ import annotations

from ipaddress import ip_address
from itertools import count

import sqlalchemy as sa

from ipucloud.identity.roles import Role
from ipucloud.identity.tables import browser_sessions
from ipucloud.identity.tokens import Kind, new_secret
from ipucloud.kernel.ids import new_id
from tests.api.support import key
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.factories import Project
from tests.support.people import make_member, make_owned, make_person

_CLIENTS = count(1)
"""Addresses to sign in from: too many attempts from one are refused."""


async def create_invitation(setup: Setup) -> Write:
    project = await setup.project()
    body = {"email": f"{setup.fresh()}@example.com", "role": "viewer"}
    return Write("POST", _invitations(project), project.token.secret, body, body | {"role": "operator"}, key())


async def renew_invitation(setup: Setup) -> Write:
    project, invitation = await _invited(setup)
    return Write("POST", f"{_invitations(project)}/{invitation}:renew", project.token.secret, headers=key())


async def revoke_invitation(setup: Setup) -> Write:
    project, invitation = await _invited(setup)
    return Write("DELETE", f"{_invitations(project)}/{invitation}", project.token.secret)


async def update_member(setup: Setup) -> Write:
    project, member = await _member(setup, Role.VIEWER)
    path = f"/v1/projects/{project.slug}/members/{member}"
    return Write("PATCH", path, project.token.secret, {"role": "operator"}, {"role": "owner"}, key())


async def remove_member(setup: Setup) -> Write:
    project, member = await _member(setup, Role.VIEWER)
    return Write("DELETE", f"/v1/projects/{project.slug}/members/{member}", project.token.secret)


async def create_account_invitation(setup: Setup) -> Write:
    project = await setup.project()
    body = {"email": f"{setup.fresh()}@example.com"}
    other = {"email": f"{setup.fresh()}@example.com"}
    return Write("POST", _of_account(project), setup.admin.secret, body, other, key())


async def renew_account_invitation(setup: Setup) -> Write:
    path = _of_account(await setup.project())
    invitation = await setup.id_of(path, {"email": f"{setup.fresh()}@example.com"}, setup.admin.secret)
    return Write("POST", f"{path}/{invitation}:renew", setup.admin.secret, headers=key())


async def revoke_account_invitation(setup: Setup) -> Write:
    path = _of_account(await setup.project())
    invitation = await setup.id_of(path, {"email": f"{setup.fresh()}@example.com"}, setup.admin.secret)
    return Write("DELETE", f"{path}/{invitation}", setup.admin.secret)


async def remove_account_member(setup: Setup) -> Write:
    project, member = await _member(setup, Role.PAYER)
    return Write("DELETE", f"/v1/billing/accounts/{project.id}/members/{member}", setup.admin.secret)


async def log_out(setup: Setup) -> Write:
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        person = await make_person(connection, project.id)
        login = await make_owned(connection, person, project.id, Role.VIEWER)
    return Write("DELETE", "/v1/login", login.secret)


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


async def replace_notifications(setup: Setup) -> Write:
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        person = await make_person(connection, project.id)
        login = await make_owned(connection, person, project.id, Role.VIEWER)
    return Write("PUT", "/v1/me/notifications", login.secret, {"language": "de", "subscriptions": []})


async def approve_device_login(setup: Setup) -> Write:
    return await _decided(setup, "approve")


async def deny_device_login(setup: Setup) -> Write:
    return await _decided(setup, "deny")


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


def _invitations(project: Project) -> str:
    return f"/v1/projects/{project.slug}/invitations"


async def _invited(setup: Setup) -> tuple[Project, str]:
    project = await setup.project()
    body = {"email": f"{setup.fresh()}@example.com", "role": "viewer"}
    return project, str(await setup.id_of(_invitations(project), body, project.token.secret))


async def _member(setup: Setup, role: Role) -> tuple[Project, str]:
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        return project, str((await make_person(connection, project.id, role)).member)


def _of_account(project: Project) -> str:
    return f"/v1/billing/accounts/{project.id}/invitations"


WRITES: Cases = {
    "createInvitation": create_invitation,
    "renewInvitation": renew_invitation,
    "revokeInvitation": revoke_invitation,
    "updateMember": update_member,
    "removeMember": remove_member,
    "createAccountInvitation": create_account_invitation,
    "renewAccountInvitation": renew_account_invitation,
    "revokeAccountInvitation": revoke_account_invitation,
    "removeAccountMember": remove_account_member,
    "logOut": log_out,
    "switchSession": switch_session,
    "replaceNotifications": replace_notifications,
    "approveDeviceLogin": approve_device_login,
    "denyDeviceLogin": deny_device_login,
}
