"""Registering hardware from the site's own inventory. Safe to repeat; hardware that the site no longer lists stays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

import orjson
import sqlalchemy as sa
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.inventory.blocks import RUN
from ipucloud.inventory.expected.listed import record_capacity
from ipucloud.inventory.settle import settle
from ipucloud.inventory.validations import require_unsettled
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.site.ports import Sites
from ipucloud.wire.inventory import Inventory, SitePod, SiteRegion


@dataclass(frozen=True, slots=True)
class Synced:
    """How much hardware the site lists."""

    regions: int
    pods: int
    machines: int
    hosts: int


class _Object(NamedTuple):
    kind: str
    name: str


_REGION = sa.text(
    """
    INSERT INTO site_regions (region, typical_seconds, simulated, containers)
    VALUES (:region, CAST(:typical_seconds AS jsonb), :simulated, :containers)
    ON CONFLICT (region) DO UPDATE
       SET typical_seconds = excluded.typical_seconds, simulated = excluded.simulated,
           containers = excluded.containers, synced_at = app_now()
    """
)
_CONTROLLER = sa.text(
    """
    INSERT INTO vipu_controllers (region, name, host, admin_port, secure, authority, cluster_test)
    VALUES (:region, :name, :host, :admin_port, :secure, :authority, :cluster_test)
    ON CONFLICT (region, name) DO UPDATE
       SET host = excluded.host, admin_port = excluded.admin_port, secure = excluded.secure,
           authority = excluded.authority, cluster_test = excluded.cluster_test
    """
)
# One that pods are still under stays with them, like hardware that the site no longer lists.
_NO_CONTROLLER = sa.text(
    """
    DELETE FROM vipu_controllers AS v
     WHERE v.region = :region AND v.name <> ALL (CAST(:names AS text[]))
       AND NOT EXISTS (SELECT FROM pods WHERE pods.region = v.region AND pods.controller = v.name)
    """
)
# Only changed rows are written or locked: a create chooses among the hosts that are not locked.
_RUN = sa.text(
    """
    INSERT INTO pod_runs (id, region, machine_type, gw_group, number)
    VALUES (:id, :region, :machine_type, :gw_group, :number) ON CONFLICT DO NOTHING
    """
)
# A pod that is not listed any more follows the others of its group: a cluster may span them.
_POD = sa.text(
    """
    WITH changed AS (
      UPDATE pods
         SET vipu_cluster_id = CASE name WHEN :name THEN :cluster_id ELSE vipu_cluster_id END, controller = :controller
       WHERE (name = :name OR (region, machine_type, gw_group) = (:region, :machine_type, :gw_group))
         AND (controller IS DISTINCT FROM :controller OR name = :name AND vipu_cluster_id IS DISTINCT FROM :cluster_id)
    )
    INSERT INTO pods (id, region, machine_type, name, vipu_cluster_id, controller, gw_group, position, topology,
                      gateway_topology, run_id)
    SELECT :id, :region, :machine_type, :name, :cluster_id, :controller, :gw_group, :position, :topology,
           :gateway_topology, id
      FROM pod_runs
     WHERE (region, machine_type, gw_group, number) = (:region, :machine_type, :gw_group, :number)
    ON CONFLICT (name) DO NOTHING
    """
)
_MACHINES = sa.text(
    """
    WITH moved AS (
      UPDATE machines SET rnic = :rnic, bmc = :bmc, gateway = :gateway, topology_ids = :topology_ids
       WHERE name = :name
         AND (rnic, bmc, gateway, topology_ids) IS DISTINCT FROM (:rnic, :bmc, :gateway, :topology_ids)
    )
    INSERT INTO machines (id, pod_id, slot, name, rnic, bmc, gateway, topology_ids)
    SELECT :id, p.id, :slot, :name, :rnic, :bmc, :gateway, :topology_ids FROM pods p WHERE p.name = :pod
    ON CONFLICT (name) DO NOTHING
    """
).bindparams(sa.bindparam("topology_ids", type_=ARRAY(sa.Integer)))
_HOSTS = sa.text(
    """
    WITH moved AS (
      UPDATE hosts SET address = :address WHERE name = :name AND address <> :address
    )
    INSERT INTO hosts (id, region, name, address, machine_id)
    SELECT :id, :region, :name, :address, (SELECT id FROM machines WHERE name = :machine)
    ON CONFLICT (name) DO NOTHING
    """
)
_NAMES = Query(
    """
    SELECT 'machine' AS kind, m.name FROM machines m JOIN pods p ON p.id = m.pod_id WHERE p.region = :region
    UNION ALL SELECT 'host', name FROM hosts WHERE region = :region
    """,
    _Object,
)
_UNSETTLED = Query(
    """
    SELECT pods.id FROM pods JOIN pod_masks AS truth ON truth.pod_id = pods.id
     WHERE (pods.free_mask, pods.unhealthy_mask, pods.maintenance_mask, pods.validating_mask)
           <> (truth.free_mask, truth.unhealthy_mask, truth.maintenance_mask, truth.validating_mask)
    """,
    UUID,
)


async def sync(database: Database, sites: Sites, *, validated: bool) -> Synced:
    """Ask the site for its inventory and register it in one transaction. Raises SiteError.

    `validated`: new machines are to be validated before clusters get them.
    """
    inventory = await sites.inventory()
    async with database.begin() as connection:
        for region in inventory.regions:
            before = await _NAMES.all(connection, {"region": region.region})
            offered = await _register(connection, region)
            await record_capacity(connection, region, before={(each.kind, each.name) for each in before})
            if validated:
                await require_unsettled(connection, offered, "intake")
            failpoint("sync.region_registered")
        await settle(connection, await _UNSETTLED.all(connection))
    return _count(inventory)


async def _register(connection: AsyncConnection, region: SiteRegion) -> list[UUID]:
    """The ids of its machines that are new, among others."""
    facts = region.model_dump(include={"region", "simulated", "containers"})
    await connection.execute(_REGION, facts | {"typical_seconds": orjson.dumps(region.typical_seconds).decode()})
    for name, endpoint in region.by_name.items():
        await connection.execute(_CONTROLLER, endpoint.model_dump() | {"region": region.region, "name": name})
    offered: list[UUID] = []
    for pod in region.pods:
        offered += await _register_pod(connection, region.region, pod, region.controller_of(pod))
    await connection.execute(_NO_CONTROLLER, {"region": region.region, "names": list(region.by_name)})
    if region.hosts:
        await connection.execute(
            _HOSTS, [{"id": new_id(), "region": region.region} | host.model_dump() for host in region.hosts]
        )
    return offered


async def _register_pod(connection: AsyncConnection, region: str, pod: SitePod, controller: str | None) -> list[UUID]:
    placed = {"region": region, "number": pod.position // RUN} | pod.model_dump(exclude={"machines"})
    placed["controller"] = controller
    await connection.execute(_RUN, {"id": new_id()} | placed)
    await connection.execute(_POD, {"id": new_id()} | placed)
    offered = [new_id() for _ in pod.machines]
    machines = [
        {
            "id": id_,
            "pod": pod.name,
            **machine.model_dump(),
            "topology_ids": machine.numbers if pod.cluster_id else None,
        }
        for id_, machine in zip(offered, pod.machines, strict=True)
    ]
    await connection.execute(_MACHINES, machines)
    return offered


def _count(inventory: Inventory) -> Synced:
    pods = [pod for region in inventory.regions for pod in region.pods]
    return Synced(
        regions=len(inventory.regions),
        pods=len(pods),
        machines=sum(len(pod.machines) for pod in pods),
        hosts=sum(len(region.hosts) for region in inventory.regions),
    )
