"""Who waits for capacity, in which order, and what a tenant is shown of it."""

from __future__ import annotations

from ipucloud.db.roles import TENANT_ROLE

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
