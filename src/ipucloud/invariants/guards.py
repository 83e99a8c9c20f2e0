"""Rules about the schema and the roles: every guard against wrong states exists and is in force."""

from __future__ import annotations

from types import MappingProxyType

from sqlalchemy.dialects import postgresql as pg

from ipucloud.db.tenancy import APP_ROLE, FACTS, HISTORY, TENANT_ROLE, policies
from ipucloud.invariants.rules import Invariant, Refusal
from ipucloud.invariants.tables import TABLES

_OWNER_ONLY = Refusal("The application owns nothing of the schema; only its owner may change it.")
_TRIGGERS = (
    ("addresses", "addresses_resource"),
    ("bill_proofs", "bill_proofs_final"),
    ("bill_proofs", "bill_proofs_kept"),
    ("billed_facts", "billed_facts_final"),
    ("billed_facts", "billed_facts_kept"),
    ("clusters", "clusters_resource"),
    ("contract_prices", "contract_prices_begun"),
    ("contract_prices", "contract_prices_final"),
    ("contract_prices", "contract_prices_late"),
    ("ledger_transfers", "ledger_transfers_apply"),
    ("ledger_transfers", "ledger_transfers_final"),
    ("ledger_transfers", "ledger_transfers_kept"),
    ("month_proofs", "month_proofs_final"),
    ("month_proofs", "month_proofs_kept"),
    ("operations", "operations_final"),
    ("prices", "prices_begun"),
    ("prices", "prices_final"),
    ("prices", "prices_late"),
    ("projects", "projects_account"),
    ("reservations", "reservations_resource"),
    ("snapshots", "snapshots_resource"),
    ("usage_charges", "usage_charges_final"),
    ("usage_charges", "usage_charges_kept"),
    ("usage_intervals", "usage_intervals_final"),
    ("usage_intervals", "usage_intervals_late"),
    ("volumes", "volumes_resource"),
)
_PREPARER = pg.dialect().identifier_preparer  # type: ignore[no-untyped-call]  # SQLAlchemy left it untyped


def _guards() -> list[tuple[str, str]]:
    """(table, name) of every constraint, index, trigger and policy that the models and migrations have."""
    named = list(_TRIGGERS)
    for table in TABLES:
        for constraint in table.constraints:
            name = _PREPARER.format_constraint(constraint)
            if name is not None:
                named.append((table.name, name))
        named += [(table.name, _PREPARER.format_index(index)) for index in table.indexes]
        named += [(table.name, policy) for policy in policies(table)]
    return sorted(named)


_GUARDS = _guards()

IN_FORCE = Invariant(
    name="guards_are_in_force",
    sentence="Every constraint, index, trigger and policy of the schema is in force.",
    object_type="guard",
    remedy="Run `ipucloud migrate`, which puts it in force again. If existing rows violate it, apply the"
    " other repairs of the audit first. One that was dropped comes back with a restored backup.",
    repair=_OWNER_ONLY,
    statement="""
    SELECT expected.relation || '.' || expected.name AS object_id, NULL::uuid AS project_id,
           CASE WHEN actual.name IS NULL THEN 'it does not exist' ELSE 'it exists and is not in force' END AS detail
      FROM unnest(CAST(:relations AS text[]), CAST(:names AS text[])) AS expected (relation, name)
      LEFT JOIN (
        SELECT c.relname AS relation, k.conname AS name, k.convalidated AS in_force
          FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
         WHERE k.connamespace = 'public'::regnamespace AND k.contype IN ('c', 'f', 'x')
        UNION ALL
        SELECT c.relname, n.relname, i.indisvalid AND i.indisready AND i.indislive
          FROM pg_index i JOIN pg_class n ON n.oid = i.indexrelid JOIN pg_class c ON c.oid = i.indrelid
         WHERE n.relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT c.relname, t.tgname, t.tgenabled <> 'D'
          FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
         WHERE NOT t.tgisinternal AND c.relnamespace = 'public'::regnamespace
        UNION ALL
        SELECT c.relname, p.polname, c.relrowsecurity AND c.relforcerowsecurity
          FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid
      ) AS actual ON actual.relation = expected.relation AND actual.name = expected.name
     WHERE actual.in_force IS NOT TRUE
    """,
    parameters=MappingProxyType(
        {"relations": [relation for relation, _ in _GUARDS], "names": [name for _, name in _GUARDS]}
    ),
)

