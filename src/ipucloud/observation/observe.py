"""One observation of a region: read the database, read the site, judge, write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.faults import apply_reports
from ipucloud.clusters.not_working import DEGRADING
from ipucloud.contract.clusters import ClusterState
from ipucloud.contract.event_payloads.platform import InventoryDiffers, MassDisappearance
from ipucloud.contract.event_types.platform import (
    AUTOMATION_HALTED,
    AUTOMATION_RESUMED,
    INVENTORY_AGREES,
    INVENTORY_DIFFERS,
)
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.events.log import record_for_operators
from ipucloud.inventory.expected.findings import PREVENTING, inventory_facts
from ipucloud.inventory.expected.shown import digest_of, is_known, write_shown
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.health.codes import OBSERVED, VALIDATED, Code
from ipucloud.inventory.health.judge import Action, Change, LiveReport, judge, unsettled
from ipucloud.inventory.health.merge import lock
from ipucloud.inventory.health.observations import (
    When,
    automation_halted,
    set_halted,
    write_controller,
    write_reading,
    write_release,
)
from ipucloud.inventory.health.record import live_reports, write
from ipucloud.inventory.validations import require
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.failpoints import failpoint
from ipucloud.observation import work
from ipucloud.observation.expected import IN_USE, Expected, Holder, read_expected
from ipucloud.observation.findings import PowerWatch, find
from ipucloud.observation.keep import Keeper
from ipucloud.observation.reading import Reading, read_site
from ipucloud.observation.servers import SshReader
from ipucloud.observation.work import Fence
from ipucloud.site.ports import Budget, Sites

log = structlog.get_logger(__name__)

FEWEST = 5
"""Objects of a region that may always fail at once, however small the region is."""
SHARE = 0.05
"""Part of a region's objects that may fail at once."""

_ONLY_IN_USE = frozenset(
    {
        Code.POWERED_OFF,
        Code.AGENT_UNREACHABLE,
        Code.PARTITION_ERROR,
        Code.ALLOCATION_LOST,
        Code.SERVER_OFF,
        Code.SSH_UNREACHABLE,
    }
)
"""Codes of what is wrong only while a customer works with the object."""

_OF_MANY = frozenset({Code.PARTITION_ERROR, Code.ALLOCATION_LOST})
"""Codes of reports about many machines at once, which mean little for each of them."""

_NOW = Query("SELECT app_now() AS now", datetime)
_LOCK = Query(
    "SELECT state FROM clusters WHERE project_id = :project_id AND id = :cluster_id FOR NO KEY UPDATE", ClusterState
)
_HELD = Query(
    """
    SELECT coalesce(machine_id, host_id) FROM allocations
     WHERE project_id = :project_id AND cluster_id = :cluster_id AND freed_at IS NULL
    """,
    UUID,
)


class _Cluster(NamedTuple):
    project_id: UUID
    cluster_id: UUID


# Also after a pass that ended between the reports and the cluster, and for reports that are older than the allocation.
_UNSETTLED = Query(
    """
    SELECT c.project_id, c.id AS cluster_id FROM clusters c
     WHERE c.region = :region AND c.state IN ('active', 'degraded')
       AND (c.state = 'degraded') <> EXISTS (
             SELECT FROM allocations a JOIN health_reports r ON r.machine_id = a.machine_id OR r.host_id = a.host_id
              WHERE a.project_id = c.project_id AND a.cluster_id = c.id AND a.freed_at IS NULL
                AND r.cleared_at IS NULL AND r.confirmed_at IS NOT NULL AND r.code = ANY (:degrading))
    """,
    _Cluster,
)


@dataclass(frozen=True, slots=True)
class Observed:
    """The result. `soon`: the next reading decides something. `complete`: every source answered."""

    soon: bool
    complete: bool


