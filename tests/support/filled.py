"""A sound database with at least one row in every table: a cluster that lived an hour and is being deleted."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.metering.tables import usage_credits, usage_intervals
from ipucloud.clusters.addresses.tables import addresses
from ipucloud.clusters.consoles.tables import console_boots
from ipucloud.clusters.cost_limits.tables import token_clusters
from ipucloud.clusters.fault_reports.tables import fault_reports
from ipucloud.clusters.idle.tables import server_uses
from ipucloud.clusters.jobs.tables import job_logs, jobs
from ipucloud.clusters.operations.create import CREATE
from ipucloud.clusters.operations.delete import DELETE
from ipucloud.clusters.operations.kind import WORK_KIND, ClusterKind
from ipucloud.clusters.preemption.tables import preemptions
from ipucloud.clusters.repairs.tables import scheduled_repairs
from ipucloud.clusters.samples.tables import cluster_samples
from ipucloud.clusters.schedules.tables import cluster_schedules
from ipucloud.clusters.services.tables import service_logs, service_request_totals, service_requests, services
from ipucloud.clusters.tables import cluster_rebuilds, poplar_servers, resizes, vipu_access_keys
from ipucloud.clusters.terminals.tables import terminals
from ipucloud.clusters.volumes.snapshots.tables import snapshots, volume_origins
from ipucloud.clusters.volumes.tables import volumes
from ipucloud.clusters.waiting.tables import capacity_waits
from ipucloud.db.engine import Database
from ipucloud.events.tables import events
from ipucloud.idempotency.tables import idempotency_keys
from ipucloud.identity.tables import browser_sessions, invitations, sign_in_links, ssh_authorities, users
from ipucloud.invariants.tables import repairs, site_findings
from ipucloud.inventory.expected.changes import replace
from ipucloud.inventory.expected.shown import Change, Shown, record_changes, write_shown
from ipucloud.inventory.expected.tables import Happened
from ipucloud.inventory.health.codes import Code, Source
from ipucloud.inventory.health.reports import report
from ipucloud.inventory.health.tables import health_reports, observations
from ipucloud.inventory.reservation_tables import reservations
from ipucloud.inventory.tables import allocations, hardware_cleanings, hardware_validations, simulated_faults
from ipucloud.kernel.ids import external_name, new_id
from ipucloud.operations.tables import freezes, operation_steps, operations
from ipucloud.partitions.tables import partitions, vipu_links
from ipucloud.quotas.tables import address_quotas, quota_requests, quotas, volume_quotas
from ipucloud.reconcile.tables import work
from ipucloud.webhooks.tables import webhook_deliveries, webhooks
from tests.support.factories import LUXEMBOURG, Project, make_cluster_row, make_project, seed_world
from tests.support.filled_exports import fill_exports
from tests.support.filled_invoices import fill_invoices
from tests.support.filled_ledger import fill_ledger
from tests.support.filled_sign_ins import fill_audit_log, fill_limits, fill_sign_ins
from tests.support.settled import SETTLED

CREATED_AT = datetime(2026, 5, 1, 9, 45, tzinfo=UTC)
READY_AT = datetime(2026, 5, 1, 10, 0, tzinfo=UTC)
DELETED_AT = datetime(2026, 5, 1, 11, 0, tzinfo=UTC)
FAR_AWAY = datetime(9999, 1, 1, tzinfo=UTC)
_CHECK = ("interval_seconds", "timeout_seconds", "failures", "start_seconds")


@dataclass(frozen=True, slots=True)
class Filled:
    """What the rows are called. The cluster holds `machine` and `host`; both belong to `project`."""

    project: Project
    other_project: Project
    cluster: UUID
    finished_operation: UUID
    open_operation: UUID
    machine: UUID
    host: UUID


@dataclass(frozen=True, slots=True)
class _Operation:
    id: UUID
    kind: ClusterKind
    created_at: datetime
    finished_at: datetime | None


def fill(app_url: str) -> Filled:
    """Write the rows as the application, which shows that it may."""

    async def run() -> Filled:
        database = Database(app_url, pool_size=1)
        try:
            async with database.begin() as connection:
                return await fill_in(connection)
        finally:
            await database.close()

    return asyncio.run(run())


async def fill_in(connection: AsyncConnection) -> Filled:
    """The same inside the caller's transaction."""
    world = await seed_world(connection)
    filled = Filled(
        project=world.project,
        other_project=await make_project(connection),
        cluster=new_id(),
        finished_operation=new_id(),
        open_operation=new_id(),
        machine=world.luxembourg.pods[0].machines[0],
        host=world.luxembourg.hosts[0],
    )
    await _cluster(connection, filled)
    for operation in (
        _Operation(filled.finished_operation, CREATE, CREATED_AT, READY_AT),
        _Operation(filled.open_operation, DELETE, DELETED_AT, None),
    ):
        await _record(connection, filled, operation)
    await _partition(connection, filled)
    await _consequences(connection, filled)
    await _health(connection, filled)
    await fill_ledger(connection, project_id=filled.project.id, hour=READY_AT)
    await fill_exports(connection, project_id=filled.project.id)
    await fill_invoices(connection, account_id=filled.project.id, month=READY_AT.date().replace(day=1))
    return filled


