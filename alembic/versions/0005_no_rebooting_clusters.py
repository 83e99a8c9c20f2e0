"""Clusters have no state of being restarted: none ever had it, and their servers do.

Revision ID: 0005_no_rebooting_clusters
Revises: 0004_hidden_queries
"""

from __future__ import annotations

from alembic import op

revision = "0005_no_rebooting_clusters"
down_revision = "0004_hidden_queries"
branch_labels = None
depends_on = None

_STATES = (
    "'creating', 'active', 'degraded', 'resizing', 'suspending', 'suspended', 'resuming', {}'rebuilding', 'error',"
)


def upgrade() -> None:
    _allow("")


def downgrade() -> None:
    _allow("'rebooting', ")


def _allow(more: str) -> None:
    op.execute("ALTER TABLE clusters DROP CONSTRAINT ck_clusters_state")
    states = _STATES.format(more)
    op.execute(
        f"ALTER TABLE clusters ADD CONSTRAINT ck_clusters_state CHECK (state IN ({states} 'deleting', 'deleted'))"
    )
