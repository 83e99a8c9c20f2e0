"""What an id or a name is: every object of the service that has it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import NamedTuple
from uuid import UUID

from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.db.statements import Statements
from ipucloud.identity.access import is_project_id
from ipucloud.kernel.ids import read_external_name


def _objects(
    kind: str,
    table: str,
    *,
    id: str = "id",  # noqa: A002  # it is the column of that name
    project: str = "project_id",
    name: str = "NULL",
    state: str = "NULL",
    created: str = "created_at",
    where: str = "id = CAST(:id AS uuid)",
) -> str:
    """The objects of a table by id, or by `where` in which `:name` is what was asked for."""
    return clauses(
        f"SELECT '{kind}' AS kind, {id}::text AS object_id, {project}::uuid AS project_id, {name}::text AS name,",
        f"{state}::text AS state, {created}::timestamptz AS created_at FROM {table} WHERE {where}",
    )


_BY_ID_OR_NAME = "(id = CAST(:id AS uuid) OR name = :name)"
_BY_SERIAL = (
    "name IN (SELECT name FROM shown_hardware WHERE kind = '{}'"
    " AND (serial = :name OR position(':' || to_json(CAST(:name AS text))::text IN part_serials) > 0))"
)
_OBJECTS = (
    _objects(
        "project",
        "projects",
        project="id",
        name="slug",
        state="CASE WHEN deleted_at IS NULL THEN 'active' ELSE 'deleted' END",
        where="(id = CAST(:id AS uuid) OR slug = :name OR number::text = :name)",
    ),
    _objects(
        "cluster",
        "clusters",
        name="name",
        state="state",
        where="(id = CAST(:id AS uuid) OR id = CAST(:built_for AS uuid))",
    ),
    _objects("operation", "operations", name="kind", state="state"),
    _objects("partition", "partitions", name="name", state="state"),
    _objects("poplar_server", "poplar_servers", name="name", state="state", created="NULL"),
    _objects("pod", "pods", project="NULL", name="name", created="NULL", where=_BY_ID_OR_NAME),
    *(
        _objects(
            kind,
            f"{kind}s",
            project="NULL",
            name="name",
            state="health",
            created="NULL",
            where=f"({_BY_ID_OR_NAME} OR {_BY_SERIAL.format(kind)})",
        )
        for kind in ("machine", "host")
    ),
    _objects(
        "allocation",
        "allocations",
        state="CASE WHEN freed_at IS NOT NULL THEN 'freed' WHEN released_at IS NULL THEN 'held' ELSE 'cleaning' END",
    ),
    _objects(
        "health_report",
        "health_reports",
        project="NULL",
        name="code",
        state="CASE WHEN cleared_at IS NULL THEN 'live' ELSE 'cleared' END",
        created="first_seen_at",
    ),
    _objects("job", "jobs", name="number::text", state="state"),
    _objects("service", "services", name="name", state="state"),
    _objects("fault_report", "fault_reports", name="name", state="state"),
    _objects("quota_request", "quota_requests", name="machine_type", state="state"),
    _objects("reservation", "reservations", name="name", state="state"),
    _objects("volume", "volumes", name="name", state="state"),
    _objects("snapshot", "snapshots", name="name", state="state"),
    _objects("address", "addresses", name="name", state="state"),
    _objects("token", "tokens", name="name", state="CASE WHEN revoked_at IS NULL THEN role ELSE 'revoked' END"),
    _objects("ssh_key", "ssh_keys", name="name"),
    _objects("webhook", "webhooks", name="url", state="disabled"),
    _objects("webhook_delivery", "webhook_deliveries", name="type", state="state"),
    _objects("billing_account", "billing_accounts", project="NULL", name="name"),
    _objects("budget", "budgets", name="name"),
    _objects(
        "invoice",
        "invoices",
        project="NULL",
        name="number",
        created="issued_at",
        where="(id = CAST(:id AS uuid) OR number = :name)",
    ),
    _objects("payment", "payments", project="NULL"),
    _objects("export", "exports"),
    _objects("s3_connection", "s3_connections", name="name"),
    _objects("repair", "repairs", name="rule", state="state", created="started_at"),
    _objects("usage_interval", "usage_intervals", created="started_at"),
    clauses(
        "(SELECT 'request', request_id, project_id, NULL, NULL, created_at FROM operations WHERE request_id = :name",
        "ORDER BY created_at LIMIT 1)",
    ),
)
COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "project": "ipucloud projects list",
        "cluster": "ipucloud clusters show {id} --project {project}",
        "operation": "ipucloud operations show {id} --project {project}",
        "machine": "ipucloud admin machines show {name}",
        "host": "ipucloud admin hosts show {name}",
        "health_report": "ipucloud admin reports show {id}",
        "fault_report": "ipucloud admin fault-reports show {id}",
        "quota_request": "ipucloud admin quota-requests show {id}",
        "reservation": "ipucloud reservations show {id} --project {project}",
        "volume": "ipucloud volumes show {id} --project {project}",
        "snapshot": "ipucloud snapshots show {id} --project {project}",
        "address": "ipucloud addresses show {id} --project {project}",
        "pod": "ipucloud admin machines list --pod {name}",
        "webhook": "ipucloud webhooks show {id} --project {project}",
        "billing_account": "ipucloud accounts show {id}",
        "budget": "ipucloud budgets list --project {project}",
        "export": "ipucloud exports list --project {project}",
        "request": "ipucloud admin requests show {id}",
    }
)


class Found(NamedTuple):
    """An object that has the id or name."""

    kind: str
    object_id: str
    project: str | None
    name: str | None
    state: str | None
    created_at: datetime | None

    @property
    def commands(self) -> list[str]:
        """Commands that show more of it."""
        known = COMMANDS.get(self.kind)
        words = {"id": self.object_id, "name": self.name, "project": self.project}
        return [] if known is None or (self.project is None and "{project}" in known) else [known.format(**words)]


_FIND = Query(
    clauses(
        "SELECT kind, object_id, projects.slug AS project, objects.name, state, objects.created_at FROM (",
        " UNION ALL ".join(_OBJECTS),
        ") AS objects LEFT JOIN projects ON projects.id = objects.project_id ORDER BY kind, object_id LIMIT 100",
    ),
    Found,
)


async def find(connection: Statements, name: str) -> list[Found]:
    """Every object with this id or name; the cluster, for a name of something that was built for it at a site."""
    id_ = UUID(name) if is_project_id(name) else None
    built_for = read_external_name("-".join(name.split("-")[:2]))
    return await _FIND.all(
        connection, {"id": id_, "name": name, "built_for": None if built_for is None else built_for[0]}
    )
