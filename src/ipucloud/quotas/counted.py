"""Limits of what is counted where it is, and not kept in a quota: of storage, in GiB, and of addresses."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.catalogue.queries import ADDRESS_SKU, VOLUME_SKU
from ipucloud.config import Settings
from ipucloud.db.statements import Statements
from ipucloud.quotas.addresses import address_limit, set_address_limit
from ipucloud.quotas.volumes import set_volume_limit, volume_limit

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
