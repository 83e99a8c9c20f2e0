"""Capacity that a site's inventory adds and removes: events, and reports of new hardware that nobody expects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.rows import Query
from ipucloud.inventory.expected.findings import SHOWN_BY
from ipucloud.inventory.expected.shown import Change, record_changes
from ipucloud.inventory.expected.tables import Happened
from ipucloud.inventory.health.codes import Code, Kind
from ipucloud.inventory.health.reports import report
from ipucloud.wire.inventory import SiteRegion


class _Listing(NamedTuple):
    """A machine or host that the inventory does not list any more, or does again."""

    name: str
    listed: bool


class _New(NamedTuple):
    name: str
    object_id: UUID


def _changed(table: str, objects: str) -> Query[_Listing]:
    return Query(
        f"""
        WITH listed (name) AS (SELECT unnest(CAST(:names AS text[])))
        UPDATE {table} AS object
           SET unlisted_since = CASE WHEN object.name IN (SELECT name FROM listed) THEN NULL ELSE app_now() END
          FROM ({objects}) AS in_region
         WHERE object.id = in_region.id
           AND (object.unlisted_since IS NULL) <> (object.name IN (SELECT name FROM listed))
        RETURNING object.name, object.unlisted_since IS NULL AS listed
        """,  # noqa: S608  # our own names
        _Listing,
    )


_OBJECTS: Mapping[Kind, str] = {
    "machine": "SELECT m.id, m.name FROM machines m JOIN pods p ON p.id = m.pod_id WHERE p.region = :region",
    "host": "SELECT id, name FROM hosts WHERE region = :region",
}
_LISTED: Mapping[Kind, Query[_Listing]] = {
    "machine": _changed("machines", _OBJECTS["machine"]),
    "host": _changed("hosts", _OBJECTS["host"]),
}
_UNEXPECTED = {
    kind: Query(
        f"""
        SELECT object.name, object.id AS object_id FROM ({objects}) AS object
         WHERE object.name = ANY (CAST(:names AS text[]))
           AND EXISTS (SELECT FROM expected_inventories WHERE region = :region)
           AND NOT EXISTS (SELECT FROM expected_hardware AS expected
                            WHERE (expected.region, expected.kind, expected.name) = (:region, :kind, object.name))
        """,  # noqa: S608  # our own names
        _New,
    )
    for kind, objects in _OBJECTS.items()
}


async def record_capacity(
    connection: AsyncConnection, region: SiteRegion, *, before: Collection[tuple[str, str]]
) -> None:
    """Record what of a region was registered now, is not listed any more, or is again.

    `before`: kinds and names of what was registered earlier. New hardware that the expected inventory does not have is
    reported at once, so that no cluster gets it before it was observed.
    """
    for kind, names in _listed(region).items():
        key = {"region": region.region, "kind": kind}
        added = [name for name in names if (kind, name) not in before]
        changes = [Change(name, Happened.ADDED, "the site's inventory lists it") for name in added]
        for row in await _LISTED[kind].all(connection, {"region": region.region, "names": names}):
            listed = "lists it again" if row.listed else "does not list it any more"
            happened = Happened.RETURNED if row.listed else Happened.REMOVED
            changes.append(Change(row.name, happened, f"the site's inventory {listed}"))
        await record_changes(connection, region.region, kind, changes)
        for new in await _UNEXPECTED[kind].all(connection, key | {"names": added}) if added else ():
            await report(
                connection,
                kind=kind,
                object_id=new.object_id,
                source=SHOWN_BY[kind],
                code=Code.SURPLUS,
                detail="not in the expected inventory",
            )


def _listed(region: SiteRegion) -> Mapping[Kind, list[str]]:
    return {
        "machine": [machine.name for pod in region.pods for machine in pod.machines],
        "host": [host.name for host in region.hosts],
    }
