"""Rules about ownership: quotas, references between rows, tokens, deleted projects, stored answers."""

from __future__ import annotations

import sqlalchemy as sa

from ipucloud.db.documents import clauses
from ipucloud.invariants.rules import Invariant, Refusal, by
from ipucloud.invariants.tables import TABLES

_HELD = """
(SELECT count(a.machine_id) FROM allocations a
   LEFT JOIN clusters c ON c.project_id = a.project_id AND c.id = a.cluster_id
   LEFT JOIN reservations r ON r.project_id = a.project_id AND r.id = a.reservation_id
  WHERE a.project_id = q.project_id AND a.freed_at IS NULL AND a.counted
    AND coalesce(c.region, r.region) = q.region AND coalesce(c.machine_type, r.machine_type) = q.machine_type)
"""
_THIS_QUOTA = "q.project_id = :project_id AND concat_ws('/', q.region, q.machine_type) = :object_id"

QUOTA_COUNTS = Invariant(
    name="quota_counts_what_is_held",
    sentence="A quota's used count is the machines that clusters and reservations hold, in a resize the larger size.",
    object_type="quota",
    remedy="Apply the audit's repair.",
    repair=by(
        "counts the machines again",
        clauses("SELECT used FROM quotas q WHERE", _THIS_QUOTA, "FOR NO KEY UPDATE"),
        clauses("UPDATE quotas q SET used =", _HELD, "WHERE", _THIS_QUOTA, "AND used <>", _HELD),
    ),
    statement="""
    SELECT concat_ws('/', coalesce(q.region, held.region), coalesce(q.machine_type, held.machine_type)) AS object_id,
           coalesce(q.project_id, held.project_id) AS project_id,
           format('the quota says %s, clusters and reservations hold %s',
                  coalesce(q.used::text, 'nothing, for there is none'), coalesce(held.machines, 0)) AS detail
      FROM quotas q
      FULL JOIN (SELECT a.project_id, coalesce(c.region, r.region) AS region,
                        coalesce(c.machine_type, r.machine_type) AS machine_type, count(*) AS machines
                   FROM allocations a
                   LEFT JOIN clusters c ON c.project_id = a.project_id AND c.id = a.cluster_id
                   LEFT JOIN reservations r ON r.project_id = a.project_id AND r.id = a.reservation_id
                  WHERE a.freed_at IS NULL AND a.machine_id IS NOT NULL AND a.counted
                  GROUP BY 1, 2, 3) AS held
        ON held.project_id = q.project_id AND held.region = q.region AND held.machine_type = q.machine_type
     WHERE coalesce(q.used, 0) <> coalesce(held.machines, 0)
    """,
)

QUOTA_KEPT = Invariant(
    name="quota_is_not_exceeded",
    sentence="No quota's used count is above its limit or negative.",
    object_type="quota",
    remedy="Raise the limit (`ipucloud quotas update`), or have clusters deleted.",
    repair=Refusal("A person must decide how much a project may hold."),
    statement="""
    SELECT concat_ws('/', region, machine_type) AS object_id, project_id,
           format('%s of %s machines are used', used, machine_limit) AS detail
      FROM quotas WHERE used NOT BETWEEN 0 AND machine_limit
    """,
)


def _dangling(table: sa.Table, reference: sa.ForeignKeyConstraint) -> str:
    """The query of a table's rows whose reference does not exist; one with a NULL column is no reference."""
    target = reference.referred_table.name
    pairs = [(element.parent.name, element.column.name) for element in reference.elements]
    return clauses(
        f"SELECT '{table.name} ' || concat_ws('/', {', '.join(table.primary_key.columns.keys())}) AS object_id,",
        "project_id," if "project_id" in table.columns else "NULL::uuid,",
        f"concat_ws('/', '{target}', {', '.join(column for column, _ in pairs)}) || ' does not exist' AS detail",
        f"FROM {table.name} AS source WHERE num_nulls({', '.join(column for column, _ in pairs)}) = 0",
        f"AND NOT EXISTS (SELECT FROM {target} AS target WHERE",
        " AND ".join(f"target.{referenced} = source.{column}" for column, referenced in pairs),
        ")",
    )


REFERENCES = Invariant(
    name="references_resolve",
    sentence="Every reference leads to a row of the same project.",
    object_type="row",
    remedy="Restore the missing row from a backup, or remove the row that refers to it.",
    repair=Refusal("Either of the two rows may be wrong."),
    statement=" UNION ALL ".join(
        _dangling(table, reference)
        for table in TABLES
        for reference in sorted(table.foreign_key_constraints, key=lambda each: str(each.name))
    ),
)

LOOSE_REFERENCES = Invariant(
    name="tokens_that_are_named_exist",
    sentence="The token that requested an operation or created another token exists.",
    object_type="token",
    remedy="Nothing depends on it. Find out what deletes tokens: they are revoked, never deleted.",
    repair=Refusal("A lost token cannot be reconstructed."),
    statement="""
    SELECT named.id::text AS object_id, named.project_id, named.detail
      FROM (SELECT requested_by AS id, project_id, format('it requested operation %s', id) AS detail FROM operations
            UNION ALL
            SELECT created_by, project_id, format('it created token %s', id) FROM tokens) AS named
     WHERE named.id IS NOT NULL AND NOT EXISTS (SELECT FROM tokens t WHERE t.id = named.id)
    """,
)

