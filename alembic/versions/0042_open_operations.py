"""Operations on different partitions of one cluster run at once.

Revision ID: 0042
Revises: 0041
"""

from __future__ import annotations

from alembic import op

revision = "0042"
down_revision = "0041"
branch_labels = None
depends_on = None

_DONE = "state IN ('cancelled', 'failed', 'succeeded')"


def upgrade() -> None:
    op.execute("DROP INDEX uq_operations_open_cluster")
    op.execute(
        "CREATE UNIQUE INDEX uq_operations_open ON operations (cluster_id, partition_id) NULLS NOT DISTINCT"
        f" WHERE NOT ({_DONE}) AND cluster_id IS NOT NULL"
    )
    op.execute("ALTER TABLE operation_steps ADD retry_at TIMESTAMP WITH TIME ZONE")


def downgrade() -> None:
    op.execute("ALTER TABLE operation_steps DROP retry_at")
    op.execute("DROP INDEX uq_operations_open")
    op.execute(f"CREATE UNIQUE INDEX uq_operations_open_cluster ON operations (cluster_id) WHERE NOT ({_DONE})")
