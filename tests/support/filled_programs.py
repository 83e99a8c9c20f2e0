"""What ran on a filled cluster's server: a job, a service, a terminal, and its console."""

from __future__ import annotations

from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.tables import poplar_servers
from ipucloud.kernel.ids import new_id
from ipucloud.programs.consoles.tables import console_boots
from ipucloud.programs.jobs.tables import job_logs, jobs
from ipucloud.programs.services.tables import service_logs, service_request_totals, service_requests, services
from ipucloud.programs.terminals.tables import terminals
from tests.support.filled_names import READY_AT, Filled

_CHECK = ("interval_seconds", "timeout_seconds", "failures", "start_seconds")


async def fill_programs(connection: AsyncConnection, filled: Filled) -> None:
    """One row of each table at least."""
    await _console(connection)
    await _job(connection, filled)
    await _service(connection, filled)
    await _terminal(connection, filled)


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
    key = {"project_id": filled.project.id}
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
            **key,
        )
    )
    await connection.execute(sa.insert(job_logs).values(job_id=job, number=1, attempt=1, text="ok\n", **key))


async def _service(connection: AsyncConnection, filled: Filled) -> None:
    """A program that answers requests there."""
    server = sa.select(poplar_servers.c.id).where(poplar_servers.c.cluster_id == filled.cluster).limit(1)
    key = {"project_id": filled.project.id}
    service = new_id()
    served = {"name": "chat", "command": ["serve"], "port": 8000, "max_restarts": 10, "created_by": new_id()}
    served |= {"health_check": {"path": "/healthz"} | dict.fromkeys(_CHECK, 9), "checked_at": sa.func.app_now()}
    served |= {"id": service, "cluster_id": filled.cluster, "server_id": server.scalar_subquery(), **key}
    await connection.execute(sa.insert(services).values(served))
    await connection.execute(
        sa.insert(service_logs).values(service_id=service, number=1, attempt=1, text="up\n", **key)
    )
    counts = {"service_id": service, "requests": 1, "errors": 0, "seconds": 0.1, "buckets": [1, *[0] * 11], **key}
    await connection.execute(sa.insert(service_request_totals).values(counts))
    await connection.execute(sa.insert(service_requests).values(minute=datetime(2026, 3, 1, 12, tzinfo=UTC), **counts))


async def _terminal(connection: AsyncConnection, filled: Filled) -> None:
    server = sa.select(poplar_servers.c.id).where(poplar_servers.c.cluster_id == filled.cluster).limit(1)
    key = {"project_id": filled.project.id}
    await connection.execute(
        sa.insert(terminals).values(
            id=new_id(),
            cluster_id=filled.cluster,
            server_id=server.scalar_subquery(),
            public_key="ssh-ed25519 AAAA",
            created_by=new_id(),
            ended_by="shell",
            **dict.fromkeys(("key_until", "alive_at", "connected_at", "ended_at"), READY_AT),
            **key,
        )
    )
