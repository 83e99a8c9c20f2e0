"""Writes of projects, and of the tokens, keys and quotas in them."""

from __future__ import annotations

from tests.api.support import PUBLIC_KEY, key
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.reservations import reservation_json


async def create_project(setup: Setup) -> Write:
    body = {"slug": setup.fresh(), "name": "Research"}
    other = body | {"name": "Development"}
    return Write("POST", "/v1/projects", setup.admin.secret, body, other, key())


async def update_project(setup: Setup) -> Write:
    path = f"/v1/projects/{(await setup.project()).slug}"
    return Write("PATCH", path, setup.admin.secret, {"name": "Renamed"}, {"name": "Otherwise"}, key())


async def delete_project(setup: Setup) -> Write:
    return Write("DELETE", f"/v1/projects/{(await setup.project()).slug}", setup.admin.secret)


async def replace_quotas(setup: Setup) -> Write:
    path = f"/v1/projects/{(await setup.project()).slug}/quotas"
    item = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 77}
    headers = {"If-Match": await setup.etag(path)}
    return Write("PUT", path, setup.admin.secret, {"items": [item]}, headers=headers)


async def create_ssh_key(setup: Setup) -> Write:
    project = await setup.project()
    body = {"name": "desk", "public_key": PUBLIC_KEY}
    path = f"/v1/projects/{project.slug}/ssh-keys"
    return Write("POST", path, project.token.secret, body, body | {"name": "bench"}, key())


async def delete_ssh_key(setup: Setup) -> Write:
    project = await setup.project()
    path, secret = f"/v1/projects/{project.slug}/ssh-keys", project.token.secret
    ssh_key = await setup.id_of(path, {"name": "desk", "public_key": PUBLIC_KEY}, secret)
    return Write("DELETE", f"{path}/{ssh_key}", secret)


async def rotate_ssh_authority(setup: Setup) -> Write:
    project = await setup.project()
    return Write("POST", f"/v1/projects/{project.slug}/ssh-authority:rotate", project.token.secret, headers=key())


async def create_token(setup: Setup) -> Write:
    project = await setup.project()
    body = {"name": "ci", "role": "viewer"}
    path = f"/v1/projects/{project.slug}/tokens"
    return Write("POST", path, project.token.secret, body, body | {"role": "operator"}, key())


async def revoke_token(setup: Setup) -> Write:
    project = await setup.project()
    path, secret = f"/v1/projects/{project.slug}/tokens", project.token.secret
    token = await setup.id_of(path, {"name": "ci", "role": "viewer"}, secret)
    return Write("DELETE", f"{path}/{token}", secret)


async def rotate_token(setup: Setup) -> Write:
    project = await setup.project()
    path, secret = f"/v1/projects/{project.slug}/tokens", project.token.secret
    token = await setup.id_of(path, {"name": "ci", "role": "viewer"}, secret)
    return Write("POST", f"{path}/{token}:rotate", secret, {}, {"keep_previous_seconds": 60}, key())


async def create_platform_token(setup: Setup) -> Write:
    body = {"name": "desk", "role": "support"}
    return Write("POST", "/v1/tokens", setup.admin.secret, body, body | {"role": "admin"}, key())


async def revoke_platform_token(setup: Setup) -> Write:
    token = await setup.id_of("/v1/tokens", {"name": "desk", "role": "support"}, setup.admin.secret)
    return Write("DELETE", f"/v1/tokens/{token}", setup.admin.secret)


async def rotate_platform_token(setup: Setup) -> Write:
    token = await setup.id_of("/v1/tokens", {"name": "desk", "role": "support"}, setup.admin.secret)
    path = f"/v1/tokens/{token}:rotate"
    return Write("POST", path, setup.admin.secret, {}, {"keep_previous_seconds": 60}, key())


async def sign_in(setup: Setup) -> Write:
    sign_in_code = (
        await setup.client.post("/v1/session/links", headers=_bearer((await setup.project()).token.secret))
    ).json()
    return Write("POST", "/v1/session", "", {"code": sign_in_code["code"]})


async def sign_out(setup: Setup) -> Write:
    token = (await setup.project()).token.secret
    answer = await setup.client.post("/v1/session", json={"token": token})
    cookie = answer.headers["set-cookie"].partition(";")[0]
    return Write("DELETE", "/v1/session", "", headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})


async def create_sign_in_link(setup: Setup) -> Write:
    return Write("POST", "/v1/session/links", (await setup.project()).token.secret, headers=key())


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


MORE: dict[str, object] = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 9000, "reason": "a POD1024"}


async def create_quota_request(setup: Setup) -> Write:
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/quota-requests"
    return Write("POST", path, project.token.secret, MORE, MORE | {"reason": "another"}, key())


async def _requested(setup: Setup) -> tuple[str, str, str]:
    """The project's slug and token, and the id of its request."""
    project = await setup.project()
    quota_request = await setup.id_of(f"/v1/projects/{project.slug}/quota-requests", MORE, project.token.secret)
    return project.slug, project.token.secret, str(quota_request)


async def withdraw_quota_request(setup: Setup) -> Write:
    slug, secret, quota_request = await _requested(setup)
    return Write("POST", f"/v1/projects/{slug}/quota-requests/{quota_request}:withdraw", secret, headers=key())


async def grant_quota_request(setup: Setup) -> Write:
    *_, quota_request = await _requested(setup)
    path = f"/v1/operator/quota-requests/{quota_request}:grant"
    return Write("POST", path, setup.admin.secret, {"limit": 8000}, {"limit": 7000}, key())


async def decline_quota_request(setup: Setup) -> Write:
    *_, quota_request = await _requested(setup)
    path = f"/v1/operator/quota-requests/{quota_request}:decline"
    return Write("POST", path, setup.admin.secret, {"reason": "no room"}, {"reason": "another"}, key())


async def _reserving(setup: Setup) -> tuple[str, str]:
    """The path of a project's reservations, and its token."""
    project = await setup.project()
    return f"/v1/projects/{project.slug}/reservations", project.token.secret


async def create_reservation(setup: Setup) -> Write:
    path, secret = await _reserving(setup)
    return Write("POST", path, secret, reservation_json(), reservation_json("june"), key())


async def estimate_reservation(setup: Setup) -> Write:
    path, secret = await _reserving(setup)
    return Write("POST", f"{path}:estimate", secret, reservation_json(), reservation_json("june"), key())


async def cancel_reservation(setup: Setup) -> Write:
    path, secret = await _reserving(setup)
    reservation = await setup.id_of(path, reservation_json(), secret)
    return Write("POST", f"{path}/{reservation}:cancel", secret, headers=key())


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
