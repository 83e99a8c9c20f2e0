"""A message as it is sent: its body's form, its headers, its signatures (the Standard Webhooks specification)."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from standardwebhooks import Webhook

from ipucloud.db.documents import rfc3339
from ipucloud.kernel.sealing import place

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
USER_AGENT = "ipucloud-webhooks/1"
PING = "webhook.ping"

PAYLOAD = f"""
json_build_object(
  'type', type, 'timestamp', {rfc3339("created_at")},
  'data', json_build_object(
    'id', transaction || '-' || id, 'project_id', project_id, 'subject_type', subject_type, 'subject_id', subject_id,
    'operation_id', operation_id, 'request_id', request_id, 'data', data))::text
"""
"""SQL: the body for a row of `events`. It is thin: ids, by which a receiver reads what is true now."""


def new_secret() -> str:
    """A signing secret: shown to its owner once, and kept sealed."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def secret_place(webhook: UUID, project: UUID) -> str:
    """Where a sealed secret belongs. Both columns: a rotation moves the text from one to the other."""
    return place("webhooks", webhook, "secret", project)


def message_id(delivery: UUID) -> str:
    """The same at every try, so that a receiver knows a message that comes twice."""
    return f"msg_{delivery.hex}"


def headers(delivery: UUID, body: str, at: datetime, signing: Sequence[str]) -> dict[str, str]:
    """The headers of one try at an instant; a signature for each of the secrets."""
    message = message_id(delivery)
    signatures = [Webhook(secret).sign(message, at, body) for secret in signing]
    return {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": message,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
