"""Calls for tokens. `platform`: those of the platform and of accounts, not the project's; for administrators."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, nothing, segment, without_none
from ipucloud.client.models import Money, NewToken, Page, Token, Whoami


def whoami() -> Call[Whoami]:
    """The caller's token, its permissions and its project."""
    return request.get("whoami", Whoami, scoped=False)


def list(
    *, active: bool | None = None, order: str | None = None, limit: int | None = None, platform: bool = False
) -> Call[Page[Token]]:
    """Tokens; `active`: only those that work now (True), or only revoked and expired ones (False)."""
    query = {"active": active, "order": order, "limit": limit}
    return request.get("tokens", Page[Token], query, scoped=not platform)


def get(token: Ref, *, platform: bool = False) -> Call[Token]:
    """One token, by id, or by name if only one active token has it."""
    return request.get(f"tokens/{segment(token)}", Token, scoped=not platform)


def create(
    name: str,
    role: str,
    *,
    expires_at: datetime | None = None,
    platform: bool = False,
    service: bool = False,
    cost_limit: Money | None = None,
    scopes: Sequence[str] | None = None,
    allowed_sources: Sequence[str] | None = None,
    clusters: Sequence[str] | None = None,
) -> Call[NewToken]:
    """Create a token; only this response has its secret. `service`: it outlives the membership of who creates it.

    `cost_limit`: what the clusters that it begins may cost together; for the role `operator` only.
    `role`: `viewer`, `operator`, `billing` or `owner`; of the platform: `admin` or `support`.
    `scopes`: those of the role that it is narrowed to, such as `cluster:read`; None: all that the role has.
    `allowed_sources`: networks from which it may be used, such as `203.0.113.0/24`; None: from everywhere.
    `clusters`: ids or names of those that it is limited to, whatever its role; None: it is not limited.
    """
    body = without_none(
        name=name,
        role=role,
        expires_at=expires_at,
        service=service or None,
        cost_limit=cost_limit and cost_limit.model_dump(mode="json"),
        scopes=scopes,
        allowed_sources=allowed_sources and [*allowed_sources],
        clusters=clusters and [*clusters],
    )
    return request.post("tokens", NewToken, body, scoped=not platform)


def create_for_account(
    name: str,
    account_id: str,
    *,
    expires_at: datetime | None = None,
    scopes: Sequence[str] | None = None,
    allowed_sources: Sequence[str] | None = None,
) -> Call[NewToken]:
    """Create a payer's token: it reads the money of one billing account, and nothing else. The rest as for `create`."""
    body = without_none(
        name=name,
        role="payer",
        account_id=account_id,
        expires_at=expires_at,
        scopes=scopes,
        allowed_sources=allowed_sources and [*allowed_sources],
    )
    return request.post("tokens", NewToken, body, scoped=False)


def rotate(
    token: Ref, *, keep_previous_seconds: int = 0, expires_at: datetime | None = None, platform: bool = False
) -> Call[NewToken]:
    """Replace a token with one that may do the same; the replaced one works for this many seconds more.

    `expires_at` None: that of the replaced token.
    """
    body = without_none(keep_previous_seconds=keep_previous_seconds, expires_at=expires_at)
    return request.post(f"tokens/{segment(token)}:rotate", NewToken, body, scoped=not platform)


def delete(token: Ref, *, platform: bool = False) -> Call[None]:
    """Revoke a token, effective immediately. It stays in the list."""
    return request.delete(f"tokens/{segment(token)}", nothing, scoped=not platform)