INDEXED = Invariant(
    name="reference_has_an_index",
    sentence="Every foreign key has an index that begins with its columns.",
    object_type="reference",
    remedy="Run `ipucloud migrate`, which builds an index that is not valid. Without one, every join on the"
    " reference scans the whole table; report it as a defect.",
    repair=_OWNER_ONLY,
    statement="""
    SELECT f.conrelid::regclass || '.' || f.conname AS object_id, NULL::uuid AS project_id,
           'no index in force begins with its columns' AS detail
      FROM pg_constraint f
     WHERE f.contype = 'f' AND f.connamespace = 'public'::regnamespace
       AND NOT EXISTS (
         SELECT FROM pg_index i
          WHERE i.indrelid = f.conrelid AND i.indisvalid
            AND (i.indkey::int2[])[0:cardinality(f.conkey) - 1] @> f.conkey
            -- A partial index serves a reference when it leaves out only the rows that have none.
            AND (i.indpred IS NULL
                 OR pg_get_expr(i.indpred, i.indrelid) = (
                   SELECT format('(%I IS NOT NULL)', a.attname) FROM pg_attribute a
                    WHERE a.attrelid = f.conrelid AND a.attnum = f.conkey[cardinality(f.conkey)])))
    """,
)

NO_BYPASS = Invariant(
    name="application_role_has_no_power",
    sentence="The application's roles own nothing, bypass nothing, and create no roles or databases.",
    object_type="role",
    remedy="Run `ipucloud migrate` with a superuser in IPUCLOUD_MIGRATION_DATABASE_URL, which takes the power away, and"
    " find out what gave it.",
    repair=_OWNER_ONLY,
    statement="""
    SELECT rolname::text AS object_id, NULL::uuid AS project_id, power AS detail
      FROM pg_roles r,
           LATERAL (VALUES ('it is a superuser', r.rolsuper), ('it makes roles', r.rolcreaterole),
                           ('it makes databases', r.rolcreatedb), ('it replicates', r.rolreplication),
                           ('it bypasses row security', r.rolbypassrls),
                           ('it is a member of another role',
                            EXISTS (SELECT FROM pg_auth_members m
                                     WHERE m.member = r.oid
                                       AND m.roleid <> (SELECT oid FROM pg_roles WHERE rolname = :tenant))),
                           ('it owns something', EXISTS (SELECT FROM pg_shdepend d
                              WHERE d.refclassid = 'pg_authid'::regclass AND d.refobjid = r.oid AND d.deptype = 'o'))
                   ) AS powers (power, has)
     WHERE r.rolname IN (:role, :tenant) AND has
    """,
    parameters=MappingProxyType({"role": APP_ROLE, "tenant": TENANT_ROLE}),
)

HISTORY_STANDS = Invariant(
    name="application_cannot_rewrite_history",
    sentence="The application's role cannot change or delete events, charges or prices.",
    object_type="privilege",
    remedy="Run `ipucloud migrate`, which takes the privilege away, and find out what gave it and what used it.",
    repair=_OWNER_ONLY,
    statement="""
    SELECT may.relation || ' ' || may.privilege AS object_id, NULL::uuid AS project_id,
           format('%s may do this', CAST(:role AS text)) AS detail
      FROM (SELECT relation, privilege, has_table_privilege(CAST(:role AS name), relation, privilege)
                   OR privilege IN ('INSERT', 'UPDATE')
                      AND has_any_column_privilege(CAST(:role AS name), relation, privilege) AS granted
              FROM unnest(CAST(:relations AS text[]), CAST(:privileges AS text[])) AS t (relation, privilege)
            UNION ALL
            SELECT relation, 'UPDATE (' || fact || ')',
                   has_column_privilege(CAST(:role AS name), relation, fact, 'UPDATE')
              FROM unnest(CAST(:fact_relations AS text[]), CAST(:facts AS text[])) AS t (relation, fact)) AS may
     WHERE may.granted
    """,
    parameters=MappingProxyType(
        {
            "role": APP_ROLE,
            "relations": [relation for relation, privileges in HISTORY.items() for _ in privileges],
            "privileges": [privilege for privileges in HISTORY.values() for privilege in privileges],
            "fact_relations": [relation for relation, facts in FACTS.items() for _ in facts],
            "facts": [fact for facts in FACTS.values() for fact in facts],
        }
    ),
)

RULES = (IN_FORCE, INDEXED, NO_BYPASS, HISTORY_STANDS)
