"""Changing a cluster's name, settings, SSH keys and what else is brought to its servers."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import orjson
import sqlalchemy as sa
from psycopg import errors as pg_errors
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters import allowed_sources
from ipucloud.clusters.cost_limits.store import count
from ipucloud.clusters.locks import LockedCluster, lock_cluster
from ipucloud.clusters.operations.create import name_taken
from ipucloud.clusters.operations.update_keys import change_keys
from ipucloud.clusters.repairs.reschedule import withdraw
from ipucloud.clusters.s3_access import attach
from ipucloud.clusters.schedules.store import set_schedule
from ipucloud.contract.clusters import ClusterPatch, ClusterState
from ipucloud.db.documents import Fragment, clauses
from ipucloud.db.rows import Query
from ipucloud.events.log import RECORD
from ipucloud.kernel.actor import Actor
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem
from ipucloud.kernel.sealing import Keys

KEYS = "ssh_keys"
S3 = "s3_connections"
SOURCES = "allowed_sources"
_KEEPS_IN_USE = frozenset({"expires_at", "idle_suspend_minutes", "schedule"})
"""What decides how long a cluster is in use: who changes it answers for what that costs."""
MAY_EXPIRE = Fragment("NOT delete_protection AND state NOT IN ('deleting', 'deleted')")
"""Whether a cluster is deleted when its `expires_at` has come."""
_WARNED = Query(
    f"""
    UPDATE clusters SET expiry_warned_at = app_now()
     WHERE project_id = :project_id AND id = :cluster_id AND expires_at > app_now()
       AND expires_at <= app_now() + :notice AND expiry_warned_at IS NULL AND {MAY_EXPIRE}
    RETURNING expires_at::text
    """,  # noqa: S608  # our own text
    str,
)
_UPDATE = Query(
    clauses(
        """
    WITH cluster AS (
      UPDATE clusters
         SET name = :name, tags = CAST(:tags AS jsonb), delete_protection = :delete_protection,
             expiry_warned_at = CASE WHEN expires_at IS NOT DISTINCT FROM :expires_at THEN expiry_warned_at END,
             idle_counted_from = CASE WHEN idle_suspend_minutes IS DISTINCT FROM :idle_suspend_minutes
                                      THEN app_now() ELSE idle_counted_from END,
             idle_suspend_minutes = :idle_suspend_minutes, expires_at = :expires_at, auto_repair = :auto_repair,
             repair_window = CAST(:repair_window AS jsonb), version = version + 1
       WHERE project_id = :project_id AND id = :cluster_id
      RETURNING id, project_id, version
    ), event AS (
        """,
        RECORD,
        """
      SELECT project_id, 'cluster.updated', 'cluster', id, NULL, :request_id,
             jsonb_build_object('fields', CAST(:fields AS text[]))
        FROM cluster
    )
    SELECT version FROM cluster
        """,
    ),
    int,
)


async def update(
    connection: AsyncConnection,
    actor: Actor,
    cluster_id: UUID,
    *,
    body: ClusterPatch,
    if_match: int | None,
    sealing: Keys | None = None,
) -> int:
    """Change the given fields; returns the cluster's version afterwards.

    A request that changes nothing keeps the version and records no event. A repair that is scheduled is scheduled anew
    by the next run of the task when its settings change. Keys are brought to the servers by an operation. Raises
    `Problem`: not_found, precondition_failed, state_conflict for a deleted cluster, name_taken, validation_failed; for
    keys also operation_in_progress. `sealing` encrypts the SSH authority of a project that has none.
    """
    cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
    cluster.require_version(if_match)
    if cluster.state is ClusterState.DELETED:
        raise Problem(STATE_CONFLICT, "The cluster is deleted. It can still be read, but not changed.")
    _check_expiry(cluster, body)
    before = {name: getattr(cluster, name) for name in ClusterPatch.model_fields if name not in {KEYS, S3}}
    after = before | body.model_dump(include=body.model_fields_set - {KEYS, S3}) | _schedule(body)
    changed = [name for name in before if after[name] != before[name]]
    changed += await _brought(connection, actor, cluster, body, sealing)
    if SOURCES in changed:
        await allowed_sources.change(connection, after[SOURCES], project_id=actor.project_id, cluster_id=cluster_id)
    if not changed:
        return cluster.version
    parameters = {
        "project_id": actor.project_id,
        "cluster_id": cluster_id,
        "request_id": actor.request_id,
        "fields": changed,
        **{name: value for name, value in after.items() if name not in {"schedule", SOURCES}},
        "tags": orjson.dumps(after["tags"]).decode(),
        "repair_window": None if after["repair_window"] is None else orjson.dumps(after["repair_window"]).decode(),
    }
    try:
        version = await _UPDATE.one(connection, parameters)
    except sa.exc.IntegrityError as error:
        if isinstance(error.orig, pg_errors.UniqueViolation):
            raise name_taken() from error
        raise
    if "schedule" in changed:
        await set_schedule(connection, project_id=actor.project_id, cluster_id=cluster_id, schedule=body.schedule)
    if _KEEPS_IN_USE & set(changed):
        await count(connection, actor, cluster_id)
    if {"auto_repair", "repair_window"} & set(changed):
        await withdraw(connection, project_id=actor.project_id, cluster_id=cluster_id)
        cluster = await lock_cluster(connection, project_id=actor.project_id, cluster_id=cluster_id)
        return cluster.version
    return version


async def _brought(
    connection: AsyncConnection, actor: Actor, cluster: LockedCluster, body: ClusterPatch, sealing: Keys | None
) -> list[str]:
    """Which of the keys and S3 connections are other ones from now on."""
    changed = []
    if body.ssh_keys is not None and await change_keys(connection, actor, cluster, body.ssh_keys, sealing=sealing):
        changed.append(KEYS)
    if body.s3_connections is not None and await attach(
        connection, body.s3_connections, project_id=actor.project_id, cluster_id=cluster.id
    ):
        changed.append(S3)
    return changed


def _schedule(body: ClusterPatch) -> dict[str, object]:
    """The schedule that was sent, as it is read back."""
    if "schedule" not in body.model_fields_set:
        return {}
    return {"schedule": body.schedule and body.schedule.model_dump(mode="json")}


def _check_expiry(cluster: LockedCluster, body: ClusterPatch) -> None:
    if body.expires_at is not None and body.expires_at <= cluster.now:
        fault = FieldError("/expires_at", "not_in_future", "Choose an instant in the future.")
        raise Problem(
            VALIDATION_FAILED, "The cluster cannot be changed like this; `errors` lists the reasons.", [fault]
        )


async def note_expiry_warning(connection: AsyncConnection, cluster: LockedCluster, notice: timedelta) -> bool:
    """Whether the customer is to be warned now: the cluster expires within `notice`, and no warning was given yet."""
    parameters = {"project_id": cluster.project_id, "cluster_id": cluster.id, "notice": notice}
    return await _WARNED.one_or_none(connection, parameters) is not None
