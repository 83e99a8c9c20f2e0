"""An operation that ends wakes the clusters that wait for capacity: it may have waited itself.

Revision ID: 0167
Revises: 0200
"""

from __future__ import annotations

from alembic import op

revision = "0167"
down_revision = "0200"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(
        """
        CREATE CONSTRAINT TRIGGER operations_wake_those_that_wait AFTER UPDATE ON operations
          DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
          WHEN (NEW.finished_at IS NOT NULL AND OLD.finished_at IS NULL) EXECUTE FUNCTION wake_those_that_wait()
        """
    )


def downgrade() -> None:
    op.execute("DROP TRIGGER operations_wake_those_that_wait ON operations")
