"""Which machines have to be validated before a cluster gets them, and what came of it.

A machine waits for its validation, then is validated together with others of its pod under one name, which is never
used again. From the first moment to the last its report `not_validated` keeps clusters away: report and record begin in
one transaction, and end in one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.contract.operator_validations import ValidationReason, ValidationResult
from ipucloud.db.documents import clauses
from ipucloud.db.rows import Query
from ipucloud.inventory.functions import settle_pods
from ipucloud.inventory.health.codes import CODES, Code, Source
from ipucloud.inventory.health.merge import lock, merge, merge_unsettled
from ipucloud.kernel.failpoints import failpoint
from ipucloud.kernel.ids import new_id
from ipucloud.reconcile.wake import AWAKE, PLATFORM, WAKE

VALIDATION = "validation"
"""Kind of the work items; the key is the id of a pod."""

_DETAILS: Mapping[ValidationReason, str] = {
    "intake": "it is new, and was not validated yet",
    "release": "a cluster has left it, and it was not validated since",
    "repair": "it was repaired or maintained, and not validated since",
    "operator": "an operator has it validated",
}
NEW_MACHINES = Query("SELECT count(*) FROM hardware_validations WHERE reason = 'intake' AND ended_at IS NULL", int)
"""How many machines came to the inventory and are not validated yet."""
# Controllers test machines of their own. A machine that is held is validated when its cluster leaves it.
_REQUIRE = Query(
    """
    WITH candidates AS (
      SELECT m.id, m.pod_id, p.region, row_number() OVER (ORDER BY m.id) AS place
        FROM machines m JOIN pods p ON p.id = m.pod_id
       WHERE m.id = ANY (CAST(:machines AS uuid[])) AND p.vipu_cluster_id IS NOT NULL
         AND NOT EXISTS (SELECT FROM allocations a WHERE a.machine_id = m.id AND a.freed_at IS NULL)
    ), opened AS (
      INSERT INTO hardware_validations (id, machine_id, reason, requested_by)
      SELECT (CAST(:ids AS uuid[]))[place], id, :reason, :requested_by FROM candidates
      ON CONFLICT (machine_id) WHERE ended_at IS NULL DO NOTHING
      RETURNING machine_id
    )
    INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, confirmed_at)
    SELECT (CAST(:reports AS uuid[]))[place], region, id, :source, :code, :allocation, false, :detail, app_now()
      FROM candidates JOIN opened ON machine_id = id
    ON CONFLICT (machine_id, host_id, source, code) WHERE cleared_at IS NULL DO NOTHING
    RETURNING machine_id
    """,
    UUID,
)
_WAKE = sa.text(
    clauses(
        WAKE,
        "SELECT :kind, pod_id::text, :project, app_now() FROM machines WHERE id = ANY (CAST(:machines AS uuid[]))",
        "GROUP BY pod_id ORDER BY pod_id",
        AWAKE,
    )
)
_BEGIN = Query(
    """
    UPDATE hardware_validations v
       SET name = :name, started_at = app_now(), deadline_at = app_now() + make_interval(secs => :deadline)
      FROM machines m
     WHERE v.id = ANY (CAST(:ids AS uuid[])) AND v.name IS NULL AND v.ended_at IS NULL
       AND m.id = v.machine_id AND m.validating
       AND NOT EXISTS (SELECT FROM allocations a WHERE a.machine_id = m.id AND a.freed_at IS NULL)
    RETURNING v.id
    """,
    UUID,
)
_POSTPONE = sa.text(
    "UPDATE hardware_validations SET deadline_at = app_now() + make_interval(secs => :deadline)"
    " WHERE name = :name AND ended_at IS NULL"
)
_JUDGE = sa.text(
    """
    UPDATE hardware_validations v
       SET result = judged.result, findings = judged.findings, tested_at = coalesce(tested_at, app_now()),
           alone = judged.alone, deadline_at = app_now() + make_interval(secs => :deadline)
      FROM unnest(CAST(:ids AS uuid[]), CAST(:results AS text[]), CAST(:findings AS text[]), CAST(:alone AS boolean[]))
           AS judged (id, result, findings, alone)
     WHERE v.id = judged.id
    """
)
_RELEASE = sa.text(
    """
    UPDATE hardware_validations SET released_at = CASE WHEN :released THEN app_now() END
     WHERE name = :name AND ended_at IS NULL
    """
)
_END = sa.text(
    """
    UPDATE hardware_validations SET ended_at = app_now() WHERE name = :name AND ended_at IS NULL
    """
)
_AGAIN = sa.text(
    """
    INSERT INTO hardware_validations (id, machine_id, reason, requested_by, alone)
    SELECT again.id, machine_id, reason, requested_by, alone
      FROM unnest(CAST(:ids AS uuid[]), CAST(:ended AS uuid[])) AS again (id, ended)
      JOIN hardware_validations v ON v.id = again.ended
    """
)
_CLEAR = sa.text(
    """
    UPDATE health_reports SET cleared_at = app_now(), good_since = coalesce(good_since, app_now())
     WHERE machine_id = ANY (CAST(:machines AS uuid[])) AND code = :code AND cleared_at IS NULL
    """
)
_FAIL = sa.text(
    """
    INSERT INTO health_reports (id, region, machine_id, source, code, allocation, credited, detail, confirmed_at)
    SELECT failed.id, p.region, m.id, :source, :code, :allocation, false, failed.detail, app_now()
      FROM unnest(CAST(:ids AS uuid[]), CAST(:machines AS uuid[]), CAST(:details AS text[]))
           AS failed (id, machine_id, detail)
      JOIN machines m ON m.id = failed.machine_id JOIN pods p ON p.id = m.pod_id
    ON CONFLICT (machine_id, host_id, source, code) WHERE cleared_at IS NULL
    DO UPDATE SET detail = excluded.detail, last_seen_at = app_now()
    """
)
COUNT_ANEW = (
    sa.text(
        "UPDATE hardware_validations SET released_at = app_now() WHERE ended_at IS NULL AND released_at > app_now()"
    ),
)
"""Restarts quarantines whose beginning lies in the future because the database's clock was set back."""
_WITHDRAW = Query(
    """
    WITH ended AS (
      UPDATE hardware_validations SET ended_at = app_now(), result = 'abandoned', findings = :why
       WHERE machine_id = :machine AND name IS NULL AND ended_at IS NULL RETURNING id
    )
    SELECT count(*) FROM ended
    """,
    int,
)