async def _cluster(connection: AsyncConnection, filled: Filled) -> None:
    name = external_name(filled.cluster, 1)
    await make_cluster_row(
        connection,
        filled.project.id,
        id=filled.cluster,
        name="bert",
        state="deleting",
        preemptible=True,
        external_name=name,
        created_at=CREATED_AT,
        ready_at=READY_AT,
        delete_requested_at=DELETED_AT,
    )
    mine = {"project_id": filled.project.id, "cluster_id": filled.cluster, "ordinal": 0}
    await connection.execute(
        sa.insert(poplar_servers).values(id=new_id(), name=f"{name}-p0", state="running", ssh_user="ubuntu", **mine)
    )
    for held in ({"machine_id": filled.machine}, {"host_id": filled.host}):
        allocation = {"id": new_id(), "created_at": CREATED_AT} | held | mine
        await connection.execute(sa.insert(allocations).values(allocation))
    cleaning = {"allocation_id": allocation["id"], "external_name": name}
    await connection.execute(sa.insert(hardware_cleanings).values(cleaning))
    for statement in SETTLED:
        await connection.execute(sa.text(statement))
    await connection.execute(sa.update(quotas).where(_quota_of(filled)).values(used=1))
    wanted = {"region": LUXEMBOURG[0], "machine_type": "m2000", "wanted_limit": 9000, "reason": "more"}
    asked = {"id": new_id(), "project_id": filled.project.id, "created_by": new_id()}
    await connection.execute(sa.insert(quota_requests).values(**asked, **wanted))
    limit = {"project_id": filled.project.id, "region": LUXEMBOURG[0], "gib_limit": 1000}
    await connection.execute(sa.insert(volume_quotas).values(**limit))
    limit = {"project_id": filled.project.id, "region": LUXEMBOURG[0], "address_limit": 7}
    await connection.execute(sa.insert(address_quotas).values(**limit))
    size = {"blocks": 1, "machines": 1, "ipus": 4, "servers": 1, "own_hosts": False, "flavor": "m2000-pod4"}
    sold = {"region": LUXEMBOURG[0], "machine_type": "m2000", "sku": "ipu-m2000-reserved", "currency": "EUR"}
    times = {"starts_at": READY_AT, "ends_at": READY_AT + timedelta(hours=1), "state": "cancelled", "name": "may"}
    stored = {"external_name": f"{name}-volume", "size_gib": 10, "sku": "volume-gib", "currency": "EUR", "name": "data"}
    made = {"id": new_id(), "project_id": filled.project.id, "created_by": new_id(), "region": LUXEMBOURG[0]}
    await connection.execute(sa.insert(volumes).values(**made, **stored, state="creating"))
    copy = stored | {
        "id": new_id(),
        "external_name": f"{name}-snapshot",
        "sku": "snapshot-gib",
        "volume_id": made["id"],
    }
    await connection.execute(sa.insert(snapshots).values(**{**made, **copy}, state="creating"))
    reserved = {name: value for name, value in stored.items() if name != "size_gib"}
    address = reserved | {"id": new_id(), "external_name": f"{name}-address", "sku": "address"}
    await connection.execute(sa.insert(addresses).values(**{**made, **address}, state="creating"))
    origin = {"volume_id": made["id"], "snapshot_id": copy["id"], "project_id": made["project_id"]}
    await connection.execute(sa.insert(volume_origins).values(origin))
    await connection.execute(sa.insert(reservations).values(**asked | {"id": new_id()}, **size, **sold, **times))


