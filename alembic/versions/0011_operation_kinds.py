"""Operations know by themselves whether they can be cancelled, and what they are about.

Revision ID: 0011
Revises: 0010
"""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE operations ADD COLUMN cancellable BOOLEAN DEFAULT false NOT NULL",
    # What is finished never changes, and cannot be cancelled either.
    "UPDATE operations SET cancellable = true"
    " WHERE finished_at IS NULL AND kind IN ('cluster.create', 'cluster.resume')",
    "ALTER TABLE operations DROP CONSTRAINT ck_operations_partition",
    "ALTER TABLE operations DROP CONSTRAINT ck_operations_export",
    "ALTER TABLE operations ADD CONSTRAINT ck_operations_target CHECK"
    " (num_nonnulls(cluster_id, export_id) = 1 AND (partition_id IS NULL OR cluster_id IS NOT NULL))",
)
DOWN = (
    "ALTER TABLE operations DROP CONSTRAINT ck_operations_target",
    "ALTER TABLE operations ADD CONSTRAINT ck_operations_export CHECK"
    " ((kind LIKE 'export.%') = (export_id IS NOT NULL) AND num_nonnulls(cluster_id, export_id) = 1)",
    "ALTER TABLE operations ADD CONSTRAINT ck_operations_partition CHECK"
    " ((kind LIKE 'partition.%') = (partition_id IS NOT NULL))",
    "ALTER TABLE operations DROP COLUMN cancellable",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
