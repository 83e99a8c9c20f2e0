"""Writes of webhooks."""

from __future__ import annotations

from tests.api.support import key
from tests.proof.writes.write import Cases, Setup, Write
from tests.support.factories import Project

HOOK = "https://hooks.example.com/"


async def create_webhook(setup: Setup) -> Write:
    project = await setup.project()
    path, body = f"/v1/projects/{project.slug}/webhooks", {"url": HOOK}
    return Write("POST", path, project.token.secret, body, body | {"description": "other"}, key())


async def _webhook(setup: Setup) -> tuple[Project, str]:
    """A webhook of a project, and its path."""
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/webhooks"
    return project, f"{path}/{await setup.id_of(path, {'url': HOOK}, project.token.secret)}"


async def update_webhook(setup: Setup) -> Write:
    project, path = await _webhook(setup)
    body = {"description": "ours"}
    return Write("PATCH", path, project.token.secret, body, {"description": "theirs"}, key())


async def delete_webhook(setup: Setup) -> Write:
    project, path = await _webhook(setup)
    return Write("DELETE", path, project.token.secret)


async def ping_webhook(setup: Setup) -> Write:
    project, path = await _webhook(setup)
    return Write("POST", f"{path}:ping", project.token.secret, headers=key())


async def rotate_webhook_secret(setup: Setup) -> Write:
    project, path = await _webhook(setup)
    body = {"keep_previous_seconds": 60}
    return Write("POST", f"{path}:rotate-secret", project.token.secret, body, {"keep_previous_seconds": 0}, key())


async def redeliver(setup: Setup) -> Write:
    project, path = await _webhook(setup)
    delivery = await setup.id_of(f"{path}:ping", {}, project.token.secret)
    return Write("POST", f"{path}/deliveries/{delivery}:redeliver", project.token.secret, headers=key())


async def create_account_webhook(setup: Setup) -> Write:
    path, body = f"/v1/billing/accounts/{(await setup.project()).id}/webhooks", {"url": HOOK}
    return Write("POST", path, setup.admin.secret, body, body | {"description": "other"}, key())


async def _account_webhook(setup: Setup) -> str:
    """The path of a webhook of a billing account."""
    path = f"/v1/billing/accounts/{(await setup.project()).id}/webhooks"
    return f"{path}/{await setup.id_of(path, {'url': HOOK}, setup.admin.secret)}"


async def update_account_webhook(setup: Setup) -> Write:
    path = await _account_webhook(setup)
    return Write("PATCH", path, setup.admin.secret, {"description": "ours"}, {"description": "theirs"}, key())


async def delete_account_webhook(setup: Setup) -> Write:
    return Write("DELETE", await _account_webhook(setup), setup.admin.secret)


async def ping_account_webhook(setup: Setup) -> Write:
    return Write("POST", f"{await _account_webhook(setup)}:ping", setup.admin.secret, headers=key())


async def rotate_account_webhook_secret(setup: Setup) -> Write:
    path, body = f"{await _account_webhook(setup)}:rotate-secret", {"keep_previous_seconds": 60}
    return Write("POST", path, setup.admin.secret, body, {"keep_previous_seconds": 0}, key())


async def redeliver_to_account(setup: Setup) -> Write:
    path = await _account_webhook(setup)
    delivery = await setup.id_of(f"{path}:ping", {}, setup.admin.secret)
    return Write("POST", f"{path}/deliveries/{delivery}:redeliver", setup.admin.secret, headers=key())


WRITES: Cases = {
    "createWebhook": create_webhook,
    "updateWebhook": update_webhook,
    "deleteWebhook": delete_webhook,
    "pingWebhook": ping_webhook,
    "rotateWebhookSecret": rotate_webhook_secret,
    "redeliver": redeliver,
    "createAccountWebhook": create_account_webhook,
    "updateAccountWebhook": update_account_webhook,
    "deleteAccountWebhook": delete_account_webhook,
    "pingAccountWebhook": ping_account_webhook,
    "rotateAccountWebhookSecret": rotate_account_webhook_secret,
    "redeliverToAccount": redeliver_to_account,
}
