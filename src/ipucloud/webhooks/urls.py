"""URLs of endpoints. The query may have a secret, such as a token: it is encrypted, and its values are not shown."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from ipucloud.kernel.errors import VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.sealing import Keys, needed, place, seal, stored_plain

HIDDEN = "***"
"""Stands for a value that is not shown."""


def query_place(webhook: UUID, home: UUID) -> str:
    """The place of an encrypted query; `home`: the project or account that has the webhook."""
    return place("webhooks", webhook, "query", home)


@dataclass(frozen=True, slots=True)
class StoredUrl:
    """A URL as the database has it: `shown`, with its query's names alone, and `query`, encrypted."""

    shown: str
    query: str | None = field(repr=False)

    def plain(self, keys: Keys, webhook: UUID, home: UUID) -> str:
        """As the customer gave it. Raises SealingError: the key that encrypted it is missing."""
        if self.query is None:
            return self.shown
        base, _, _ = self.shown.partition("?")
        return f"{base}?{stored_plain(keys, self.query, query_place(webhook, home))}"


def url_to_store(keys: Keys | None, url: str, webhook: UUID, home: UUID) -> StoredUrl:
    """What the database gets. Raises `Problem`: validation_failed for a value as it is shown, not_configured."""
    base, _, query = url.partition("?")
    if not query:
        return StoredUrl(url, None)
    parts = [part.partition("=") for part in query.split("&")]
    if HIDDEN in {value if sign else name for name, sign, value in parts}:
        detail = f"Write the values of the URL's query: {HIDDEN} stands for one that is not shown."
        raise Problem(VALIDATION_FAILED, detail, [FieldError("/url", "hidden_value", detail)])
    names = "&".join(f"{name}={HIDDEN}" if sign else HIDDEN for name, sign, _ in parts)
    return StoredUrl(f"{base}?{names}", seal(needed(keys), query, query_place(webhook, home)))