@dataclass(frozen=True, slots=True)
class Judged:
    """What a validation found of one machine. `alone`: if it is validated again, then by itself."""

    validation_id: UUID
    machine_id: UUID
    result: ValidationResult
    findings: str | None = None
    alone: bool = False


async def require_unsettled(
    connection: AsyncConnection,
    machines: Collection[UUID],
    reason: ValidationReason,
    requested_by: str | None = None,
) -> Collection[UUID]:
    """Have these machines validated before a cluster gets them; which pods then have to be settled.

    Their rows must be locked. What a cluster holds, waits already, or is not under V-IPU is left out.
    """
    ids = sorted(machines)
    declared = CODES["machine"][Code.NOT_VALIDATED]
    opened = await _REQUIRE.all(
        connection,
        {
            "machines": ids,
            "ids": [new_id() for _ in ids],
            "reports": [new_id() for _ in ids],
            "reason": reason,
            "requested_by": requested_by,
            "source": Source.OPERATION,
            "code": Code.NOT_VALIDATED,
            "allocation": declared.allocation,
            "detail": _DETAILS[reason],
        },
    )
    if not opened:
        return ()
    await connection.execute(_WAKE, {"kind": VALIDATION, "project": PLATFORM, "machines": sorted(opened)})
    failpoint("validation.required")
    return await merge_unsettled(connection, "machine", opened)


async def require(
    connection: AsyncConnection,
    machines: Collection[UUID],
    reason: ValidationReason,
    requested_by: str | None = None,
) -> None:
    """The same, and the pods are settled."""
    await settle_pods(connection, await require_unsettled(connection, machines, reason, requested_by))


async def begin(
    connection: AsyncConnection, machines: Collection[UUID], validations: Collection[UUID], name: str, deadline: float
) -> int:
    """Begin those validations whose machines no cluster and no other report keeps; how many they are."""
    await lock(connection, "machine", machines)
    begun = await _BEGIN.all(connection, {"ids": sorted(validations), "name": name, "deadline": deadline})
    failpoint("validation.begun")
    return len(begun)


async def postpone(connection: AsyncConnection, name: str, deadline: float) -> None:
    """Count the time again: the site did not answer."""
    await connection.execute(_POSTPONE, {"name": name, "deadline": deadline})


async def judge(connection: AsyncConnection, judged: Collection[Judged], deadline: float) -> None:
    """Write what the validation found; its machines must now be cleared within `deadline`."""
    await connection.execute(
        _JUDGE,
        {
            "ids": [each.validation_id for each in judged],
            "results": [each.result for each in judged],
            "findings": [each.findings for each in judged],
            "alone": [each.alone for each in judged],
            "deadline": deadline,
        },
    )
    failpoint("validation.judged")


async def release(connection: AsyncConnection, name: str, *, released: bool) -> None:
    """Begin the quarantine of what was seen cleared; or end it because something of the validation came back."""
    await connection.execute(_RELEASE, {"name": name, "released": released})


async def end(connection: AsyncConnection, name: str, judged: Collection[Judged]) -> None:
    """End a validation that was observed cleared: machines that passed are free, those that failed are reported."""
    machines = [each.machine_id for each in judged]
    await lock(connection, "machine", machines)
    await connection.execute(_END, {"name": name})
    again = [each for each in judged if each.result == "abandoned"]
    if again:
        await connection.execute(
            _AGAIN,
            {
                "ids": [new_id() for _ in again],
                "ended": [each.validation_id for each in again],
            },
        )
    done = [each.machine_id for each in judged if each.result != "abandoned"]
    await connection.execute(_CLEAR, {"machines": done, "code": Code.NOT_VALIDATED})
    failed = [each for each in judged if each.result == "failed"]
    if failed:
        declared = CODES["machine"][Code.VALIDATION_FAILED]
        await connection.execute(
            _FAIL,
            {
                "ids": [new_id() for _ in failed],
                "machines": [each.machine_id for each in failed],
                "details": [each.findings or "it failed" for each in failed],
                "source": Source.OPERATION,
                "code": Code.VALIDATION_FAILED,
                "allocation": declared.allocation,
            },
        )
    failpoint("validation.ended")
    await merge(connection, "machine", machines)


async def withdraw(connection: AsyncConnection, machine: UUID, why: str) -> bool:
    """End a validation that has not begun. False when there is none, or it has begun."""
    return await _WITHDRAW.one(connection, {"machine": machine, "why": why}) > 0
