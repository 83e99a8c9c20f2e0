"""Rows of sign-ins through providers, of logins that wait, of e-mails, and of the audit log."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.identity.audit_tables import audit_log
from ipucloud.identity.federated_tables import device_logins, provider_sign_ins, user_identities
from ipucloud.identity.tables import rate_limits
from ipucloud.kernel.ids import new_id
from ipucloud.notifications.tables import mails, notification_subscriptions
from tests.support.factories import LONG_AGO

_LATER = datetime(2126, 1, 1, tzinfo=UTC)


async def fill_sign_ins(connection: AsyncConnection, user_id: UUID, project_id: UUID) -> None:
    """One row of each table."""
    await connection.execute(
        sa.insert(user_identities).values(issuer="https://sso.example.com", subject="ann", user_id=user_id)
    )
    owner = {"user_id": user_id, "project_id": project_id}
    await connection.execute(
        sa.insert(notification_subscriptions).values(
            **owner, event_types=["cluster.*"], after_transaction=0, after_id=0
        )
    )
    await connection.execute(
        sa.insert(mails).values(
            **owner,
            id=new_id(),
            type="cluster.active",
            recipient="ann@example.com",
            language="en",
            event_transaction=1,
            event_id=1,
            next_at=_LATER,
        )
    )
    begun = {"id": new_id(), "expires_at": _LATER}
    await connection.execute(
        sa.insert(provider_sign_ins).values(
            **begun,
            provider="sso",
            state_hash=b"\0" * 32,
            browser_hash=b"\0" * 32,
            redirect_uri="https://ipucloud.example.com/sign-in/callback",
        )
    )
    await connection.execute(
        sa.insert(device_logins).values(
            **begun, device_hash=b"\0" * 32, user_code="WDJBMJHT", name="ann-laptop", address="203.0.113.7"
        )
    )


async def fill_limits(connection: AsyncConnection) -> None:
    """One caller who took something of a shared limit."""
    await connection.execute(sa.insert(rate_limits).values(key=b"\0" * 32, taken=1))


async def fill_audit_log(connection: AsyncConnection) -> None:
    """An open entry of the audit log, and two sealed ones, of which the older is removed."""
    chain = {"previous_hash": b"\0" * 32, "hash": b"\1" * 32, "completed_at": LONG_AGO, "created_at": LONG_AGO}
    request = {"operation": "createToken", "method": "POST", "address": "", "agent": "", "request_id": "req-filled"}
    await connection.execute(sa.insert(audit_log).values(id=new_id(), **request))
    for seq in (1, 2):
        await connection.execute(sa.insert(audit_log).values(id=new_id(), seq=seq, **request, **chain))
    await connection.execute(sa.text("SELECT prune_audit_log(90, 10)"))
