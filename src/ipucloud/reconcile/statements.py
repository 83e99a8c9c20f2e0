"""The engine's SQL: claim, extend, finish, heartbeat, reap. Each is one statement and one round trip."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

import sqlalchemy as sa

from ipucloud.db.rows import Query


class Claimed(NamedTuple):
    """A work item under a new lease."""

    kind: str
    key: str
    project_id: UUID
    fence: int
    attempt: int


class Held(NamedTuple):
    """A work item whose lease was renewed."""

    kind: str
    key: str
    fence: int


# Projects take turns: starting after the project served last, stepping through the index finds up to :n projects with
# due work, and the oldest items of each are taken. A project with ten thousand items waits for its turn like a project
# with one.
#
# An item that kills its worker interrupts the passes beside it, and their attempts count as well. An item that failed
# twice is a suspect, and a worker has at most one suspect at a time (:suspects is 1 or 0): harmless items finish their
# pass and are cleared before the fifth attempt parks them.
CLAIM = Query(
    """
    WITH RECURSIVE due (project_id, turn) AS (
      (SELECT project_id, 1 FROM work
        WHERE project_id >= :first_project AND run_at <= app_now() AND lease_owner IS NULL AND kind = ANY (:kinds)
        ORDER BY project_id LIMIT 1)
      UNION ALL
      SELECT following.project_id, due.turn + 1
        FROM due, LATERAL (
          SELECT w.project_id FROM work w
           WHERE w.project_id > due.project_id AND w.kind = ANY (:kinds)
             AND w.run_at <= app_now() AND w.lease_owner IS NULL
           ORDER BY w.project_id LIMIT 1) AS following
       WHERE due.turn < :n
    ), candidate AS (
      SELECT oldest.kind, oldest.key, oldest.attempt > 1 AS suspect, due.turn,
             row_number() OVER (PARTITION BY due.project_id ORDER BY oldest.run_at) AS place
        FROM due, LATERAL (
          SELECT w.kind, w.key, w.run_at, w.attempt FROM work w
           WHERE w.project_id = due.project_id AND w.kind = ANY (:kinds)
             AND w.run_at <= app_now() AND w.lease_owner IS NULL
           ORDER BY w.run_at LIMIT :n) AS oldest
       ORDER BY place, turn LIMIT :n
    ), numbered AS (
      SELECT kind, key, suspect, row_number() OVER (PARTITION BY suspect ORDER BY place, turn) AS nth FROM candidate
    ), claimed AS (
      SELECT w.kind, w.key FROM work w JOIN numbered USING (kind, key)
       WHERE w.run_at <= app_now() AND w.lease_owner IS NULL AND (NOT numbered.suspect OR numbered.nth <= :suspects)
       FOR UPDATE OF w SKIP LOCKED
    )
    UPDATE work w
       SET lease_owner = :owner, lease_until = app_now() + make_interval(secs => :lease), fence = w.fence + 1,
           claimed_seq = w.wake_seq, attempt = w.attempt + 1
      FROM claimed WHERE w.kind = claimed.kind AND w.key = claimed.key
    RETURNING w.kind, w.key, w.project_id, w.fence, w.attempt
    """,
    Claimed,
)

EXTEND = sa.text(
    """
    UPDATE work SET lease_until = app_now() + make_interval(secs => :lease), claimed_seq = wake_seq, attempt = 0
     WHERE kind = :kind AND key = :key AND fence = :fence AND lease_owner = :owner
    """
)

FINISH = sa.text(
    """
    UPDATE work
       SET lease_owner = NULL, lease_until = NULL, last_error = :error, attempt = :attempt,
           parked_at = CASE WHEN :parked AND wake_seq = claimed_seq THEN app_now() END,
           run_at = CASE WHEN wake_seq <> claimed_seq THEN app_now()
                         ELSE app_now() + make_interval(secs => CAST(:wait AS double precision)) END
     WHERE kind = :kind AND key = :key AND fence = :fence AND lease_owner = :owner
    """
).bindparams(sa.bindparam("error", type_=sa.Text), sa.bindparam("parked", type_=sa.Boolean))

# Only leases of passes that run are renewed: one that could not be given back has to end, and its item to be freed.
# Rows that another transaction has locked are skipped, here and in REAP: one stalled transaction must not keep a worker
# from its other items. A lease has three heartbeats.
HEARTBEAT = Query(
    """
    WITH held AS (
      SELECT w.kind, w.key FROM work AS w
        JOIN unnest(CAST(:kinds AS text[]), CAST(:keys AS text[]), CAST(:fences AS bigint[]))
          AS running (kind, key, fence) USING (kind, key, fence)
       WHERE w.lease_owner = :owner FOR NO KEY UPDATE OF w SKIP LOCKED
    )
    UPDATE work w SET lease_until = app_now() + make_interval(secs => :lease)
      FROM held WHERE w.kind = held.kind AND w.key = held.key
    RETURNING w.kind, w.key, w.fence
    """,
    Held,
)

# A worker holds a session advisory lock under its owner number; PostgreSQL releases it with the connection, so the
# leases of a killed worker can be freed at once. The lease's end covers frozen workers, which keep their lock.
REAP = sa.text(
    """
    WITH lost AS (
      SELECT kind, key FROM work
       WHERE lease_owner IS NOT NULL
         AND (lease_until < app_now() OR lease_owner IN (
           SELECT owner FROM (SELECT DISTINCT lease_owner AS owner FROM work WHERE lease_owner IS NOT NULL) AS held
            WHERE NOT EXISTS (
              SELECT 1 FROM pg_locks
               WHERE locktype = 'advisory' AND objsubid = 1 AND granted
                 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                 AND (classid::bigint << 32 | objid::bigint) = owner)))
         FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE work w SET lease_owner = NULL, lease_until = NULL, run_at = app_now()
      FROM lost WHERE w.kind = lost.kind AND w.key = lost.key
    """
)

COUNT_ONE_LESS = sa.text("UPDATE work SET attempt = greatest(attempt - 1, 0) WHERE kind = :kind AND key = :key")
