"""Usage intervals. With the prices, they are the only inputs of a bill."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql as pg

from ipucloud.db.base import instant, make_with, metadata, same_project, tenant_key

MINUTES_BEFORE = """
CREATE FUNCTION minutes_before(origin timestamptz, instant timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN instant <= origin THEN 0 ELSE ceil(date_part('epoch', instant - origin) / 60)::integer END
$$
"""
"""How many minutes of a life that began at `origin` started before `instant`.

Minute n starts at origin + n x 60 s. Instants are whole seconds; a quotient by 60 that is whole is exact.
"""

MINUTES_BETWEEN = """
CREATE FUNCTION minutes_between(origin timestamptz, since timestamptz, until timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT greatest(0, minutes_before(origin, until) - minutes_before(origin, since))
$$
"""
"""How many minutes of a lifetime from `origin` started in [since, until).

The parts of a divided lifetime therefore sum to exactly ceil(lifetime / 60 s) minutes.
"""

FINAL_INTERVAL = """
CREATE FUNCTION refuse_change_of_ended_interval() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM cluster_lives
              WHERE project_id = OLD.project_id AND id = OLD.resource_id AND ready_at IS NULL) THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'usage interval % has ended and never changes', OLD.id
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""
"""An interval that has ended is final, once its cluster was ready: what one costs that never is comes to nothing."""

FINAL_INTERVAL_TRIGGER = """
CREATE TRIGGER usage_intervals_final BEFORE UPDATE ON usage_intervals FOR EACH ROW
WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_interval()
"""
NOTE_LATE_USAGE = """
CREATE FUNCTION note_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('usage', NEW.started_at, NEW.ended_at);
  ELSE
    PERFORM note_dirty_hours('usage', least(OLD.ended_at, NEW.ended_at),
                             greatest(coalesce(OLD.ended_at, 'infinity'), coalesce(NEW.ended_at, 'infinity')));
  END IF;
  RETURN NULL;
END $$
"""
NOTE_LATE_USAGE_TRIGGER = """
CREATE TRIGGER usage_intervals_late AFTER INSERT OR UPDATE ON usage_intervals FOR EACH ROW
EXECUTE FUNCTION note_late_usage()
"""


usage_intervals = sa.Table(
    "usage_intervals",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("resource_id", sa.Uuid, nullable=False, comment="the resource that is billed"),
    sa.Column("sku", sa.Text, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("quantity", sa.Integer, nullable=False, comment="of the resource's dimension"),
    sa.Column(
        "credited", sa.Integer, nullable=False, server_default="0", comment="machines of them that are not billed"
    ),
    instant("anchor_at", nullable=False),
    instant("started_at", nullable=False),
    instant("ended_at"),
    sa.Column(
        "flavor", sa.Text, nullable=False, comment="of a cluster or reservation, at that time; otherwise the SKU"
    ),
    tenant_key("usage_intervals"),
    same_project("usage_intervals", "resource_id", "resources"),
    sa.CheckConstraint("quantity > 0", name="quantity"),
    sa.CheckConstraint("credited BETWEEN 0 AND quantity", name="credited"),
    sa.UniqueConstraint("project_id", "id", name="uq_usage_intervals_project_id_id"),
    sa.CheckConstraint("anchor_at <= started_at AND started_at <= ended_at", name="order"),
    sa.CheckConstraint(
        "date_trunc('second', anchor_at, 'UTC') = anchor_at AND date_trunc('second', started_at, 'UTC') = started_at"
        " AND date_trunc('second', ended_at, 'UTC') = ended_at",
        name="whole_seconds",
    ),
    pg.ExcludeConstraint(
        (sa.text("textrange(resource_id::text, resource_id::text, '[]')"), "&&"),
        (sa.text("tstzrange(started_at, ended_at)"), "&&"),
        name="ex_usage_intervals_no_overlap",
        using="gist",
    ),
)
sa.Index("ix_usage_intervals_resource", usage_intervals.c.project_id, usage_intervals.c.resource_id)
sa.Index(
    "uq_usage_intervals_open",
    usage_intervals.c.resource_id,
    unique=True,
    postgresql_where=usage_intervals.c.ended_at.is_(None),
)

sa.Index("ix_usage_intervals_credited", usage_intervals.c.id, postgresql_where=usage_intervals.c.credited > 0)
sa.Index("ix_usage_intervals_started", usage_intervals.c.started_at)
sa.Index("ix_usage_intervals_ended", usage_intervals.c.ended_at)

usage_credits = sa.Table(
    "usage_credits",
    metadata,
    sa.Column("interval_id", sa.Uuid, primary_key=True),
    sa.Column("report_id", sa.Uuid, sa.ForeignKey("health_reports.id"), primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    instant("cited_at", default_now=True),
    tenant_key("usage_credits"),
    same_project("usage_credits", "interval_id", "usage_intervals"),
    comment="append-only; the health reports for which an interval's machines are not billed",
)
sa.Index("ix_usage_credits_report", usage_credits.c.report_id)
sa.Index("ix_usage_credits_project", usage_credits.c.project_id, usage_credits.c.interval_id)

make_with(
    usage_intervals,
    MINUTES_BEFORE,
    MINUTES_BETWEEN,
    FINAL_INTERVAL,
    FINAL_INTERVAL_TRIGGER,
    NOTE_LATE_USAGE,
    NOTE_LATE_USAGE_TRIGGER,
)
