"""Writes of projects, and of the tokens, keys and quotas in them."""

from __future__ import annotations

from tests.api.support import PUBLIC_KEY, key
from tests.proof.writes.office import Cases, Office, Write
from tests.support.reservations import reservation_json


async def create_project(office: Office) -> Write:
    body = {"slug": office.fresh(), "name": "Research"}
    other = body | {"name": "Development"}
    return Write("POST", "/v1/projects", office.admin.secret, body, other, key())


async def update_project(office: Office) -> Write:
    path = f"/v1/projects/{(await office.project()).slug}"
    return Write("PATCH", path, office.admin.secret, {"name": "Renamed"}, {"name": "Otherwise"}, key())


async def delete_project(office: Office) -> Write:
    return Write("DELETE", f"/v1/projects/{(await office.project()).slug}", office.admin.secret)


async def replace_quotas(office: Office) -> Write:
    path = f"/v1/projects/{(await office.project()).slug}/quotas"
    item = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 77}
    headers = {"If-Match": await office.etag(path)}
    return Write("PUT", path, office.admin.secret, {"items": [item]}, headers=headers)


async def create_ssh_key(office: Office) -> Write:
    project = await office.project()
    body = {"name": "desk", "public_key": PUBLIC_KEY}
    path = f"/v1/projects/{project.slug}/ssh-keys"
    return Write("POST", path, project.token.secret, body, body | {"name": "bench"}, key())


async def delete_ssh_key(office: Office) -> Write:
    project = await office.project()
    path, secret = f"/v1/projects/{project.slug}/ssh-keys", project.token.secret
    made = await office.id_of(path, {"name": "desk", "public_key": PUBLIC_KEY}, secret)
    return Write("DELETE", f"{path}/{made}", secret)


async def rotate_ssh_authority(office: Office) -> Write:
    project = await office.project()
    return Write("POST", f"/v1/projects/{project.slug}/ssh-authority:rotate", project.token.secret, headers=key())


async def create_token(office: Office) -> Write:
    project = await office.project()
    body = {"name": "ci", "role": "viewer"}
    path = f"/v1/projects/{project.slug}/tokens"
    return Write("POST", path, project.token.secret, body, body | {"role": "operator"}, key())


async def revoke_token(office: Office) -> Write:
    project = await office.project()
    path, secret = f"/v1/projects/{project.slug}/tokens", project.token.secret
    made = await office.id_of(path, {"name": "ci", "role": "viewer"}, secret)
    return Write("DELETE", f"{path}/{made}", secret)


async def rotate_token(office: Office) -> Write:
    project = await office.project()
    path, secret = f"/v1/projects/{project.slug}/tokens", project.token.secret
    made = await office.id_of(path, {"name": "ci", "role": "viewer"}, secret)
    return Write("POST", f"{path}/{made}:rotate", secret, {}, {"keep_previous_seconds": 60}, key())


async def create_platform_token(office: Office) -> Write:
    body = {"name": "desk", "role": "support"}
    return Write("POST", "/v1/tokens", office.admin.secret, body, body | {"role": "admin"}, key())


async def revoke_platform_token(office: Office) -> Write:
    made = await office.id_of("/v1/tokens", {"name": "desk", "role": "support"}, office.admin.secret)
    return Write("DELETE", f"/v1/tokens/{made}", office.admin.secret)


async def rotate_platform_token(office: Office) -> Write:
    made = await office.id_of("/v1/tokens", {"name": "desk", "role": "support"}, office.admin.secret)
    path = f"/v1/tokens/{made}:rotate"
    return Write("POST", path, office.admin.secret, {}, {"keep_previous_seconds": 60}, key())


async def sign_in(office: Office) -> Write:
    made = (
        await office.client.post("/v1/session/links", headers=_bearer((await office.project()).token.secret))
    ).json()
    return Write("POST", "/v1/session", "", {"code": made["code"]})


async def sign_out(office: Office) -> Write:
    token = (await office.project()).token.secret
    answer = await office.client.post("/v1/session", json={"token": token})
    cookie = answer.headers["set-cookie"].partition(";")[0]
    return Write("DELETE", "/v1/session", "", headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})


async def create_sign_in_link(office: Office) -> Write:
    return Write("POST", "/v1/session/links", (await office.project()).token.secret, headers=key())


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


MORE: dict[str, object] = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 9000, "reason": "a POD1024"}


async def create_quota_request(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/quota-requests"
    return Write("POST", path, project.token.secret, MORE, MORE | {"reason": "another"}, key())


async def _requested(office: Office) -> tuple[str, str, str]:
    """The project's slug and token, and the id of its request."""
    project = await office.project()
    made = await office.id_of(f"/v1/projects/{project.slug}/quota-requests", MORE, project.token.secret)
    return project.slug, project.token.secret, str(made)


async def withdraw_quota_request(office: Office) -> Write:
    slug, secret, made = await _requested(office)
    return Write("POST", f"/v1/projects/{slug}/quota-requests/{made}:withdraw", secret, headers=key())


async def grant_quota_request(office: Office) -> Write:
    *_, made = await _requested(office)
    path = f"/v1/operator/quota-requests/{made}:grant"
    return Write("POST", path, office.admin.secret, {"limit": 8000}, {"limit": 7000}, key())


async def decline_quota_request(office: Office) -> Write:
    *_, made = await _requested(office)
    path = f"/v1/operator/quota-requests/{made}:decline"
    return Write("POST", path, office.admin.secret, {"reason": "no room"}, {"reason": "another"}, key())


async def _reserving(office: Office) -> tuple[str, str]:
    """The path of a project's reservations, and its token."""
    project = await office.project()
    return f"/v1/projects/{project.slug}/reservations", project.token.secret


async def create_reservation(office: Office) -> Write:
    path, secret = await _reserving(office)
    return Write("POST", path, secret, reservation_json(), reservation_json("june"), key())


async def estimate_reservation(office: Office) -> Write:
    path, secret = await _reserving(office)
    return Write("POST", f"{path}:estimate", secret, reservation_json(), reservation_json("june"), key())


async def cancel_reservation(office: Office) -> Write:
    path, secret = await _reserving(office)
    made = await office.id_of(path, reservation_json(), secret)
    return Write("POST", f"{path}/{made}:cancel", secret, headers=key())


WRITES: Cases = {
    "createReservation": create_reservation,
    "estimateReservation": estimate_reservation,
    "cancelReservation": cancel_reservation,
    "createProject": create_project,
    "updateProject": update_project,
    "deleteProject": delete_project,
    "replaceQuotas": replace_quotas,
    "createQuotaRequest": create_quota_request,
    "withdrawQuotaRequest": withdraw_quota_request,
    "grantQuotaRequest": grant_quota_request,
    "declineQuotaRequest": decline_quota_request,
    "createSshKey": create_ssh_key,
    "deleteSshKey": delete_ssh_key,
    "rotateSshAuthority": rotate_ssh_authority,
    "createToken": create_token,
    "signIn": sign_in,
    "signOut": sign_out,
    "createSignInLink": create_sign_in_link,
    "revokeToken": revoke_token,
    "rotateToken": rotate_token,
    "createPlatformToken": create_platform_token,
    "revokePlatformToken": revoke_platform_token,
    "rotatePlatformToken": rotate_platform_token,
}
