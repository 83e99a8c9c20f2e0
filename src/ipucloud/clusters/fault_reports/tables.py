"""Faults that customers reported."""

from __future__ import annotations

from typing import get_args

import sqlalchemy as sa

from ipucloud.contract.fault_reports import FaultCategory, FaultReportState
from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key

fault_reports = sa.Table(
    "fault_reports",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("machine_id", sa.Uuid, sa.ForeignKey("machines.id", name="fk_fault_reports_machine_id")),
    sa.Column("host_id", sa.Uuid, sa.ForeignKey("hosts.id", name="fk_fault_reports_host_id")),
    sa.Column("name", sa.Text, nullable=False, comment="of the machine or Poplar server, when it was reported"),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("description", sa.Text, nullable=False),
    sa.Column("since", sa.DateTime(timezone=True), comment="as the customer says; nothing is computed from it"),
    sa.Column("state", sa.Text, nullable=False, server_default="open"),
    sa.Column("created_by", sa.Uuid, nullable=False, comment="token"),
    instant("created_at", default_now=True),
    sa.Column("answer", sa.Text, comment="the operator's, for the customer"),
    sa.Column("answered_by", sa.Uuid, comment="token"),
    instant("answered_at"),
    sa.Column("report_id", sa.Uuid, sa.ForeignKey("health_reports.id", name="fk_fault_reports_report_id")),
    instant("repaired_at"),
    instant("closed_at"),
    tenant_key("fault_reports"),
    same_project("fault_reports", "cluster_id", "clusters"),
    one_of("state", FaultReportState),
    one_of("category", get_args(FaultCategory)),
    sa.CheckConstraint("num_nonnulls(machine_id, host_id) = 1", name="one_object"),
    sa.CheckConstraint(
        "num_nulls(answer, answered_by, answered_at) = CASE WHEN state = 'open' THEN 3 ELSE 0 END", name="answered"
    ),
    sa.CheckConstraint("(report_id IS NOT NULL) = (state IN ('confirmed', 'repaired', 'closed'))", name="confirmed"),
    sa.CheckConstraint("(repaired_at IS NOT NULL) = (state = 'repaired')", name="repaired"),
    sa.CheckConstraint("(closed_at IS NOT NULL) = (state = 'closed')", name="closed"),
)
sa.Index(
    "uq_fault_reports_unsettled",
    fault_reports.c.cluster_id,
    fault_reports.c.machine_id,
    fault_reports.c.host_id,
    unique=True,
    postgresql_nulls_not_distinct=True,
    postgresql_where=sa.text("state IN ('open', 'confirmed')"),
)
sa.Index("ix_fault_reports_project", fault_reports.c.project_id, fault_reports.c.created_at, fault_reports.c.id)
sa.Index(
    "ix_fault_reports_cluster",
    fault_reports.c.project_id,
    fault_reports.c.cluster_id,
    fault_reports.c.created_at,
    fault_reports.c.id,
)
sa.Index(
    "ix_fault_reports_machine", fault_reports.c.machine_id, postgresql_where=fault_reports.c.machine_id.is_not(None)
)
sa.Index("ix_fault_reports_host", fault_reports.c.host_id, postgresql_where=fault_reports.c.host_id.is_not(None))
sa.Index("ix_fault_reports_report", fault_reports.c.report_id, postgresql_where=fault_reports.c.report_id.is_not(None))