def _quota_of(filled: Filled) -> sa.ColumnElement[bool]:
    return sa.tuple_(quotas.c.project_id, quotas.c.region) == (filled.project.id, LUXEMBOURG[0])


async def _record(connection: AsyncConnection, filled: Filled, operation: _Operation) -> None:
    finished = operation.finished_at is not None
    await connection.execute(
        sa.insert(operations).values(
            id=operation.id,
            project_id=filled.project.id,
            cluster_id=filled.cluster,
            kind=operation.kind.name,
            state="succeeded" if finished else "running",
            request_id="req-filled",
            requested_by=filled.project.token.id,
            progress=100 if finished else 0,
            created_at=operation.created_at,
            started_at=operation.created_at,
            deadline_at=FAR_AWAY,
            expected_at=FAR_AWAY,
            finished_at=operation.finished_at,
        )
    )
    await connection.execute(
        sa.insert(operation_steps),
        [
            {
                "operation_id": operation.id,
                "ordinal": ordinal,
                "project_id": filled.project.id,
                "name": step.name,
                "stage": step.stage.name,
                "state": "succeeded" if finished else "pending",
                "finished_at": operation.finished_at,
            }
            for ordinal, step in enumerate(operation.kind.steps, start=1)
        ],
    )


async def _webhook(connection: AsyncConnection, filled: Filled) -> None:
    """A webhook with a delivery, and an SSH authority: what has a secret."""
    hook = new_id()
    place = {"after_transaction": 1, "after_id": 0, "event_types": ["cluster.*"]}
    mine = {"project_id": filled.project.id}
    await connection.execute(
        sa.insert(webhooks).values(id=hook, url="https://hooks.example.com/", secret="sealed", **place, **mine)
    )
    authority = {"public_key": "ssh-ed25519 AAAA", "private_key": "sealed"}
    await connection.execute(sa.insert(ssh_authorities).values(id=new_id(), **authority, **mine))
    delivery = {"type": "webhook.ping", "payload": "{}", "state": "delivered", "delivered_at": READY_AT}
    await connection.execute(sa.insert(webhook_deliveries).values(id=new_id(), webhook_id=hook, **delivery, **mine))


