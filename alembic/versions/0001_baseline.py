"""The baseline: the schema that the 111 revisions before it made, as SQL in files by area, executed in their order.

Its text is frozen: later revisions change the schema (docs/adr/0030-a-baseline-of-frozen-sql.md).

Revision ID: 0001_baseline
Revises:
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0001_baseline"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    cursor = op.get_bind().connection.cursor()  # the driver's own: it takes a file of statements at once
    for path in sorted(Path(__file__).with_suffix("").glob("*.sql")):
        cursor.execute(path.read_text())


def downgrade() -> None:
    raise NotImplementedError("Nothing is older than the baseline: drop the database.")
