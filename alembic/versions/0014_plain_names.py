"""Repairs, desired states and checks have the names that the code and the documentation use.

Processes of an older version cannot use the renamed columns: stop them before this migration.

Revision ID: 0014
Revises: 0013
"""

from __future__ import annotations

from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

STATES = (("made", "present"), ("kept", "unmanaged"), ("gone", "absent"))
COLUMNS = (
    ("partitions", "wish", "desired_state"),
    ("payments", "looks", "checks"),
    ("payments", "looked_at", "checked_at"),
)
CONDITIONS = (
    ("ck_partitions_customers_own_are_kept", "ck_partitions_customers_own_are_unmanaged"),
    ("ck_partitions_removed_are_gone", "ck_partitions_removed_are_absent"),
    ("ck_partitions_wish", "ck_partitions_desired_state"),
)
DEFINITIONS = (
    "origin <> 'customer' OR desired_state = 'unmanaged'",
    "desired_state = 'absent' OR origin = 'customer' OR removed_at IS NULL",
    "desired_state IN ('present', 'unmanaged', 'reset', 'absent')",
)
OLD_DEFINITIONS = (
    "origin <> 'customer' OR wish = 'kept'",
    "wish = 'gone' OR origin = 'customer' OR removed_at IS NULL",
    "wish IN ('made', 'kept', 'reset', 'gone')",
)


def _rename_constraints(table: str, old: str, new: str) -> None:
    """PostgreSQL 18 has a named constraint for every NOT NULL; it keeps its name when table or column are renamed."""
    op.execute(
        f"""
        DO $$ DECLARE found name; BEGIN
          FOR found IN SELECT conname FROM pg_constraint
                        WHERE conrelid = '{table}'::regclass AND conname ~ '(^|_){old}(_|$)' LOOP
            EXECUTE format('ALTER TABLE {table} RENAME CONSTRAINT %I TO %I', found,
                           regexp_replace(found, '(^|_){old}(_|$)', '\\1{new}\\2'));
          END LOOP;
        END $$
        """  # noqa: S608  # our own names
    )


def _rename_table(old: str, new: str) -> None:
    op.execute(f"ALTER TABLE {old} RENAME TO {new}")
    for index in ("operation", "started"):
        op.execute(f"ALTER INDEX ix_{old}_{index} RENAME TO ix_{new}_{index}")
    _rename_constraints(new, old, new)


def _rename_column(table: str, old: str, new: str) -> None:
    op.execute(f"ALTER TABLE {table} RENAME COLUMN {old} TO {new}")
    _rename_constraints(table, old, new)


def _rename_values(*, kind: tuple[str, str], event: tuple[str, str]) -> None:
    """Finished operations and events never change; what they are called does."""
    op.execute("ALTER TABLE operations DISABLE TRIGGER operations_final")
    op.execute(f"UPDATE operations SET kind = '{kind[1]}' WHERE kind = '{kind[0]}'")  # noqa: S608  # our own names
    op.execute("ALTER TABLE operations ENABLE TRIGGER operations_final")
    op.execute(f"UPDATE events SET type = '{event[1]}' WHERE type = '{event[0]}'")  # noqa: S608  # our own names
    op.execute(f"UPDATE webhooks SET event_types = array_replace(event_types, '{event[0]}', '{event[1]}')")  # noqa: S608  # our own names


def _rename_states(column: str, pairs: tuple[tuple[str, str], ...]) -> None:
    for old, new in pairs:
        op.execute(f"UPDATE partitions SET {column} = '{new}' WHERE {column} = '{old}'")  # noqa: S608  # our own names


def upgrade() -> None:
    for old, _ in CONDITIONS:
        op.execute(f"ALTER TABLE partitions DROP CONSTRAINT {old}")
    for table, old, new in COLUMNS:
        _rename_column(table, old, new)
    _rename_states("desired_state", STATES)
    for (_, name), definition in zip(CONDITIONS, DEFINITIONS, strict=True):
        op.execute(f"ALTER TABLE partitions ADD CONSTRAINT {name} CHECK ({definition})")
    _rename_table("heals", "repairs")
    _rename_values(kind=("cluster.heal", "cluster.repair"), event=("audit.healed", "audit.repaired"))


def downgrade() -> None:
    for _, new in CONDITIONS:
        op.execute(f"ALTER TABLE partitions DROP CONSTRAINT {new}")
    for table, old, new in COLUMNS:
        _rename_column(table, new, old)
    _rename_states("wish", tuple((new, old) for old, new in STATES))
    for (name, _), definition in zip(CONDITIONS, OLD_DEFINITIONS, strict=True):
        op.execute(f"ALTER TABLE partitions ADD CONSTRAINT {name} CHECK ({definition})")
    _rename_table("repairs", "heals")
    _rename_values(kind=("cluster.repair", "cluster.heal"), event=("audit.repaired", "audit.healed"))
