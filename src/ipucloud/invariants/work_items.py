"""Rules about the engine's work table."""

from __future__ import annotations

from ipucloud.db.documents import clauses
from ipucloud.invariants.rules import Invariant, Refusal, Repair, by


def _rule(name: str, sentence: str, *, broken: str, detail: str, remedy: str, repair: Repair) -> Invariant:
    """A rule that a work item breaks by itself: `broken` is a condition on its row."""
    statement = clauses(
        "SELECT kind || '/' || key AS object_id,",
        "nullif(project_id, '00000000-0000-0000-0000-000000000000') AS project_id,",
        detail,
        "AS detail FROM work WHERE",
        broken,
    )
    return Invariant(name, sentence, "work item", remedy, repair, statement)


def _set(assignments: str, broken: str) -> str:
    """Change a work item if it still breaks the rule."""
    return clauses("UPDATE work SET", assignments, "WHERE kind || '/' || key = :object_id AND (", broken, ")")


_TORN_LEASE = "num_nonnulls(lease_owner, lease_until) = 1 OR fence < 0 OR attempt < 0 OR claimed_seq > wake_seq"
_ROTTEN_LEASE = "lease_until < app_now() - interval '2 minutes'"
_MANY_ATTEMPTS = "attempt > 10"
_RESTLESS = "parked_at IS NOT NULL AND num_nonnulls(run_at, lease_owner) > 0"
_ASLEEP = "wake_seq <> claimed_seq AND num_nonnulls(run_at, lease_owner, parked_at) = 0"

WHOLE_LEASE = _rule(
    "lease_is_whole",
    "A lease has an owner and an end; fence, attempts and wake counts are in range.",
    broken=_TORN_LEASE,
    detail="""
    format('owner %s until %s, fence %s, attempts %s, wakes %s, seen %s', coalesce(lease_owner::text, 'none'),
           coalesce(lease_until::text, 'never'), fence, attempt, wake_seq, claimed_seq)
    """,
    remedy="Apply the audit's repair; the fence rejects the former holder's writes.",
    repair=by(
        "ends the lease and makes the work item due",
        _set(
            "lease_owner = NULL, lease_until = NULL, fence = greatest(fence, 0) + 1, run_at = app_now(),"
            " claimed_seq = least(claimed_seq, wake_seq), attempt = greatest(attempt, 0), parked_at = NULL",
            _TORN_LEASE,
        ),
    ),
)

FRESH_LEASE = _rule(
    "expired_lease_is_freed",
    "An expired lease is freed within two minutes.",
    broken=_ROTTEN_LEASE,
    detail="format('leased until %s', lease_until)",
    remedy="Start a worker; it frees such leases at once.",
    repair=by(
        "frees the lease and makes the work item due",
        _set("lease_owner = NULL, lease_until = NULL, run_at = app_now()", _ROTTEN_LEASE),
    ),
)

FEW_ATTEMPTS = _rule(
    "attempts_are_bounded",
    "A work item is parked after a few passes without progress.",
    broken=_MANY_ATTEMPTS,
    detail="format('%s passes without progress: %s', attempt, coalesce(last_error, 'no error noted'))",
    remedy="Read its last error and the workers' logs: the workers die before they can park it.",
    repair=Refusal("More attempts would not help; the cause of the workers' deaths must be found first."),
)

NONE_PARKED = _rule(
    "no_work_item_is_parked",
    "No work item is parked.",
    broken="parked_at IS NOT NULL AND num_nonnulls(run_at, lease_owner) = 0",
    detail="format('parked at %s: %s', parked_at, coalesce(last_error, 'no error noted'))",
    remedy="Fix the cause in the last error; then run: ipucloud admin work requeue KIND KEY.",
    repair=Refusal("Waking it would only repeat the failure; a person must find the cause."),
)

PARKED_RESTS = _rule(
    "parked_work_item_is_idle",
    "A parked work item is neither due nor leased.",
    broken=_RESTLESS,
    detail="""
    format('parked at %s, due %s, leased until %s', parked_at, coalesce(run_at::text, 'never'),
           coalesce(lease_until::text, 'never'))
    """,
    remedy="Apply the audit's repair: the work item is already due or leased.",
    repair=by("clears its parked state", _set("parked_at = NULL", _RESTLESS)),
)

NO_LOST_WAKE = _rule(
    "no_wake_is_lost",
    "A work item that was woken since its last pass is due, leased or parked.",
    broken=_ASLEEP,
    detail="format('woken %s times, seen %s', wake_seq, claimed_seq)",
    remedy="Apply the audit's repair.",
    repair=by("makes it due", _set("run_at = app_now()", _ASLEEP)),
)

OF_A_CLUSTER = Invariant(
    name="work_item_belongs_to_its_cluster",
    sentence="A work item of a cluster or its partitions has that cluster and its project.",
    object_type="work item",
    remedy="Apply the audit's repair; nothing else refers to the work item.",
    repair=by(
        "corrects the work item's project, or deletes it",
        """
        WITH stray AS (
          SELECT w.kind, w.key, c.project_id FROM work w LEFT JOIN clusters c ON c.id::text = w.key
           WHERE w.kind || '/' || w.key = :object_id AND c.project_id IS DISTINCT FROM w.project_id
             FOR UPDATE OF w
        ), moved AS (
          UPDATE work w SET project_id = stray.project_id FROM stray
           WHERE stray.project_id IS NOT NULL AND w.kind = stray.kind AND w.key = stray.key
          RETURNING w.key
        ), thrown AS (
          DELETE FROM work w USING stray
           WHERE stray.project_id IS NULL AND w.kind = stray.kind AND w.key = stray.key
          RETURNING w.key
        )
        SELECT key FROM moved UNION ALL SELECT key FROM thrown
        """,
    ),
    statement="""
    SELECT w.kind || '/' || w.key AS object_id, c.project_id,
           CASE WHEN c.id IS NULL THEN 'there is no such cluster'
                ELSE format('the work item is of project %s', w.project_id) END AS detail
      FROM work w LEFT JOIN clusters c ON c.id::text = w.key
     WHERE w.kind IN ('cluster', 'partitions') AND c.project_id IS DISTINCT FROM w.project_id
    """,
)

RULES = (
    WHOLE_LEASE,
    FRESH_LEASE,
    FEW_ATTEMPTS,
    NONE_PARKED,
    PARKED_RESTS,
    NO_LOST_WAKE,
    OF_A_CLUSTER,
)
