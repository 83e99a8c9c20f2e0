"""Rows of sign-ins through providers, of logins that wait, and of e-mails."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.identity.federated_tables import device_logins, provider_sign_ins, user_identities
from ipucloud.kernel.ids import new_id
from ipucloud.notifications.tables import mails, notification_subscriptions

_LATER = datetime(2126, 1, 1, tzinfo=UTC)


async def fill_sign_ins(connection: AsyncConnection, user_id: UUID, project_id: UUID) -> None:
    """One row of each table."""
    await connection.execute(
        sa.insert(user_identities).values(issuer="https://sso.example.com", subject="ann", user_id=user_id)
    )
    theirs = {"user_id": user_id, "project_id": project_id}
    await connection.execute(
        sa.insert(notification_subscriptions).values(
            **theirs, event_types=["cluster.*"], after_transaction=0, after_id=0
        )
    )
    await connection.execute(
        sa.insert(mails).values(
            **theirs,
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