_LIVING = "revoked_at IS NULL AND (expires_at IS NULL OR expires_at > app_now())"
_WRONG_ROLE = (
    "((project_id IS NULL AND account_id IS NULL) <> (role IN ('admin', 'support'))"
    " OR (account_id IS NOT NULL) <> (role = 'payer'))"
)

ROLE_FITS = Invariant(
    name="token_role_fits_its_project",
    sentence="Tokens of projects, billing accounts and the platform have roles of their kind.",
    object_type="token",
    remedy="Apply the audit's repair at once; then find out who created the token and what it did.",
    repair=by(
        "revokes the token and gives it the lowest role of its kind",
        clauses(
            "UPDATE tokens SET revoked_at = app_now(),",
            "role = CASE WHEN account_id IS NOT NULL THEN 'payer' WHEN project_id IS NULL THEN 'support'",
            "ELSE 'viewer' END",
            "WHERE id = CAST(:object_id AS uuid) AND",
            _WRONG_ROLE,
            "AND",
            _LIVING,
        ),
    ),
    statement=clauses(
        "SELECT id::text AS object_id, project_id,",
        "format('a living token of role %s %s', role,",
        "CASE WHEN account_id IS NOT NULL THEN 'of an account' WHEN project_id IS NULL THEN 'without a project'",
        "ELSE 'of a project' END) AS detail FROM tokens WHERE",
        _WRONG_ROLE,
        "AND",
        _LIVING,
    ),
)

_ORPHANED = "project_id IN (SELECT id FROM projects WHERE deleted_at IS NOT NULL)"

ENDED_WITHOUT_TOKENS = Invariant(
    name="ended_project_has_no_token",
    sentence="Deleted projects have no live tokens.",
    object_type="token",
    remedy="Apply the audit's repair.",
    repair=by(
        "revokes the token",
        clauses(
            "UPDATE tokens SET revoked_at = app_now() WHERE id = CAST(:object_id AS uuid) AND",
            _ORPHANED,
            "AND",
            _LIVING,
        ),
    ),
    statement=clauses(
        "SELECT id::text AS object_id, project_id, format('a living token of role %s', role) AS detail",
        "FROM tokens WHERE",
        _ORPHANED,
        "AND",
        _LIVING,
    ),
)

_OF_INACTIVE = "owner_id IN (SELECT id FROM users WHERE deactivated_at IS NOT NULL)"

INACTIVE_WITHOUT_TOKENS = Invariant(
    name="deactivated_person_has_no_token",
    sentence="Deactivated people have no live tokens.",
    object_type="token",
    remedy="Apply the audit's repair.",
    repair=by(
        "revokes the token",
        clauses(
            "UPDATE tokens SET revoked_at = app_now() WHERE id = CAST(:object_id AS uuid) AND",
            _OF_INACTIVE,
            "AND",
            _LIVING,
        ),
    ),
    statement=clauses(
        "SELECT id::text AS object_id, project_id, format('a living token of the kind %s', kind) AS detail",
        "FROM tokens WHERE",
        _OF_INACTIVE,
        "AND",
        _LIVING,
    ),
)

ENDED_WITHOUT_CLUSTERS = Invariant(
    name="ended_project_has_no_cluster",
    sentence="Deleted projects have no living clusters.",
    object_type="cluster",
    remedy="Undo the project's deletion, or delete the cluster.",
    repair=Refusal("The cluster may still be in use."),
    statement="""
    SELECT c.id::text AS object_id, c.project_id, format('the project ended at %s', p.deleted_at) AS detail
      FROM clusters c JOIN projects p ON p.id = c.project_id
     WHERE p.deleted_at IS NOT NULL AND c.deleted_at IS NULL
    """,
)

_SUBJECTS = (
    *("billing_accounts", "clusters", "operations", "payments", "projects", "promo_credits", "ssh_keys", "tokens"),
    *("credit_notes", "export_schedules", "s3_connections"),
)

_EFFECTLESS = clauses(
    "k.subject_id IS NOT NULL",
    *(f"AND NOT EXISTS (SELECT FROM {table} t WHERE t.id = k.subject_id)" for table in _SUBJECTS),
    # An SSH key or a webhook may be deleted before the stored answer of its creation expires.
    "AND NOT EXISTS (SELECT FROM events e WHERE e.project_id = k.scope AND e.subject_id = k.subject_id)",
    "AND NOT EXISTS (SELECT FROM events e WHERE e.account_id = k.scope AND e.subject_id = k.subject_id)",
)

ANSWER_HAS_EFFECT = Invariant(
    name="stored_answer_has_its_effect",
    sentence="The object that a stored answer created exists.",
    object_type="idempotency_key",
    remedy="Apply the audit's repair; a repeated request is then carried out.",
    repair=by(
        "deletes the stored answer",
        clauses("DELETE FROM idempotency_keys k WHERE k.scope::text || '/' || k.key = :object_id AND", _EFFECTLESS),
    ),
    statement=clauses(
        "SELECT k.scope::text || '/' || k.key AS object_id,",
        "nullif(k.scope, '00000000-0000-0000-0000-000000000000') AS project_id,",
        "format('it reports %s, which does not exist', k.subject_id) AS detail FROM idempotency_keys k WHERE",
        _EFFECTLESS,
    ),
)

RULES = (
    QUOTA_COUNTS,
    QUOTA_KEPT,
    REFERENCES,
    LOOSE_REFERENCES,
    ROLE_FITS,
    ENDED_WITHOUT_TOKENS,
    INACTIVE_WITHOUT_TOKENS,
    ENDED_WITHOUT_CLUSTERS,
    ANSWER_HAS_EFFECT,
)