async def observe_region(
    database: Database,
    sites: Sites,
    region: str,
    *,
    budget: Budget,
    fence: Fence,
    clock: Clock,
    ssh: SshReader,
    power: PowerWatch,
    expires: float,
    limit: int | None = None,
    validated: bool = False,
) -> Observed | None:
    """Observe a region; None when it is not registered.

    `budget` is asked before every call and every transaction, `fence` in every transaction that writes: a worker that
    was frozen meanwhile must not write what it read before. After `expires` seconds without another complete reading,
    health is unknown. `validated`: machines that no cluster holds are validated once a fault of theirs has ended.

    Raises what `budget` and `fence` raise, and `Problem` unavailable.
    """
    async with database.read() as connection:
        began = await _NOW.one(connection)
        started = clock.monotonic()
        expected = await read_expected(connection, region)
        if expected is None:
            return None
        reported = {each.object_id for each in await live_reports(connection, region)}
    site = sites.at(None, budget)
    vipus = {each.controller: sites.at(each, budget).vipu for each in expected.controllers}
    reading = await read_site(site, vipus, expected)
    read_at = began + timedelta(seconds=clock.monotonic() - started)
    reading = replace(reading, keys=await ssh.read(site, expected.hosts, reported))
    failpoint("observation.read")
    await _keep_shown(database, fence, region, reading, budget)

    keeper = Keeper(database, fence, region, budget)
    await keeper.use(reading.hosts, read_at)
    await keeper.samples(expected, reading, read_at)
    await keeper.consoles(site, reading.hosts)
    async with database.read() as connection:
        live = await live_reports(connection, region)
        differs = await inventory_facts(connection, region)
        now = await _NOW.one(connection)
    findings = find(expected, reading, power.stuck(expected.machines, reading.machines, live))
    findings.facts += [fact for fact in differs if (fact.object_id, fact.source) in findings.answered]
    changes = judge(findings.facts, findings.answered, live, now)
    for holder, group in _by_holder(expected, changes).items():
        budget()
        if validated and holder is None:
            await _have_validated(database, fence, group)
        await _write(database, fence, region, holder, group)
        failpoint("observation.cluster_written")
    await _settle_others(database, fence, region, budget)
    objects = len(expected.machines) + len(expected.hosts)
    most = limit or max(FEWEST, round(SHARE * objects))
    await _halt(database, fence, region, live, changes, objects=objects, most=most)
    await _record(database, fence, region, reading, When(began, read_at, expires))
    work.SECONDS.labels(region).set(clock.monotonic() - started)
    return Observed(unsettled(changes), all(read.error is None for read in reading.reads))


async def _keep_shown(database: Database, fence: Fence, region: str, reading: Reading, budget: Budget) -> None:
    """Write what the hardware shows of itself where it is not what was written last."""
    for kind, shown in reading.shown.items():
        async with database.read() as connection:
            if await is_known(connection, region, kind, digest_of(shown)):
                continue
        budget()
        async with database.begin() as connection:
            await fence(connection)
            changed = await write_shown(connection, region, kind, shown)
        for type_, number in changed.items():
            work.CHANGED.labels(region, type_).inc(number)
            log.warning("hardware_changed", region=region, kind=kind, type=type_, objects=number)


def _by_holder(expected: Expected, changes: Sequence[Change]) -> Mapping[Holder | None, list[Change]]:
    holders = {machine.id: machine.holder for machine in expected.machines}
    holders |= {host.id: host.holder for host in expected.hosts}
    grouped: defaultdict[Holder | None, list[Change]] = defaultdict(list)
    for change in changes:
        grouped[holders.get(change.fact.object_id)].append(change)
    return grouped


async def _write(
    database: Database, fence: Fence, region: str, holder: Holder | None, changes: Sequence[Change]
) -> None:
    """One transaction for the objects of one cluster, or for those that none holds."""

    async def work(connection: AsyncConnection) -> None:
        if holder is None:
            await fence(connection)
            await write(connection, region, changes, None)
            await _record_findings(connection, region, changes)
            return
        key = {"project_id": holder.project_id, "cluster_id": holder.cluster_id}
        state = await _LOCK.one(connection, key)
        await fence(connection)
        held = set(await _HELD.all(connection, key))
        # What it held or did may have changed since the site was read; the next reading sees that.
        still = [each for each in changes if each.fact.object_id in held and _applies(each, state)]
        await write(connection, region, still, holder.cluster_id)
        await _record_findings(connection, region, still)
        await apply_reports(connection, project_id=holder.project_id, cluster_id=holder.cluster_id)

    await database.transact(work)
    for change in changes:
        if change.action in {Action.CONFIRMED, Action.CLEARED}:
            fact = change.fact
            log.warning(
                f"health_report_{change.action}",
                region=region,
                object_id=str(fact.object_id),
                kind=fact.kind,
                source=fact.source,
                code=fact.code,
                detail=fact.detail,
                cluster_id=None if holder is None else str(holder.cluster_id),
            )


