"""The caller: what every change records about its origin."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """An authenticated request: its project, its token, and its request id.

    `token_id` is None when the product itself acts (expiry, policy).
    """

    project_id: UUID
    token_id: UUID | None
    request_id: str


@dataclass(frozen=True, slots=True)
class AccountActor:
    """The same of a request about a billing account."""

    account_id: UUID
    token_id: UUID | None
    request_id: str