async def _partition(connection: AsyncConnection, filled: Filled) -> None:
    await connection.execute(
        sa.insert(partitions).values(
            id=new_id(),
            project_id=filled.project.id,
            cluster_id=filled.cluster,
            origin="cluster",
            name=external_name(filled.cluster, 1),
            external_name=external_name(filled.cluster, 1),
            desired_state="unmanaged",
            state="active",
            observed={"size": 4, "gcds": 1, "ipus": []},
            observed_at=READY_AT,
            created_at=READY_AT,
        )
    )
    mine = {"project_id": filled.project.id, "cluster_id": filled.cluster}
    key = {"name": f"{external_name(filled.cluster, 1)}-k1", "number": 1, "sha256": "0" * 64, "ends_server_key": False}
    repair = {"reason": "fault", "hardware": [], "starts_at": READY_AT, "latest_at": READY_AT}
    done = {"ended_at": READY_AT, "outcome": "not_needed"}
    await connection.execute(sa.insert(scheduled_repairs).values(id=new_id(), **repair, **done, **mine))
    await connection.execute(sa.insert(token_clusters).values(token_id=filled.project.token.id, **mine))
    sizes = {"from_flavor": "m2000-pod4", "from_machines": 1, "from_ipus": 4, "from_sku": "ipu-m2000"}
    sizes |= {"to_flavor": "m2000-pod8", "to_machines": 2, "to_ipus": 8, "to_sku": "ipu-m2000", "moves": False}
    await connection.execute(sa.insert(resizes).values(operation_id=filled.finished_operation, **sizes, **mine))
    written = {"disk": "keep", "image": "ubuntu-20.04-x64-poplar-1.18.0-3.0.0", "keys_revision": 1}
    await connection.execute(
        sa.insert(cluster_rebuilds).values(operation_id=filled.finished_operation, **written, **mine)
    )
    scheduled = {"time_zone": "UTC", "computed_at": READY_AT}
    await connection.execute(sa.insert(cluster_schedules).values(**scheduled, **mine))
    waited = {
        "kind": "cluster.create",
        "machines": 1,
        "region": "luxembourg-2",
        "machine_type": "m2000",
        "since": READY_AT,
        "until": READY_AT + timedelta(days=1),
        **mine,
    }
    waited["granted_at"] = READY_AT
    await connection.execute(sa.insert(capacity_waits).values(operation_id=filled.finished_operation, **waited))
    told = {"noticed_at": READY_AT, "preempt_at": DELETED_AT, "ended_at": DELETED_AT, "outcome": "not_in_use"}
    await connection.execute(sa.insert(preemptions).values(id=new_id(), **told, **mine))
    watched = sa.select(poplar_servers.c.id, poplar_servers.c.project_id, sa.literal(READY_AT)).limit(1)
    await connection.execute(sa.insert(server_uses).from_select(["server_id", "project_id", "observed_at"], watched))
    seen = {"minute": READY_AT, "observed_at": READY_AT, "machines": 1, "machines_answered": 1}
    seen |= {"partitions": 1, "partitions_active": 1, "utilisation": 80.0}
    await connection.execute(sa.insert(cluster_samples).values(**seen, **mine))
    await _console(connection)
    await _job(connection, filled)
    reported = {"machine_id": filled.machine, "name": "m0", "category": "ipu", "description": "it hangs"}
    await connection.execute(sa.insert(fault_reports).values(id=new_id(), created_by=new_id(), **reported, **mine))
    await connection.execute(sa.insert(vipu_access_keys).values(**key, **mine))
    await _webhook(connection, filled)
    await connection.execute(sa.insert(vipu_links).values(links=[["next", ["m-0", "m-1"], "up"]], **mine))


async def _console(connection: AsyncConnection) -> None:
    """What a server has written to its console in one boot."""
    written = {"boot_id": "b", "number": 1, "started_at": READY_AT, "text": "up", "dropped": 0, "written": 2}
    written["observed_at"] = READY_AT
    values = (sa.literal(each) for each in written.values())
    booted = sa.select(poplar_servers.c.project_id, poplar_servers.c.id, *values).limit(1)
    columns = ["project_id", "server_id", *written]
    await connection.execute(sa.insert(console_boots).from_select(columns, booted))


