"""Operations and jobs know who asked for them.

Revision ID: 0096
Revises: 0095
"""

from __future__ import annotations

from alembic import op

revision = "0096"
down_revision = "0095"
branch_labels = None
depends_on = None

_TABLES = {"operations": "requested_by", "jobs": "created_by"}


def upgrade() -> None:
    for table, token in _TABLES.items():
        op.execute(f"ALTER TABLE {table} ADD actor TEXT")
        op.execute(f"ALTER TABLE {table} ADD actor_kind TEXT DEFAULT 'platform' NOT NULL")
        if table == "operations":
            op.execute("ALTER TABLE operations DISABLE TRIGGER operations_final")  # finished ones get a column, too
        op.execute(
            f"""
            UPDATE {table} SET actor = coalesce(users.email, tokens.name),
                   actor_kind = CASE WHEN users.id IS NOT NULL THEN 'user'
                                     WHEN tokens.project_id IS NULL AND tokens.account_id IS NULL THEN 'operator'
                                     ELSE 'token' END
              FROM tokens LEFT JOIN users ON users.id = tokens.owner_id WHERE tokens.id = {table}.{token}
            """  # noqa: S608  # our own names
        )
        if table == "operations":
            op.execute("ALTER TABLE operations ENABLE TRIGGER operations_final")
        op.execute(f"ALTER TABLE {table} ALTER actor SET DEFAULT nullif(current_setting('ipucloud.actor', true), '')")
        op.execute(
            f"ALTER TABLE {table} ALTER actor_kind"
            " SET DEFAULT coalesce(nullif(current_setting('ipucloud.actor_kind', true), ''), 'platform')"
        )
        op.execute(
            f"ALTER TABLE {table} ADD CONSTRAINT ck_{table}_actor_kind"
            " CHECK (actor_kind IN ('user', 'token', 'operator', 'platform'))"
        )
        op.execute(f"COMMENT ON COLUMN {table}.actor IS 'e-mail of the person, or name of the token, that asked'")


def downgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} DROP actor, DROP actor_kind")
