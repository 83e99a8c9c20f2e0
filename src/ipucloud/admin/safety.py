"""Freezes of removals; and what the last sweep found at the sites against a rule, and why it left what it left."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import orjson
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.admin.pages import keyed_page
from ipucloud.contract.event_payloads.platform import FreezeOf
from ipucloud.contract.event_types.platform import FREEZE_ENDED, FREEZE_STARTED
from ipucloud.db.documents import clauses, rfc3339
from ipucloud.db.rows import Query
from ipucloud.events.log import record_for_operators
from ipucloud.kernel.errors import STATE_CONFLICT, VALIDATION_FAILED, FieldError, Problem, not_found
from ipucloud.operations.freezes import Freeze, end_freeze, freeze

log = structlog.get_logger(__name__)


_FREEZES = """
SELECT to_char(created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISSUS') || ' ' || id AS key, freezes.*,
       CASE WHEN least(ended_at, app_now()) >= expires_at THEN 'expired' WHEN ended_at IS NULL THEN 'live'
            ELSE 'ended' END AS state
  FROM freezes
"""
_MEMBERS = f"""
'id', page.id, 'region', page.region, 'state', page.state, 'reason', page.reason, 'created_by', page.created_by,
'created_at', {rfc3339("page.created_at")}, 'expires_at', {rfc3339("page.expires_at")},
'ended_at', {rfc3339("page.ended_at")}, 'ended_by', page.ended_by, 'end_reason', page.end_reason
"""
LIST_FREEZES = keyed_page(
    clauses(
        "SELECT * FROM (",
        _FREEZES,
        """
        ) AS freezes
        WHERE (CAST(:state AS text) IS NULL OR state = CAST(:state AS text))
          AND (CAST(:region AS text) IS NULL OR coalesce(region, CAST(:region AS text)) = CAST(:region AS text))
        """,
    ),
    _MEMBERS,
)
"""The oldest first. Parameters `:state` and `:region`, or NULL for all."""
GET_FREEZE = Query(
    clauses(
        "SELECT json_build_object(", _MEMBERS, ")::text AS document FROM (", _FREEZES, ") AS page WHERE id = :freeze_id"
    ),
    str,
)
_NOW = Query("SELECT app_now() AS now", datetime)
_KNOWN = Query("SELECT count(*) > 0 AS known FROM site_regions WHERE region = :region", bool)


async def start(connection: AsyncConnection, requested: Freeze, *, request_id: str) -> str:
    """Freeze removals and return the freeze as JSON. Raises `Problem` validation_failed."""
    faults = []
    if requested.region is not None and not await _KNOWN.one(connection, {"region": requested.region}):
        faults.append(FieldError("/region", "unknown_region", "No hardware of such a region is known."))
    if requested.expires_at <= await _NOW.one(connection):
        faults.append(FieldError("/expires_at", "not_in_future", "Choose an instant in the future."))
    if faults:
        raise Problem(VALIDATION_FAILED, "Nothing was frozen.", errors=faults)
    freeze_id = await freeze(connection, requested)
    await record_for_operators(
        connection,
        FREEZE_STARTED,
        region=requested.region,
        subject_id=freeze_id,
        request_id=request_id,
        data=FreezeOf(reason=requested.reason, expires_at=requested.expires_at),
    )
    log.warning("removals_frozen", freeze_id=str(freeze_id), region=requested.region, reason=requested.reason)
    return await GET_FREEZE.one(connection, {"freeze_id": freeze_id})


async def end(connection: AsyncConnection, freeze_id: UUID, *, reason: str, ended_by: UUID, request_id: str) -> str:
    """End a freeze and return it as JSON. Raises `Problem` not_found, and state_conflict when it is not live."""
    ended = await end_freeze(connection, freeze_id, reason=reason, ended_by=ended_by)
    document = await GET_FREEZE.one_or_none(connection, {"freeze_id": freeze_id})
    if document is None:
        raise not_found()
    if not ended:
        raise Problem(STATE_CONFLICT, f"Freeze {freeze_id} has ended already; nothing is left to do.")
    await record_for_operators(
        connection,
        FREEZE_ENDED,
        region=orjson.loads(document)["region"],
        subject_id=freeze_id,
        request_id=request_id,
        data=FreezeOf(reason=reason),
    )
    log.warning("removals_unfrozen", freeze_id=str(freeze_id), reason=reason)
    return document


LIST_SITE_FINDINGS = keyed_page(
    """
    SELECT concat_ws(' ', f.region, f.rule, f.object_id, f.host) AS key, f.*, projects.slug AS project,
           (SELECT state FROM repairs AS r
             WHERE r.requested_by = 'sweep' AND (r.rule, r.region, r.object_id) = (f.rule, f.region, f.object_id)
             ORDER BY r.started_at DESC LIMIT 1) AS repair
      FROM site_findings AS f LEFT JOIN projects ON projects.id = f.project_id
     WHERE (CAST(:region AS text) IS NULL OR f.region = CAST(:region AS text))
       AND (CAST(:rule AS text) IS NULL OR f.rule = CAST(:rule AS text))
    """,
    f"""
    'rule', page.rule, 'region', page.region, 'object', page.object_id, 'host', nullif(page.host, ''),
    'project', page.project, 'detail', page.detail, 'first_seen_at', {rfc3339("page.first_seen_at")},
    'last_seen_at', {rfc3339("page.last_seen_at")}, 'sightings', page.sightings, 'repair', page.repair,
    'left_because', page.left_because
    """,
)
"""By region and rule. Parameters: the filters, NULL for all."""
