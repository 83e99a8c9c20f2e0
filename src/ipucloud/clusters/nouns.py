"""What a project holds beside clusters: volumes, snapshots, addresses. What their requests have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import ADDRESS_SKU, SNAPSHOT_SKU, VOLUME_SKU
from ipucloud.clusters.admission import Terms, refuse_by_terms, storage_terms
from ipucloud.clusters.cost_limits.store import refused_storage
from ipucloud.config import Settings
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import NAME_TAKEN, STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem


@dataclass(frozen=True, slots=True)
class Kind:
    """`noun`, `nouns`: as sentences name it, such as `volume`. `sku`: what each of them is billed as."""

    noun: str
    nouns: str
    sku: str

    def invalid(self, fault: FieldError) -> Problem:
        return Problem(VALIDATION_FAILED, f"The {self.noun} cannot be as requested.", [fault])

    def conflict(self, name: str, state: str, what: str) -> Problem:
        """`what`: what it cannot do in this state, such as `be attached`."""
        return Problem(
            STATE_CONFLICT,
            f"{self.noun.capitalize()} {name} is `{state}` and cannot {what} now. Read it, and wait or choose another"
            " one.",
        )

    async def terms(
        self,
        connection: AsyncConnection,
        actor: Actor,
        region: str,
        *,
        gib: int,
        tags: dict[str, str],
        settings: Settings,
        pointer: str = "/region",
    ) -> Terms:
        """What it costs there, if the project may have it.

        `pointer`: the member of the request that chose the region. Raises `Problem`: validation_failed,
        budget_reached, payment_overdue, cost_limit_reached.
        """
        terms = await storage_terms(connection, actor, self.sku, region, gib=gib, tags=tags, currency=settings.currency)
        if terms is None:
            sentence = (
                f"{self.nouns.capitalize()} are not offered in {region}: the operator has set no price of {self.sku}"
                " there in the currency of the account that pays."
            )
            raise self.invalid(FieldError(pointer, "not_offered", sentence))
        refuse_by_terms(terms)
        if terms.has_cost_limit:
            raise refused_storage()
        return terms

    async def write(
        self, connection: AsyncConnection, statement: sa.TextClause, values: Mapping[str, Any], *, name: str
    ) -> None:
        """Execute a statement that gives one its name. Raises `Problem` name_taken."""
        try:
            await connection.execute(statement, values)
        except sa.exc.IntegrityError as error:
            if isinstance(error.orig, pg_errors.UniqueViolation):
                raise Problem(
                    NAME_TAKEN,
                    f"Another {self.noun} of the project is named {name}. Choose another name, or delete that one.",
                ) from error
            raise


VOLUME = Kind("volume", "volumes", VOLUME_SKU)
SNAPSHOT = Kind("snapshot", "snapshots", SNAPSHOT_SKU)
ADDRESS = Kind("address", "addresses", ADDRESS_SKU)
