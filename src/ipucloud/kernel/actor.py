"""Who asks: what every change of a request records about its origin."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Actor:
    """A request after authentication: the project it acts in, the token it came with, the id it is traced by.

    `token_id` is None when the product itself acts (expiry, policy).
    """

    project_id: UUID
    token_id: UUID | None
    request_id: str
