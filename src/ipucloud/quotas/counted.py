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
from ipucloud.kernel.nearest import nearest

COUNTED_UNITS = {VOLUME_SKU: "gib", ADDRESS_SKU: "address"}
"""The types of these quotas, and what each counts."""


class DefaultLimits(NamedTuple):
    """The limits where none was set."""

    volume_gib: int
    addresses: int

    @classmethod
    def of(cls, settings: Settings) -> DefaultLimits:
        return cls(settings.volume_gib_limit, settings.address_limit)


async def counted_limit(
    connection: Statements, *, project_id: UUID, region: str, kind: str, defaults: DefaultLimits
) -> int:
    """The limit of one of the types of `COUNTED_UNITS`."""
    if kind == VOLUME_SKU:
        return await volume_limit(connection, project_id=project_id, region=region, default=defaults.volume_gib)
    return await address_limit(connection, project_id=project_id, region=region, default=defaults.addresses)


async def set_counted_limit(
    connection: AsyncConnection, *, project_id: UUID, region: str, kind: str, limit: int
) -> None:
    """Set the limit of one of the types of `COUNTED_UNITS`."""
    if kind == VOLUME_SKU:
        await set_volume_limit(connection, project_id=project_id, region=region, gib=limit)
    else:
        await set_address_limit(connection, project_id=project_id, region=region, limit=limit)


_FIND = Query("SELECT address_limit FROM address_quotas WHERE project_id = :project_id AND region = :region", int)
_SET = sa.text(
    """
    INSERT INTO address_quotas (project_id, region, address_limit) VALUES (:project_id, :region, :limit)
    ON CONFLICT (project_id, region) DO UPDATE SET address_limit = excluded.address_limit
    """
)
_FORGET = sa.text("DELETE FROM address_quotas WHERE project_id = :project_id AND region = :region")


async def address_limit(connection: Statements, *, project_id: UUID, region: str, default: int) -> int:
    """How many addresses the project may have in the region."""
    row = await _FIND.one_or_none(connection, {"project_id": project_id, "region": region})
    return default if row is None else row


async def set_address_limit(connection: AsyncConnection, *, project_id: UUID, region: str, limit: int | None) -> None:
    """Set the limit; None: it is the default again."""
    key: dict[str, object] = {"project_id": project_id, "region": region}
    await connection.execute(*((_FORGET, key) if limit is None else (_SET, key | {"limit": limit})))


_FIND_VOLUMES = Query("SELECT gib_limit FROM volume_quotas WHERE project_id = :project_id AND region = :region", int)
_SET_VOLUMES = sa.text(
    """
    INSERT INTO volume_quotas (project_id, region, gib_limit) VALUES (:project_id, :region, :gib)
    ON CONFLICT (project_id, region) DO UPDATE SET gib_limit = excluded.gib_limit
    """
)
_FORGET_VOLUMES = sa.text("DELETE FROM volume_quotas WHERE project_id = :project_id AND region = :region")


async def volume_limit(connection: Statements, *, project_id: UUID, region: str, default: int) -> int:
    """GiB that the project's volumes may have together in the region."""
    row = await _FIND_VOLUMES.one_or_none(connection, {"project_id": project_id, "region": region})
    return default if row is None else row


async def set_volume_limit(connection: AsyncConnection, *, project_id: UUID, region: str, gib: int | None) -> None:
    """Set the limit; None: it is the default again."""
    key: dict[str, object] = {"project_id": project_id, "region": region}
    await connection.execute(*((_FORGET_VOLUMES, key) if gib is None else (_SET_VOLUMES, key | {"gib": gib})))


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