async def _record_findings(connection: AsyncConnection, region: str, changes: Sequence[Change]) -> None:
    """Tell operators where hardware differs from the expected inventory now, or no longer does."""
    kinds = {Action.CONFIRMED: INVENTORY_DIFFERS, Action.CLEARED: INVENTORY_AGREES}
    for change in changes:
        if change.fact.code in PREVENTING and change.action in kinds:
            await record_for_operators(
                connection,
                kinds[change.action],
                region=region,
                subject_type=change.fact.kind,
                subject_id=change.fact.object_id,
                data=InventoryDiffers(code=change.fact.code, detail=change.fact.detail),
            )


async def _have_validated(database: Database, fence: Fence, changes: Sequence[Change]) -> None:
    """Have machines validated whose fault has ended. Their reports are cleared after that: no cluster comes between."""
    repaired = [
        each.fact.object_id
        for each in changes
        if each.action is Action.CLEARED and each.fact.kind == "machine" and each.fact.code in VALIDATED
    ]
    if not repaired:
        return

    async def work(connection: AsyncConnection) -> None:
        await fence(connection)
        await lock(connection, "machine", repaired)
        await require(connection, repaired, "repair")

    await database.transact(work)


def _applies(change: Change, state: ClusterState) -> bool:
    return state in IN_USE or change.fact.code not in _ONLY_IN_USE or change.action in {Action.GOOD, Action.CLEARED}


async def _settle_others(database: Database, fence: Fence, region: str, budget: Budget) -> None:
    """Clusters whose state does not say what the reports of their hardware say."""
    async with database.read() as connection:
        rows = await _UNSETTLED.all(connection, {"region": region, "degrading": sorted(DEGRADING)})
    for cluster in rows:
        budget()

        async def work(connection: AsyncConnection, cluster: _Cluster = cluster) -> None:
            key = {"project_id": cluster.project_id, "cluster_id": cluster.cluster_id}
            await _LOCK.one(connection, key)
            await fence(connection)
            await apply_reports(connection, project_id=cluster.project_id, cluster_id=cluster.cluster_id)

        await database.transact(work)


async def _halt(
    database: Database,
    fence: Fence,
    region: str,
    live: Sequence[LiveReport],
    changes: Sequence[Change],
    *,
    objects: int,
    most: int,
) -> None:
    """Halt automatic actions when too many objects failed at once, until fewer of them are failing."""
    read = [each for each in live if each.source in OBSERVED and each.code not in _OF_MANY]
    suspected = [each.fact for each in changes if each.action is Action.SUSPECTED]
    newly = {fact.object_id for fact in suspected if fact.code not in _OF_MANY}
    newly -= {each.object_id for each in read}
    ended = {each.report_id for each in changes if each.action is Action.CLEARED}
    failing = newly | {each.object_id for each in read if each.id not in ended}
    disappeared = len(newly) > most
    async with database.begin() as connection:
        await fence(connection)
        halted = await automation_halted(connection, region)
        halt = disappeared or (halted and len(failing) > most)
        await set_halted(connection, region, halted=halt)
        if halt and not halted:
            happened = MassDisappearance(failed=len(newly), objects=objects, limit=most)
            await record_for_operators(connection, AUTOMATION_HALTED, region=region, data=happened)
        elif halted and not halt:
            await record_for_operators(connection, AUTOMATION_RESUMED, region=region)
    if disappeared:
        work.DISAPPEARED.labels(region).inc()
        log.error("mass_disappearance", region=region, objects=len(newly), of=objects, limit=most)


async def _record(database: Database, fence: Fence, region: str, reading: Reading, when: When) -> None:
    """Record how each source answered, last of all: until then the readings before are the newest."""
    async with database.begin() as connection:
        await fence(connection)
        pods: set[UUID] = set()
        for controller in reading.controllers.values():
            if controller.release is not None:
                await write_release(connection, region, controller.name, controller.release.version)
            pods |= set(await write_controller(connection, region, controller.name, controller.error, when))
        await settle_pods(connection, pods)
        for read in reading.reads:
            await write_reading(connection, region, read, when)
    for read in reading.reads:
        if read.error is None:
            work.READ.labels(region, read.source).set(read.answered)
        else:
            work.FAILED.labels(region, read.source).inc()
            log.warning("region_not_observed", region=region, source=read.source, error=read.error)
