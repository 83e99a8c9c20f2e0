"""Which people have shown that their e-mail is theirs, and which links of invitations only their mailbox got.

Whoever has no password came by an identity provider, which has verified the e-mail. Of the others nobody knows: the
link of their invitation was shown to whoever invited them.

Revision ID: 0003_verified_people
Revises: 0002_billed_builds
"""

from __future__ import annotations

from alembic import op

revision = "0003_verified_people"
down_revision = "0002_billed_builds"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("ALTER TABLE users ADD COLUMN verified_at timestamptz")
    op.execute(
        "COMMENT ON COLUMN users.verified_at IS 'when the person first showed that the e-mail is theirs; NULL: not yet'"
    )
    op.execute("UPDATE users SET verified_at = created_at WHERE password_hash IS NULL")
    op.execute("ALTER TABLE invitations ADD COLUMN mailed_hash bytea")
    op.execute(
        "COMMENT ON COLUMN invitations.mailed_hash IS"
        " 'secret_hash, if its link was sent by e-mail only; a version that shows links leaves another'"
    )


def downgrade() -> None:
    op.execute("ALTER TABLE invitations DROP COLUMN mailed_hash")
    op.execute("ALTER TABLE users DROP COLUMN verified_at")
