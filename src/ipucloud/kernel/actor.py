"""The caller: what every change records about its origin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID


class Origin(NamedTuple):
    """Where a request came from: the client's address, and its program as it says. Empty: not known.

    `about`: what it may show to a token that is limited to clusters: what belongs to this cluster, or with `BY_CLUSTER`
    or a name that is yet to be looked up the rows of its clusters that row-level security leaves. None: nothing.
    """

    address: str
    agent: str
    about: UUID | str | None = None


BY_CLUSTER = ""
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
