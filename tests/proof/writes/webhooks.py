"""Writes of webhooks."""

from __future__ import annotations

from tests.api.support import key
from tests.proof.writes.office import Cases, Office, Write
from tests.support.factories import Project

HOOK = "https://hooks.example.com/"


async def create_webhook(office: Office) -> Write:
    project = await office.project()
    path, body = f"/v1/projects/{project.slug}/webhooks", {"url": HOOK}
    return Write("POST", path, project.token.secret, body, body | {"description": "other"}, key())


async def _webhook(office: Office) -> tuple[Project, str]:
    """A webhook of a project, and its path."""
    project = await office.project()
    path = f"/v1/projects/{project.slug}/webhooks"
    return project, f"{path}/{await office.id_of(path, {'url': HOOK}, project.token.secret)}"


async def update_webhook(office: Office) -> Write:
    project, path = await _webhook(office)
    body = {"description": "ours"}
    return Write("PATCH", path, project.token.secret, body, {"description": "theirs"}, key())


async def delete_webhook(office: Office) -> Write:
    project, path = await _webhook(office)
    return Write("DELETE", path, project.token.secret)


async def ping_webhook(office: Office) -> Write:
    project, path = await _webhook(office)
    return Write("POST", f"{path}:ping", project.token.secret, headers=key())


async def rotate_webhook_secret(office: Office) -> Write:
    project, path = await _webhook(office)
    body = {"keep_previous_seconds": 60}
    return Write("POST", f"{path}:rotate-secret", project.token.secret, body, {"keep_previous_seconds": 0}, key())


async def redeliver(office: Office) -> Write:
    project, path = await _webhook(office)
    delivery = await office.id_of(f"{path}:ping", {}, project.token.secret)
    return Write("POST", f"{path}/deliveries/{delivery}:redeliver", project.token.secret, headers=key())


async def create_account_webhook(office: Office) -> Write:
    path, body = f"/v1/billing/accounts/{(await office.project()).id}/webhooks", {"url": HOOK}
    return Write("POST", path, office.admin.secret, body, body | {"description": "other"}, key())


async def _account_webhook(office: Office) -> str:
    """The path of a webhook of a billing account."""
    path = f"/v1/billing/accounts/{(await office.project()).id}/webhooks"
    return f"{path}/{await office.id_of(path, {'url': HOOK}, office.admin.secret)}"


async def update_account_webhook(office: Office) -> Write:
    path = await _account_webhook(office)
    return Write("PATCH", path, office.admin.secret, {"description": "ours"}, {"description": "theirs"}, key())


async def delete_account_webhook(office: Office) -> Write:
    return Write("DELETE", await _account_webhook(office), office.admin.secret)


async def ping_account_webhook(office: Office) -> Write:
    return Write("POST", f"{await _account_webhook(office)}:ping", office.admin.secret, headers=key())


async def rotate_account_webhook_secret(office: Office) -> Write:
    path, body = f"{await _account_webhook(office)}:rotate-secret", {"keep_previous_seconds": 60}
    return Write("POST", path, office.admin.secret, body, {"keep_previous_seconds": 0}, key())


async def redeliver_to_account(office: Office) -> Write:
    path = await _account_webhook(office)
    delivery = await office.id_of(f"{path}:ping", {}, office.admin.secret)
    return Write("POST", f"{path}/deliveries/{delivery}:redeliver", office.admin.secret, headers=key())


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
