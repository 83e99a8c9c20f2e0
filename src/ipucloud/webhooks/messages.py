"""Messages: body, headers and signatures (the Standard Webhooks specification)."""

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
    'id', transaction || '-' || id, 'project_id', project_id, 'account_id', account_id,
    'subject_type', subject_type, 'subject_id', subject_id,
    'operation_id', operation_id, 'request_id', request_id, 'data', data))::text
"""
"""SQL: the body for a row of `events`. It has ids, with which a receiver reads the current state."""


def new_secret() -> str:
    """A signing secret: shown once and stored encrypted."""
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()


def secret_place(webhook: UUID, home: UUID) -> str:
    """The row that an encrypted secret is bound to; `home`: the project or account that has the webhook.

    The same for both columns, because a rotation moves the text.
    """
    return place("webhooks", webhook, "secret", home)


def message_id(delivery: UUID) -> str:
    """The same for every attempt, so that a receiver recognises duplicates."""
    return f"msg_{delivery.hex}"


def headers(delivery: UUID, body: str, at: datetime, signing: Sequence[str]) -> dict[str, str]:
    """The headers of one attempt; a signature for each secret."""
    message = message_id(delivery)
    signatures = [Webhook(secret).sign(message, at, body) for secret in signing]
    return {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": message,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
