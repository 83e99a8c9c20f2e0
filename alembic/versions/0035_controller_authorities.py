"""Certificate authorities of V-IPU controllers. Until the next inventory they count as controllers without TLS.

Revision ID: 0035
Revises: 0034
"""

from __future__ import annotations

from alembic import op

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE site_regions ADD COLUMN vipu_authority TEXT")
    op.execute(
        "COMMENT ON COLUMN site_regions.vipu_authority"
        " IS 'PEM that the controller is verified with; NULL: it speaks plaintext'"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE site_regions DROP COLUMN vipu_authority")
