"""Exports of any days, not only of a month.

Revision ID: 0008
Revises: 0007
"""

from __future__ import annotations

from alembic import op

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE exports ALTER month DROP NOT NULL, ADD since DATE, ADD until DATE",
    "ALTER TABLE exports ADD CONSTRAINT ck_exports_period CHECK (num_nulls(since, until)"
    " = CASE WHEN month IS NULL THEN 0 ELSE 2 END AND until - since BETWEEN 1 AND 366)",
    "COMMENT ON COLUMN exports.month IS 'NULL: another period than a month'",
    "COMMENT ON COLUMN exports.until IS 'the day behind the last one'",
)
DOWN = (
    "DELETE FROM operation_steps s USING operations o JOIN exports x ON x.id = o.export_id"
    " WHERE o.id = s.operation_id AND x.month IS NULL",
    "DELETE FROM operations o USING exports x WHERE x.id = o.export_id AND x.month IS NULL",
    "DELETE FROM export_chunks c USING exports x WHERE x.id = c.export_id AND x.month IS NULL",
    "DELETE FROM exports WHERE month IS NULL",
    "ALTER TABLE exports DROP COLUMN since, DROP COLUMN until, ALTER month SET NOT NULL",
    "COMMENT ON COLUMN exports.month IS NULL",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
