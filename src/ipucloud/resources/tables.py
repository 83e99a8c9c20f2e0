"""The resources of projects: what clusters, reservations, volumes, snapshots and addresses have in common."""

from __future__ import annotations

import re
from enum import StrEnum

import sqlalchemy as sa

from ipucloud.db.base import instant, json_column, metadata, one_of, tenant_key


class ResourceKind(StrEnum):
    """What a project can hold and pay for."""

    CLUSTER = "cluster"
    RESERVATION = "reservation"
    VOLUME = "volume"
    SNAPSHOT = "snapshot"
    ADDRESS = "address"


class Dimension(StrEnum):
    """What a quantity counts."""

    MACHINE = "machine"
    GIB = "gib"
    ADDRESS = "address"


_DIMENSION = (
    "CASE WHEN kind IN ('volume', 'snapshot') THEN 'gib' WHEN kind = 'address' THEN 'address' ELSE 'machine' END"
)

resources = sa.Table(
    "resources",
    metadata,
    sa.Column("id", sa.Uuid, primary_key=True, comment="that of the noun's own row"),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    json_column("tags", default="'{}'"),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("sku", sa.Text, nullable=False, comment="that it is billed as"),
    sa.Column("currency", sa.Text, nullable=False),
    sa.Column("quantity", sa.Integer, comment="of the dimension; NULL: not known yet"),
    sa.Column("dimension", sa.Text, sa.Computed(_DIMENSION, persisted=True), comment="what the quantity counts"),
    sa.Column("flavor", sa.Text, comment="of a cluster or reservation"),
    sa.Column("machine_type", sa.Text, comment="of a cluster or reservation"),
    sa.Column("machine_ipus", sa.Integer, comment="IPUs of each machine of a cluster or reservation"),
    sa.Column("ends_at", sa.DateTime(timezone=True), comment="when it is to end by itself; NULL: never"),
    instant("created_at", default_now=True),
    instant("deleted_at"),
    tenant_key("resources"),
    sa.UniqueConstraint("project_id", "id"),
    one_of("kind", ResourceKind),
    sa.CheckConstraint("quantity > 0", name="quantity"),
    sa.CheckConstraint(
        "num_nulls(flavor, machine_type, machine_ipus) = CASE dimension WHEN 'machine' THEN 0 ELSE 3 END",
        name="machines",
    ),
    comment="what projects hold and may pay for; what differs between the kinds is in tables of their own",
)
# Those of clusters are unique by an index of their own, on which their creation relies.
sa.Index(
    "uq_resources_name",
    resources.c.project_id,
    resources.c.kind,
    resources.c.name,
    unique=True,
    postgresql_where=sa.text("deleted_at IS NULL AND kind IN ('volume', 'snapshot', 'address')"),
)

_COPIED = {
    **{name: f"NEW.{name}" for name in ("name", "tags", "region", "sku", "currency")},
    **dict.fromkeys(("quantity", "flavor", "machine_type", "machine_ipus", "ends_at"), "NULL"),
    **{name: f"NEW.{name}" for name in ("created_at", "deleted_at")},
}


def copied(table: str, kind: ResourceKind, **columns: str) -> tuple[str, str]:
    """Statements that have every row of `table` copied into `resources`, and every change of what is copied.

    `columns`: SQL of those of `resources` that are not columns of `NEW` with the same name.
    """
    values = _COPIED | columns
    names, listed = ", ".join(values), ", ".join(values.values())
    function = f"""
CREATE FUNCTION copy_resource_of_{table}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO resources (id, project_id, kind, {names})
    VALUES (NEW.id, NEW.project_id, '{kind}', {listed});
  ELSE
    UPDATE resources SET ({names})
      = ROW ({listed})
     WHERE id = NEW.id AND ({names})
       IS DISTINCT FROM ({listed});
  END IF;
  RETURN NEW;
END $$
"""  # noqa: S608  # our own text
    watched = ", ".join(sorted(set(re.findall(r"NEW\.(\w+)", listed))))
    trigger = f"""
CREATE TRIGGER {table}_resource BEFORE INSERT OR UPDATE OF {watched} ON {table}
FOR EACH ROW EXECUTE FUNCTION copy_resource_of_{table}()
"""
    return function, trigger
