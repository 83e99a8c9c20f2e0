"""Writes of projects, and of the tokens, keys and quotas in them."""

from __future__ import annotations

from dataclasses import replace

from tests.api.support import PUBLIC_KEY, key
from tests.proof.writes.write import (
    At,
    Cases,
    Setup,
    Where,
    Write,
    created,
    of_project,
    of_project_for_admin,
    platform,
    sent,
)
from tests.support.reservations import reservation_json


async def create_project(setup: Setup) -> Write:
    body = {"slug": setup.fresh(), "name": "Research"}
    return Write("POST", "/v1/projects", setup.admin.secret, body, body | {"name": "Development"}, key())


async def replace_quotas(setup: Setup) -> Write:
    path = f"/v1/projects/{(await setup.project()).slug}/quotas"
    item = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 77}
    headers = {"If-Match": await setup.etag(path)}
    return Write("PUT", path, setup.admin.secret, {"items": [item]}, headers=headers)


async def sign_in(setup: Setup) -> Write:
    headers = {"Authorization": f"Bearer {(await setup.project()).token.secret}"}
    link = (await setup.client.post("/v1/session/links", headers=headers)).json()
    return Write("POST", "/v1/session", "", {"code": link["code"]})


async def sign_out(setup: Setup) -> Write:
    token = (await setup.project()).token.secret
    answer = await setup.client.post("/v1/session", json={"token": token})
    cookie = answer.headers["set-cookie"].partition(";")[0]
    return Write("DELETE", "/v1/session", "", headers={"Cookie": cookie, "Sec-Fetch-Site": "same-origin"})


async def _user(setup: Setup) -> At:
    return replace(await of_project(setup), path="/v1")


SSH_KEY = {"name": "desk", "public_key": PUBLIC_KEY}


def _tokens(home: Where, of: str, role: str, other: str) -> Cases:
    body = {"name": "ci", "role": role}
    token = created(home, "/tokens", body)
    return {
        f"create{of}Token": sent(home, "POST", "/tokens", body, body | {"role": other}),
        f"revoke{of}Token": sent(token, "DELETE"),
        f"rotate{of}Token": sent(token, "POST", ":rotate", {}, {"keep_previous_seconds": 60}),
    }


MORE: dict[str, object] = {"region": "luxembourg-2", "machine_type": "m2000", "limit": 9000, "reason": "a POD1024"}


QUOTA_REQUEST = created(of_project, "/quota-requests", MORE)


async def _asked_of_operator(setup: Setup) -> At:
    """A request for quota, as its operator reaches it."""
    quota_request = (await QUOTA_REQUEST(setup)).path.rpartition("/")[2]
    return At(f"/v1/operator/quota-requests/{quota_request}", setup.admin.secret)


def _june(_: Setup) -> dict[str, object]:
    return reservation_json("june")


def _may(_: Setup) -> dict[str, object]:
    return reservation_json()


WRITES: Cases = {
    "createReservation": sent(of_project, "POST", "/reservations", _may, _june),
    "estimateReservation": sent(of_project, "POST", "/reservations:estimate", _may, _june),
    "cancelReservation": sent(created(of_project, "/reservations", _may), "POST", ":cancel"),
    "createProject": create_project,
    "updateProject": sent(of_project_for_admin, "PATCH", "", {"name": "Renamed"}, {"name": "Otherwise"}),
    "deleteProject": sent(of_project_for_admin, "DELETE"),
    "replaceQuotas": replace_quotas,
    "createQuotaRequest": sent(of_project, "POST", "/quota-requests", MORE, MORE | {"reason": "another"}),
    "withdrawQuotaRequest": sent(QUOTA_REQUEST, "POST", ":withdraw"),
    "grantQuotaRequest": sent(_asked_of_operator, "POST", ":grant", {"limit": 8000}, {"limit": 7000}),
    "declineQuotaRequest": sent(_asked_of_operator, "POST", ":decline", {"reason": "no room"}, {"reason": "another"}),
    "createSshKey": sent(of_project, "POST", "/ssh-keys", SSH_KEY, SSH_KEY | {"name": "bench"}),
    "deleteSshKey": sent(created(of_project, "/ssh-keys", SSH_KEY), "DELETE"),
    "rotateSshAuthority": sent(of_project, "POST", "/ssh-authority:rotate"),
    "signIn": sign_in,
    "signOut": sign_out,
    "createSignInLink": sent(_user, "POST", "/session/links"),
    **_tokens(of_project, "", "viewer", "operator"),
    **_tokens(platform, "Platform", "support", "admin"),
}
