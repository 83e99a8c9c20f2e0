"""What a filled project has beside its cluster: limits, storage, an address, a reservation, and what has a secret."""

from __future__ import annotations

from datetime import timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.addresses.tables import addresses
from ipucloud.clusters.volumes.snapshots.tables import snapshots, volume_origins
from ipucloud.clusters.volumes.tables import volumes
from ipucloud.identity.tables import ssh_authorities
from ipucloud.inventory.reservation_tables import reservations
from ipucloud.kernel.ids import external_name, new_id
from ipucloud.quotas.tables import address_quotas, quota_requests, volume_quotas
from ipucloud.webhooks.tables import webhook_deliveries, webhooks
from tests.support.factories import LUXEMBOURG
from tests.support.filled_names import READY_AT, Filled


async def fill_project(connection: AsyncConnection, filled: Filled) -> None:
    """One row of each table at least."""
    await _limits(connection, filled)
    await _storage(connection, filled)
    await _reservation(connection, filled)
    await _webhook(connection, filled)


async def _limits(connection: AsyncConnection, filled: Filled) -> None:
    """Its quotas, and a request for more."""
    increase = {"region": LUXEMBOURG[0], "machine_type": "m2000", "wanted_limit": 9000, "reason": "more"}
    request = {"id": new_id(), "project_id": filled.project.id, "created_by": new_id()}
    await connection.execute(sa.insert(quota_requests).values(**request, **increase))
    limit = {"project_id": filled.project.id, "region": LUXEMBOURG[0], "gib_limit": 1000}
    await connection.execute(sa.insert(volume_quotas).values(**limit))
    limit = {"project_id": filled.project.id, "region": LUXEMBOURG[0], "address_limit": 7}
    await connection.execute(sa.insert(address_quotas).values(**limit))


async def _storage(connection: AsyncConnection, filled: Filled) -> None:
    """A volume, a snapshot of it, and an address, which are built in the same way."""
    name = external_name(filled.cluster, 1)
    stored = {"external_name": f"{name}-volume", "size_gib": 10, "sku": "volume-gib", "currency": "EUR", "name": "data"}
    common = {"id": new_id(), "project_id": filled.project.id, "created_by": new_id(), "region": LUXEMBOURG[0]}
    await connection.execute(sa.insert(volumes).values(**common, **stored, state="creating"))
    copy = stored | {
        "id": new_id(),
        "external_name": f"{name}-snapshot",
        "sku": "snapshot-gib",
        "volume_id": common["id"],
    }
    await connection.execute(sa.insert(snapshots).values(**{**common, **copy}, state="creating"))
    reserved = {name: value for name, value in stored.items() if name != "size_gib"}
    address = reserved | {"id": new_id(), "external_name": f"{name}-address", "sku": "address"}
    await connection.execute(sa.insert(addresses).values(**{**common, **address}, state="creating"))
    origin = {"volume_id": common["id"], "snapshot_id": copy["id"], "project_id": common["project_id"]}
    await connection.execute(sa.insert(volume_origins).values(origin))


async def _reservation(connection: AsyncConnection, filled: Filled) -> None:
    base = {"id": new_id(), "project_id": filled.project.id, "created_by": new_id()}
    size = {"blocks": 1, "machines": 1, "ipus": 4, "servers": 1, "own_hosts": False, "flavor": "m2000-pod4"}
    sold = {"region": LUXEMBOURG[0], "machine_type": "m2000", "sku": "ipu-m2000-reserved", "currency": "EUR"}
    times = {"starts_at": READY_AT, "ends_at": READY_AT + timedelta(hours=1), "state": "cancelled", "name": "may"}
    await connection.execute(sa.insert(reservations).values(**base, **size, **sold, **times))


async def _webhook(connection: AsyncConnection, filled: Filled) -> None:
    """A webhook with a delivery, and an SSH authority: what has a secret."""
    hook = new_id()
    place = {"after_transaction": 1, "after_id": 0, "event_types": ["cluster.*"]}
    key = {"project_id": filled.project.id}
    await connection.execute(
        sa.insert(webhooks).values(id=hook, url="https://hooks.example.com/", secret="sealed", **place, **key)
    )
    authority = {"public_key": "ssh-ed25519 AAAA", "private_key": "sealed"}
    await connection.execute(sa.insert(ssh_authorities).values(id=new_id(), **authority, **key))
    delivery = {"type": "webhook.ping", "payload": "{}", "state": "delivered", "delivered_at": READY_AT}
    await connection.execute(sa.insert(webhook_deliveries).values(id=new_id(), webhook_id=hook, **delivery, **key))
