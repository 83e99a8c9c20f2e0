"""The caller: what every change records about its origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID


class Origin(NamedTuple):
    """Where a request came from: the client's address, and its program as it says. Empty: not known."""

    address: str
    agent: str


NO_ORIGIN = Origin("", "")


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