async def _job(connection: AsyncConnection, filled: Filled) -> None:
    """A program that has run on the cluster's server, with its output."""
    server = sa.select(poplar_servers.c.id).where(poplar_servers.c.cluster_id == filled.cluster).limit(1)
    mine = {"project_id": filled.project.id}
    ended = {"state": "succeeded", "ended_by": "program", "exit_status": 0, "log_bytes": 3, "log_parts": 1}
    ended |= dict.fromkeys(("sent_at", "started_at", "ended_at", "observed_at"), READY_AT)
    job = new_id()
    await connection.execute(
        sa.insert(jobs).values(
            id=job,
            cluster_id=filled.cluster,
            server_id=server.scalar_subquery(),
            number=1,
            command=["true"],
            retries=0,
            currency="EUR",
            created_by=new_id(),
            **ended,
            **mine,
        )
    )
    await connection.execute(sa.insert(job_logs).values(job_id=job, number=1, attempt=1, text="ok\n", **mine))
    service = new_id()
    served = {"name": "chat", "command": ["serve"], "port": 8000, "max_restarts": 10, "created_by": new_id()}
    served |= {"health_check": {"path": "/healthz"} | dict.fromkeys(_CHECK, 9), "checked_at": sa.func.app_now()}
    served |= {"id": service, "cluster_id": filled.cluster, "server_id": server.scalar_subquery(), **mine}
    await connection.execute(sa.insert(services).values(served))
    await connection.execute(
        sa.insert(service_logs).values(service_id=service, number=1, attempt=1, text="up\n", **mine)
    )
    asked = {"service_id": service, "requests": 1, "errors": 0, "seconds": 0.1, "buckets": [1, *[0] * 11], **mine}
    await connection.execute(sa.insert(service_request_totals).values(asked))
    await connection.execute(sa.insert(service_requests).values(minute=datetime(2026, 3, 1, 12, tzinfo=UTC), **asked))
    await connection.execute(
        sa.insert(terminals).values(
            id=new_id(),
            cluster_id=filled.cluster,
            server_id=server.scalar_subquery(),
            public_key="ssh-ed25519 AAAA",
            created_by=new_id(),
            ended_by="shell",
            **dict.fromkeys(("key_until", "alive_at", "connected_at", "ended_at"), READY_AT),
            **mine,
        )
    )


async def _health(connection: AsyncConnection, filled: Filled) -> None:
    """A reading of the region, and what it showed of the host."""
    validated = {"id": new_id(), "machine_id": filled.machine, "reason": "release", "result": "abandoned"}
    await connection.execute(sa.insert(hardware_validations).values(**validated, ended_at=READY_AT))
    await connection.execute(sa.insert(observations).values(region=LUXEMBOURG[0], source="bmc"))
    await report(
        connection, kind="host", object_id=filled.host, source=Source.HOST, code=Code.HOST_FAILED, detail="no heartbeat"
    )
    await _inventory(connection)
    await _credit(connection, filled)


async def _inventory(connection: AsyncConnection) -> None:
    """A machine that shows another serial number than expected, and an event about it."""
    region, shown = LUXEMBOURG[0], Shown("m0", serial="GC2")
    items = [{"kind": "machine", "name": "m0", "serial": "GC1"}]
    await replace(connection, region, items, str(new_id()))
    await write_shown(connection, region, "machine", [shown])
    await record_changes(connection, region, "machine", [Change("m0", Happened.ADDED, "the site's inventory lists it")])


async def _credit(connection: AsyncConnection, filled: Filled) -> None:
    """The machine failed in the second in which the deletion was requested, and was replaced: no minute is credited."""
    interval, fault = new_id(), new_id()
    await connection.execute(
        sa.insert(usage_intervals).values(
            id=interval, **_used(filled), credited=1, started_at=DELETED_AT, ended_at=DELETED_AT
        )
    )
    await connection.execute(
        sa.insert(health_reports).values(
            id=fault,
            region=LUXEMBOURG[0],
            machine_id=filled.machine,
            source=Source.BMC,
            code=Code.BMC_CRITICAL,
            allocation="prevented",
            credited=True,
            detail="Health: Critical",
            message="The machine has failed.",
            first_seen_at=DELETED_AT,
            confirmed_at=DELETED_AT,
            last_seen_at=DELETED_AT,
            good_since=DELETED_AT,
            cleared_at=DELETED_AT,
        )
    )
    await connection.execute(
        sa.insert(usage_credits).values(project_id=filled.project.id, interval_id=interval, report_id=fault)
    )


