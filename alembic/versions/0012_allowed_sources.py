"""Clusters and addresses have the networks from which SSH is let in, tokens those from which they are used.

Revision ID: 0012_allowed_sources
Revises: 0011_provider_logouts
"""

from __future__ import annotations

from alembic import op

revision = "0012_allowed_sources"
down_revision = "0011_provider_logouts"
branch_labels = None
depends_on = None

_COMMENTS = {
    "clusters.allowed_sources": "networks from which SSH is let in; none: from everywhere",
    "clusters.sources_revision": "counts changes of its allowed sources; 0: it never had any",
    "poplar_servers.sources_revision": "as in clusters; the one its site was last seen to enforce",
    "tokens.allowed_sources": "networks from which it may be used; none: from everywhere",
    "addresses.allowed_sources": "networks from which connections through it are taken; none: from everywhere",
    "poplar_servers.allowed_sources": "as in clusters; those that its site was last seen to enforce",
}


def upgrade() -> None:
    op.execute(
        "ALTER TABLE clusters ADD COLUMN allowed_sources jsonb NOT NULL DEFAULT '[]',"
        " ADD COLUMN sources_revision integer NOT NULL DEFAULT 0"
    )
    op.execute(
        "ALTER TABLE poplar_servers ADD COLUMN sources_revision integer, ADD COLUMN allowed_sources jsonb,"
        " ADD COLUMN sources_observed_at timestamptz"
    )
    for table in ("tokens", "addresses"):
        op.execute(f"ALTER TABLE {table} ADD COLUMN allowed_sources text[] NOT NULL DEFAULT '{{}}'")
    for column, comment in _COMMENTS.items():
        op.execute(f"COMMENT ON COLUMN {column} IS '{comment}'")


def downgrade() -> None:
    for table in ("addresses", "tokens"):
        op.execute(f"ALTER TABLE {table} DROP COLUMN allowed_sources")
    op.execute(
        "ALTER TABLE poplar_servers DROP COLUMN sources_observed_at, DROP COLUMN allowed_sources,"
        " DROP COLUMN sources_revision"
    )
    op.execute("ALTER TABLE clusters DROP COLUMN sources_revision, DROP COLUMN allowed_sources")
