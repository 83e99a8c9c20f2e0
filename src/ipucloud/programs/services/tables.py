"""Services, and what their programs wrote."""

from __future__ import annotations

from typing import Any, get_args

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql

from ipucloud.contract.services import ServiceEndedBy, ServiceState
from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key
from ipucloud.programs.tables import log_read, log_table, placed, requested, rules, started_as, state_of

services = sa.Table(
    "services",
    metadata,
    *placed(),
    sa.Column("name", sa.Text, nullable=False),
    *started_as(),
    sa.Column("port", sa.Integer, nullable=False),
    sa.Column("max_restarts", sa.Integer, nullable=False),
    sa.Column("health_check", postgresql.JSONB(none_as_null=True), comment="as requested"),
    instant("checked_at"),
    sa.Column("checks_failed", sa.Integer, nullable=False, server_default="0", comment="in a row"),
    sa.Column("check_detail", sa.Text, comment="what was wrong at the last check"),
    instant("unhealthy_at"),
    *state_of("starting"),
    sa.Column("attempt", sa.Integer, nullable=False, server_default="1"),
    sa.Column("failures", sa.Integer, nullable=False, server_default="0", comment="in a row"),
    sa.Column("exit_status", sa.Integer, comment="of the start before"),
    instant("next_start_at", default_now=True),
    instant("sent_at"),
    instant("started_at"),
    *log_read(),
    instant("stop_requested_at"),
    sa.Column(
        "successor",
        postgresql.JSONB(none_as_null=True),
        comment="the row that follows under its name when it has ended",
    ),
    *requested(),
    instant("ended_at"),
    instant("observed_at"),
    *rules("services", ended=("failed", "stopped")),
    one_of("state", ServiceState),
    one_of("ended_by", get_args(ServiceEndedBy)),
    sa.CheckConstraint("port BETWEEN 1024 AND 65535", name="port"),
    sa.CheckConstraint("failures BETWEEN 0 AND max_restarts + 1", name="failures"),
    sa.CheckConstraint("checks_failed >= 0", name="checks_failed"),
    sa.CheckConstraint(
        "health_check IS NOT NULL OR (checked_at IS NULL AND unhealthy_at IS NULL AND checks_failed = 0)",
        name="checked_if_asked",
    ),
    sa.CheckConstraint("successor IS NULL OR stop_requested_at IS NOT NULL", name="succeeded_when_stopped"),
    comment="programs that are kept running",
)
sa.Index("ix_services_cluster", services.c.project_id, services.c.cluster_id, services.c.created_at, services.c.id)
_LIVE = sa.text("ended_at IS NULL")
sa.Index("uq_services_name", services.c.cluster_id, services.c.name, unique=True, postgresql_where=_LIVE)
sa.Index("uq_services_port", services.c.server_id, services.c.port, unique=True, postgresql_where=_LIVE)
sa.Index("ix_services_server", services.c.project_id, services.c.server_id)

service_logs = log_table(
    "service_logs", "service_id", "services", comment="what programs wrote, in order; the newest parts"
)


def _counts() -> tuple[sa.Column[Any], ...]:
    """How many requests, and how long their answers took."""
    return (
        sa.Column("requests", sa.BigInteger, nullable=False),
        sa.Column("errors", sa.BigInteger, nullable=False, comment="answered with a status from 500 on, or not at all"),
        sa.Column("seconds", sa.Double, nullable=False, comment="until the answers began, together"),
        sa.Column(
            "buckets",
            postgresql.ARRAY(sa.BigInteger),
            nullable=False,
            comment="answers within each of the bounds, and the others",
        ),
    )


service_requests = sa.Table(
    "service_requests",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("service_id", sa.Uuid, primary_key=True),
    sa.Column("minute", sa.DateTime(timezone=True), primary_key=True),
    *_counts(),
    tenant_key("service_requests"),
    same_project("service_requests", "service_id", "services"),
    comment="requests that the API has forwarded, by the minute in which they were written",
)
sa.Index("ix_service_requests_minute", service_requests.c.minute)

service_request_totals = sa.Table(
    "service_request_totals",
    metadata,
    sa.Column("project_id", sa.Uuid, primary_key=True),
    sa.Column("service_id", sa.Uuid, primary_key=True),
    *_counts(),
    tenant_key("service_request_totals"),
    same_project("service_request_totals", "service_id", "services"),
    comment="the same of all time",
)