def _used(filled: Filled) -> dict[str, object]:
    return {
        "project_id": filled.project.id,
        "resource_id": filled.cluster,
        "flavor": "m2000-pod4",
        "sku": "ipu-m2000",
        "region": "luxembourg-2",
        "currency": "EUR",
        "quantity": 1,
        "anchor_at": READY_AT,
    }


async def _consequences(connection: AsyncConnection, filled: Filled) -> None:
    """What the operations left: a closed interval, a work item, events, a stored answer, a repair."""
    project = filled.project.id
    await connection.execute(
        sa.insert(usage_intervals).values(id=new_id(), **_used(filled), started_at=READY_AT, ended_at=DELETED_AT)
    )
    await connection.execute(
        sa.insert(work).values(kind=WORK_KIND, key=str(filled.cluster), project_id=project, run_at=DELETED_AT)
    )
    for kind, operation in (
        ("cluster.created", None),
        ("operation.created", filled.finished_operation),
        ("operation.succeeded", filled.finished_operation),
        ("cluster.deleting", None),
        ("operation.created", filled.open_operation),
    ):
        await connection.execute(
            sa.insert(events).values(
                project_id=project,
                type=kind,
                subject_type="cluster",
                subject_id=filled.cluster,
                operation_id=operation,
                request_id="req-filled",
            )
        )
    await connection.execute(
        sa.insert(idempotency_keys).values(
            scope=project, key="filled", fingerprint=b"\0" * 32, status=202, body=b"{}", subject_id=filled.cluster
        )
    )
    begun = {"id": new_id(), "token_id": filled.project.token.id, "secret_hash": b"\0" * 32, "expires_at": FAR_AWAY}
    await connection.execute(sa.insert(browser_sessions).values(**begun, idle_until=FAR_AWAY))
    await connection.execute(sa.insert(sign_in_links).values(**begun))
    ann = new_id()
    names = dict.fromkeys(("external_id", "display_name", "formatted_name", "given_name", "family_name"), "Ann")
    known = {"id": ann, "email": "ann@example.com", "password_hash": "$argon2id$"} | names
    gone = {"id": new_id(), "email": "ann@example.com", "deactivated_at": DELETED_AT, "deleted_at": DELETED_AT}
    for person in (known, gone):
        await connection.execute(sa.insert(users).values(**person))
    await fill_sign_ins(connection, ann, project)
    await fill_audit_log(connection)
    await fill_limits(connection)
    await connection.execute(
        sa.insert(invitations).values(
            id=new_id(),
            project_id=project,
            email="bob@example.com",
            role="viewer",
            secret_hash=b"\0" * 32,
            expires_at=FAR_AWAY,
        )
    )
    await connection.execute(
        sa.insert(freezes).values(
            id=new_id(),
            reason="moving the rack",
            created_by=new_id(),
            expires_at=FAR_AWAY,
            ended_at=DELETED_AT,
            ended_by=new_id(),
            end_reason="done",
        )
    )
    await connection.execute(
        sa.insert(simulated_faults).values(
            id=new_id(), region=LUXEMBOURG[0], kind="link", name="m0", link="next", state="ended", created_by=new_id()
        )
    )
    await connection.execute(
        sa.insert(site_findings).values(
            rule="network_belongs_to_a_cluster",
            region=LUXEMBOURG[0],
            object_id="operators-own",
            detail="unowned",
        )
    )
    await connection.execute(
        sa.insert(repairs).values(
            id=new_id(),
            rule="cluster_being_deleted_has_its_operation",
            object_type="cluster",
            object_id=str(filled.cluster),
            detail="nothing deletes the cluster",
            action="has a worker delete the cluster again",
            requested_by="operator@console",
            project_id=project,
            operation_id=filled.open_operation,
            state="succeeded",
            finished_at=DELETED_AT,
        )
    )
