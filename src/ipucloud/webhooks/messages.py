"""Messages: body, headers and signatures (Standard Webhooks), and the attributes of CloudEvents."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from urllib.parse import quote
from uuid import UUID

import orjson
from standardwebhooks import Webhook

from ipucloud.db.documents import rfc3339
from ipucloud.events.feed import SHOWN_ORIGIN
from ipucloud.identity.members import Home
from ipucloud.kernel.sealing import place

SECRET_PREFIX = "whsec_"
SECRET_BYTES = 32
USER_AGENT = "ipucloud-webhooks/1"
PING = "webhook.ping"
_EXTENSIONS = ("actor", "address", "agent", "region", "operation_id", "request_id")
_PLAIN = "".join(chr(code) for code in range(0x21, 0x7F) if chr(code) not in '"%')
"""What stands for itself in a header of CloudEvents; the rest is percent-encoded UTF-8."""

PAYLOAD = f"""
json_build_object(
  'type', type, 'timestamp', {rfc3339("created_at")},
  'data', json_build_object(
    'id', transaction || '-' || id, 'project_id', project_id, 'account_id', account_id,
    'subject_type', subject_type, 'subject_id', subject_id,
    'operation_id', operation_id, 'request_id', request_id, 'actor', actor, {SHOWN_ORIGIN}, 'region', region,
    'data', data))::text
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


def headers(delivery: UUID, body: str, at: datetime, signing: Sequence[str], home: Home) -> dict[str, str]:
    """The headers of one attempt; a signature for each secret. `home`: the project or account that has the webhook."""
    message = message_id(delivery)
    signatures = [Webhook(secret).sign(message, at, body) for secret in signing]
    return {
        "content-type": "application/json",
        "user-agent": USER_AGENT,
        "webhook-id": message,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
        **_cloud_event(message, orjson.loads(body), home),
    }


def _cloud_event(message: str, body: Mapping[str, Any], home: Home) -> dict[str, str]:
    """The attributes of CloudEvents 1.0 in the binary mode of its HTTP binding: the body is their data.

    Messages that were recorded by an earlier version lack some of them.
    """
    event = body["data"]
    place = f"/v1/projects/{home.id}" if home.account_id is None else f"/v1/billing/accounts/{home.id}"
    attributes = {
        "specversion": "1.0",
        "id": event.get("id", message),
        "source": place,
        "type": f"ipucloud.{body['type']}",
        "time": body["timestamp"],
        "subject": f"{event['subject_type']}/{event['subject_id']}" if "subject_type" in event else None,
        **{name.replace("_", ""): event.get(name) for name in _EXTENSIONS},
    }
    return {f"ce-{name}": quote(value, safe=_PLAIN) for name, value in attributes.items() if value}
