"""Operations on clusters that wait for capacity, or have waited, and what wakes their queue."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.base import instant, metadata, one_of, same_project, tenant_key
from ipucloud.db.tenancy import TENANT_ROLE

WAITING = """
  FROM capacity_waits AS w JOIN operations AS o ON (o.project_id, o.id) = (w.project_id, w.operation_id)
 WHERE w.granted_at IS NULL AND o.finished_at IS NULL AND NOT o.undoing AND o.state <> 'cancelling'
   AND w.until > app_now()
"""
PLACES = f"""
SELECT project_id, cluster_id, operation_id, kind, region, machine_type, machines, preemptible, since, until,
       looked_at, held_up_by, row_number() OVER (
         PARTITION BY region, machine_type
             ORDER BY preemptible, nth, greatest(since, served_at), since, cluster_id) AS place
  FROM (SELECT w.project_id, w.cluster_id, w.operation_id, w.kind, w.region, w.machine_type, w.machines, w.preemptible,
               w.since, w.until, w.looked_at, w.held_up_by,
               row_number() OVER (PARTITION BY w.region, w.machine_type, w.preemptible, w.project_id
                                      ORDER BY w.since, w.cluster_id) AS nth,
               (SELECT max(granted_at) FROM capacity_waits AS served
                 WHERE (served.region, served.machine_type, served.project_id)
                     = (w.region, w.machine_type, w.project_id)) AS served_at
          {WAITING}) AS mine
"""  # noqa: S608  # our own text

SHOWN_WAITS = f"""
CREATE VIEW shown_waits AS
SELECT waits.project_id, waits.cluster_id, place, since, until, held_up_by, looked_at, machines,
       (SELECT min(c.expires_at) FROM clusters AS c
         WHERE c.region = waits.region AND c.machine_type = waits.machine_type AND c.deleted_at IS NULL
           AND NOT c.delete_protection AND c.expires_at > app_now() AND c.id <> waits.cluster_id
           AND c.machines >= waits.machines AND waits.place = 1 AND waits.held_up_by IS NULL) AS expected_at
  FROM ({PLACES}) AS waits
 WHERE current_user <> '{TENANT_ROLE}' OR waits.project_id = tenant_id()
"""  # noqa: S608  # our own text
"""The places in the queues, and when the next known expiry makes room.

Both depend on the clusters of all projects, so the view reads as its owner; a tenant is shown the rows of its project.
"""


SERVE_TASK = "serve_waiting_clusters"
"""Name of the periodic task that serves the queues."""

capacity_waits = sa.Table(
    "capacity_waits",
    metadata,
    sa.Column("operation_id", sa.Uuid, primary_key=True),
    sa.Column("project_id", sa.Uuid, nullable=False),
    sa.Column("cluster_id", sa.Uuid, nullable=False),
    sa.Column("region", sa.Text, nullable=False),
    sa.Column("machine_type", sa.Text, nullable=False),
    sa.Column("preemptible", sa.Boolean, nullable=False, server_default=sa.false(), comment="as the cluster is"),
    instant("since", nullable=False),
    instant("until", nullable=False),
    instant("granted_at"),
    instant("looked_at"),
    sa.Column("held_up_by", sa.Text, comment="code of the problem, if it is another than the lack of capacity"),
    sa.Column("kind", sa.Text, nullable=False, comment="of the operation"),
    sa.Column("machines", sa.Integer, nullable=False, comment="that the cluster is to have; of a resize its new size"),
    tenant_key("capacity_waits"),
    same_project("capacity_waits", "cluster_id", "clusters"),
    same_project("capacity_waits", "operation_id", "operations"),
    one_of("kind", ("cluster.create", "cluster.resume", "cluster.resize")),
    sa.CheckConstraint("until > since", name="until"),
    comment="operations that wait for machines; they hold none of those, and no quota for them, until granted_at",
)
sa.Index("ix_capacity_waits_operation", capacity_waits.c.project_id, capacity_waits.c.operation_id)
sa.Index("ix_capacity_waits_cluster", capacity_waits.c.project_id, capacity_waits.c.cluster_id)
sa.Index("ix_capacity_waits_queue", capacity_waits.c.region, capacity_waits.c.machine_type, capacity_waits.c.project_id)

WAKE_THOSE_THAT_WAIT = f"""
CREATE FUNCTION wake_those_that_wait() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM capacity_waits WHERE granted_at IS NULL AND until > app_now()) THEN
    UPDATE work SET wake_seq = wake_seq + 1, run_at = least(run_at, app_now())
     WHERE kind = 'periodic' AND key = '{SERVE_TASK}';
  END IF;
  RETURN NULL;
END
$$
"""  # noqa: S608  # our own text
"""Have the queues served as soon as the transaction commits. Its triggers are deferred: the row of the task, which all
releases share, is the last that they lock. An operation that ends may have waited, whatever ended it, or kept a resize
from its turn."""


def _wakes(table: str, when: str) -> str:
    return (
        f"CREATE CONSTRAINT TRIGGER {table}_wake_those_that_wait AFTER UPDATE ON {table} DEFERRABLE INITIALLY DEFERRED"
        f" FOR EACH ROW WHEN ({when}) EXECUTE FUNCTION wake_those_that_wait()"
    )


TRIGGERS = (
    _wakes("pods", "NEW.free_mask & ~OLD.free_mask <> 0"),
    _wakes("hosts", "NEW.allocatable AND NOT NEW.held AND (OLD.held OR NOT OLD.allocatable)"),
    _wakes("operations", "NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL"),
    _wakes("quotas", "NEW.machine_limit - NEW.used > OLD.machine_limit - OLD.used"),
)


@sa.event.listens_for(metadata, "after_create")
def _make_triggers(_metadata: object, connection: sa.Connection, **_options: object) -> None:
    """They, and the view, are on tables of other packages, which are all there by now."""
    for statement in (WAKE_THOSE_THAT_WAIT, *TRIGGERS, SHOWN_WAITS):
        connection.execute(sa.text(statement))
