"""An identity provider creates, updates, deactivates and deletes people.

Revision ID: 0310
Revises: 0301
"""

from __future__ import annotations

from alembic import op

revision = "0310"
down_revision = "0301"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE users
      ADD external_id TEXT,
      ADD display_name TEXT,
      ADD formatted_name TEXT,
      ADD given_name TEXT,
      ADD family_name TEXT,
      ADD updated_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
      ADD deactivated_at TIMESTAMP WITH TIME ZONE,
      ADD deleted_at TIMESTAMP WITH TIME ZONE,
      ADD CONSTRAINT ck_users_deleted CHECK (deleted_at IS NULL OR deactivated_at IS NOT NULL)
    """,
    "COMMENT ON COLUMN users.external_id IS 'id at the identity provider that provisions people'",
    "DROP INDEX uq_users_email",
    "CREATE UNIQUE INDEX uq_users_email ON users (email) WHERE deleted_at IS NULL",
    "CREATE INDEX ix_users_external_id ON users (external_id) WHERE external_id IS NOT NULL",
    "CREATE INDEX ix_users_email ON users (email)",
)
# Nobody who was deactivated may sign in by it. Without the column only a person without a password and without an
# e-mail of theirs cannot.
DOWN = (
    "DELETE FROM user_identities WHERE user_id IN (SELECT id FROM users WHERE deactivated_at IS NOT NULL)",
    """
    UPDATE users SET password_hash = NULL, password_set_at = NULL, email = 'deactivated.' || id || '@invalid'
     WHERE deactivated_at IS NOT NULL
    """,
    "DROP INDEX uq_users_email, ix_users_external_id, ix_users_email",
    "CREATE UNIQUE INDEX uq_users_email ON users (email)",
    """
    ALTER TABLE users DROP CONSTRAINT ck_users_deleted, DROP external_id, DROP display_name, DROP formatted_name,
      DROP given_name, DROP family_name, DROP updated_at, DROP deactivated_at, DROP deleted_at
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
