"""Limits of what is counted where it is, and not kept in a quota: of storage, in GiB, and of addresses.

The project's row is locked by whoever changes a limit, reserves an address, makes a volume or lets it grow.
"""

from __future__ import annotations

from typing import Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import ADDRESS_SKU, VOLUME_SKU, Catalogue
from ipucloud.config import Settings
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.kernel.suggestions import nearest

COUNTED_UNITS = {VOLUME_SKU: "gib", ADDRESS_SKU: "address"}
"""The types of these quotas, and what each counts."""


class DefaultLimits(NamedTuple):
    """The limits where none was set."""

    volume_gib: int
    addresses: int

    @classmethod
    def of(cls, settings: Settings) -> DefaultLimits:
        return cls(settings.volume_gib_limit, settings.address_limit)

    def of_type(self, sku: str) -> int:
        """That of one of the types of `COUNTED_UNITS`."""
        return self.volume_gib if sku == VOLUME_SKU else self.addresses


class CountedLimit:
    """The limits of one of these types, in a column of a table."""

    def __init__(self, table: str, column: str) -> None:
        self.table, self.column = table, column
        self._find = Query(
            f"SELECT {column} FROM {table} WHERE project_id = :project_id AND region = :region",  # noqa: S608
            int,
        )
        self._set = sa.text(
            f"""
            INSERT INTO {table} (project_id, region, {column}) VALUES (:project_id, :region, :limit)
            ON CONFLICT (project_id, region) DO UPDATE SET {column} = excluded.{column}
            """  # noqa: S608  # our own text
        )
        self._forget = sa.text(f"DELETE FROM {table} WHERE project_id = :project_id AND region = :region")  # noqa: S608

    async def find(self, connection: Statements, *, project_id: UUID, region: str, default: int) -> int:
        """How much of it the project may have in the region."""
        row = await self._find.one_or_none(connection, {"project_id": project_id, "region": region})
        return default if row is None else row

    async def set(self, connection: AsyncConnection, *, project_id: UUID, region: str, limit: int | None) -> None:
        """Set the limit; None: it is the default again."""
        key: dict[str, object] = {"project_id": project_id, "region": region}
        await connection.execute(*((self._forget, key) if limit is None else (self._set, key | {"limit": limit})))


LIMITS = {
    VOLUME_SKU: CountedLimit("volume_quotas", "gib_limit"),
    ADDRESS_SKU: CountedLimit("address_quotas", "address_limit"),
}


class NotSold(NamedTuple):
    """Which of the two names is wrong, and a sentence with the names that there are."""

    field: Literal["region", "machine_type"]
    detail: str


def slug_of(catalogue: Catalogue, region: str) -> str:
    """The slug of a region that may be named otherwise; an unknown one as it is."""
    entry = catalogue.find_region(region)
    return region if entry is None else entry.slug


def not_sold(catalogue: Catalogue, region: str, machine_type: str) -> NotSold | None:
    """Why there can be no quota of the type in the region; None: there can."""
    entry = catalogue.find_region(region)
    if entry is None:
        known = nearest(region, (each.slug for each in catalogue.regions))
        return NotSold("region", f"There is no region {region}. Regions, nearest first: {known}.")
    if machine_type in {*entry.machine_types, VOLUME_SKU, ADDRESS_SKU}:
        return None
    known = nearest(machine_type, entry.machine_types)
    sentence = (
        f"The region {entry.slug} has no machines of type {machine_type}. Its types, nearest first: {known}. The quota"
        f" of volumes is {VOLUME_SKU}, and of addresses {ADDRESS_SKU}."
    )
    return NotSold("machine_type", sentence)
