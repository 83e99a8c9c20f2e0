"""Hardware that operations have reported, once no cluster holds it any more: cleaned, observed, and given back.

`not_clean` is what a clean-up has left.
It is asked, again and again, to wipe its server and to switch itself off. The report is cleared by an observation that
it is clean, later than any request can take effect that was sent to it: by then nothing of its last customer is on it.
`build_failed` is what a create or resume failed because of, `replaced` what a repair took away. They are cleared when
the hardware was observed good for `REST` seconds. Hardware in maintenance is left alone: a person works on it.
Nothing is asked while removals are frozen in the region.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import structlog

from ipucloud.clusters.metrics import RETURNED, count
from ipucloud.config import Settings
from ipucloud.contract.event_payloads.platform import HardwareOrdered
from ipucloud.contract.event_types.platform import HARDWARE_RETURNED
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import record_for_operators
from ipucloud.inventory.cleanings import Evidence, record_late_cleaning
from ipucloud.inventory.health.codes import VALIDATED, Code, Kind, Source
from ipucloud.inventory.health.merge import lock
from ipucloud.inventory.health.reports import clear, report
from ipucloud.inventory.health.tables import automation_allowed
from ipucloud.inventory.sync import controller, controller_of_pod
from ipucloud.inventory.validations import require
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import read_external_name
from ipucloud.operations.frozen import frozen_until
from ipucloud.site.ports import Site, SiteError, Sites, VipuAddress
from ipucloud.wire.site import HostState

log = structlog.get_logger(__name__)

AT_ONCE = 16
"""Pieces of hardware that are asked at the same time."""
RESTS = frozenset({Code.BUILD_FAILED, Code.REPLACED})
REST = 3600.0
"""How long hardware must have been good before it is tried again."""
LIMIT = 1000
"""Most of them in one run; those that were asked longest ago come first."""

_CLEAN: Mapping[Kind, Evidence] = {
    "machine": {"power": "Off", "vipu_allocation": "none"},
    "host": {"server": "none", "disk": "wiped"},
}
"""What has been observed of hardware that is clean."""


class _Leftover(NamedTuple):
    """Hardware to clean and to observe. `network` is the present external name of its last cluster."""

    report_id: UUID
    region: str
    code: Code
    kind: Kind
    object_id: UUID
    name: str
    cluster_id: UUID | None
    network: str
    vipu_cluster_id: str | None
    last_seen_at: datetime
    quiet_for: float
    vipu: VipuAddress | None


_LEFTOVERS = Query(
    f"""
    SELECT r.id AS report_id, r.region, r.code, CASE WHEN m.id IS NULL THEN 'host' ELSE 'machine' END AS kind,
           coalesce(m.id, h.id) AS object_id, coalesce(m.name, h.name) AS name, r.cluster_id,
           coalesce(c.external_name, '') AS network,
           p.vipu_cluster_id, r.last_seen_at, extract(epoch FROM app_now() - r.last_seen_at)::float8 AS quiet_for,
           {controller("v")}
      FROM health_reports r
      LEFT JOIN machines m ON m.id = r.machine_id
      LEFT JOIN pods p ON p.id = m.pod_id
      {controller_of_pod("p", "v")}
      LEFT JOIN hosts h ON h.id = r.host_id
      LEFT JOIN clusters c ON c.id = r.cluster_id
     WHERE r.code IN ('not_clean', 'build_failed', 'replaced') AND r.cleared_at IS NULL
       AND {frozen_until("r.region")} IS NULL
       AND NOT EXISTS (SELECT FROM allocations a
                        WHERE a.freed_at IS NULL AND (a.machine_id = r.machine_id OR a.host_id = r.host_id))
       AND {automation_allowed("r.machine_id", "r.host_id")}
     ORDER BY r.last_seen_at, r.id LIMIT :limit
    """,  # noqa: S608  # our own text
    _Leftover,
)
_UNCHANGED = Query(
    "SELECT count(*) FROM health_reports WHERE id = :report_id AND cleared_at IS NULL AND last_seen_at = :last_seen_at",
    int,
)


async def clean_leftovers(database: Database, sites: Sites, settings: Settings) -> None:
    """Ask everything that was left to clean itself, and clear the reports of what is clean."""
    async with database.read() as connection:
        rows = await _LEFTOVERS.all(connection, {"limit": LIMIT})
    turns = asyncio.Semaphore(AT_ONCE)

    async def take(leftover: _Leftover) -> None:
        async with turns:
            unclean = await _ask(sites.at(leftover.vipu, lambda: settings.site_call_timeout), leftover)
            await _record(database, leftover, unclean, settings)

    for result in await asyncio.gather(*map(take, rows), return_exceptions=True):
        if result is not None:
            raise result


async def _ask(site: Site, leftover: _Leftover) -> str | None:
    """None when it is clean; otherwise what it still has, or why that is not known."""
    try:
        return await (_host(site, leftover) if leftover.kind == "host" else _machine(site, leftover))
    except SiteError as error:
        return f"it did not answer: {error}"


async def _host(site: Site, leftover: _Leftover) -> str | None:
    host = await site.hosts.get(leftover.name)
    if host.server is None:
        return None if host.state is HostState.CLEAN else f"it has no server, and is {host.state}"
    if _cluster_of(host.server.name) != leftover.cluster_id:
        return f"it has server {host.server.name}, which is not of the cluster that left it"
    if host.state is not HostState.WIPING:
        await site.hosts.delete_server(leftover.name, host.server.name)
    return f"server {host.server.name} is being wiped"


def _cluster_of(server: str) -> UUID | None:
    """The cluster of a Poplar server, whichever of the cluster's external names the server was made under."""
    read = read_external_name(server.rpartition("-p")[0])
    return None if read is None else read[0]


