"""Tokens may be narrowed to some of the scopes that their role has. Those that exist are not.

Revision ID: 0280
Revises: 0270
"""

from __future__ import annotations

from alembic import op

revision = "0280"
down_revision = "0270"
branch_labels = None
depends_on = None

UP = (
    """
    ALTER TABLE tokens
      ADD scopes TEXT[],
      ADD CONSTRAINT ck_tokens_scopes CHECK (cardinality(scopes) > 0 AND array_position(scopes, NULL) IS NULL),
      ADD CONSTRAINT ck_tokens_scopes_kind CHECK (scopes IS NULL OR kind IN ('service', 'personal'))
    """,
    "COMMENT ON COLUMN tokens.scopes IS 'those that it is narrowed to; NULL: all that the role has'",
)
# A narrowed token must not become one that has all rights of its role.
DOWN = (
    "UPDATE tokens SET revoked_at = coalesce(revoked_at, app_now()) WHERE scopes IS NOT NULL",
    "ALTER TABLE tokens DROP CONSTRAINT ck_tokens_scopes_kind, DROP CONSTRAINT ck_tokens_scopes, DROP scopes",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
