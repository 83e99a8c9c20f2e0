"""People of a filled project: one who is there, one who is gone, one who is invited, and their sessions."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.identity.tables import browser_sessions, invitations, sign_in_links, users
from ipucloud.kernel.ids import new_id
from tests.support.filled_names import DELETED_AT, FAR_AWAY, Filled
from tests.support.filled_sign_ins import fill_audit_log, fill_limits, fill_sign_ins


async def fill_people(connection: AsyncConnection, filled: Filled) -> None:
    project = filled.project.id
    begun = {"id": new_id(), "token_id": filled.project.token.id, "secret_hash": b"\0" * 32, "expires_at": FAR_AWAY}
    await connection.execute(sa.insert(browser_sessions).values(**begun, idle_until=FAR_AWAY))
    await connection.execute(sa.insert(sign_in_links).values(**begun))
    ann = new_id()
    names = dict.fromkeys(("external_id", "display_name", "formatted_name", "given_name", "family_name"), "Ann")
    known = {"id": ann, "email": "ann@example.com", "password_hash": "$argon2id$"} | names
    gone = {"id": new_id(), "email": "ann@example.com", "deactivated_at": DELETED_AT, "deleted_at": DELETED_AT}
    for person in (known, gone):
        await connection.execute(sa.insert(users).values(**person))
    await fill_sign_ins(connection, ann, project)
    await fill_audit_log(connection)
    await fill_limits(connection)
    await connection.execute(
        sa.insert(invitations).values(
            id=new_id(),
            project_id=project,
            email="bob@example.com",
            role="viewer",
            secret_hash=b"\0" * 32,
            expires_at=FAR_AWAY,
        )
    )