async def _machine(site: Site, leftover: _Leftover) -> str | None:
    system = await site.machines.get(leftover.name)
    if system.PowerState != "Off":
        await site.machines.power_off(leftover.name, leftover.network)
        return "it is being switched off"
    if leftover.code in RESTS and system.Status.Health != "OK":
        return f"its BMC reports its health as {system.Status.Health}"
    held = await _allocations(site, leftover)
    return f"it is in V-IPU allocation {held[0]}" if held else None


async def _allocations(site: Site, leftover: _Leftover) -> Sequence[str]:
    if leftover.vipu_cluster_id is None:
        return ()
    allocations = await site.vipu.list_allocations(leftover.vipu_cluster_id)
    return [allocation.id for allocation in allocations if leftover.name in allocation.agent_ids]


async def _record(database: Database, leftover: _Leftover, unclean: str | None, settings: Settings) -> None:
    """What is not clean yet begins its quarantine again: a request was just sent to it, or may have been."""
    if unclean is None and leftover.quiet_for < (REST if leftover.code in RESTS else settings.request_life):
        return
    failpoint("leftovers.observed")
    async with database.begin() as connection:
        await lock(connection, leftover.kind, [leftover.object_id])
        values = {"report_id": leftover.report_id, "last_seen_at": leftover.last_seen_at}
        if not await _UNCHANGED.one(connection, values):
            return  # another worker was here since
        if unclean is None:
            await clear(connection, report_id=leftover.report_id)
            if leftover.kind == "machine" and leftover.code in VALIDATED and "repair" in settings.validation:
                await require(connection, [leftover.object_id], "repair")
            if leftover.code is Code.NOT_CLEAN and leftover.cluster_id is not None:
                await record_late_cleaning(
                    connection,
                    cluster_id=leftover.cluster_id,
                    external_name=leftover.network,
                    object_id=leftover.object_id,
                    observed=_CLEAN[leftover.kind],
                )
            await record_for_operators(
                connection,
                HARDWARE_RETURNED,
                region=leftover.region,
                data=HardwareOrdered(
                    machines=[leftover.name] if leftover.kind == "machine" else [],
                    hosts=[leftover.name] if leftover.kind == "host" else [],
                    reason=leftover.code,
                ),
            )
            count(connection, RETURNED.labels(leftover.kind, leftover.code))
            log.info("hardware_returned", kind=leftover.kind, name=leftover.name, code=leftover.code)
        else:
            await report(
                connection,
                kind=leftover.kind,
                object_id=leftover.object_id,
                source=Source.OPERATION,
                code=leftover.code,
                detail=unclean,
                cluster_id=leftover.cluster_id,
            )
        failpoint("leftovers.recorded")
