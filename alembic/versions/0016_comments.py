"""Comments of columns in the words of the documentation.

Revision ID: 0016
Revises: 0015
"""

from __future__ import annotations

from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None

COMMENTS = (
    ("hosts.machine_id", "the machine that the host itself is", "the machine that is this host"),
    ("operation_steps.checks", "that found it not done", "checks that found it not done"),
    ("repairs.detail", "what the audit saw", "what the audit found"),
    ("repairs.project_id", "NULL: nothing of a customer''s", "NULL: not a customer''s object"),
    (
        "repairs.operation_id",
        "the operation that a worker was left the rest to",
        "the operation in which a worker does the rest",
    ),
    (
        "work.project_id",
        "whose turn it is; the nil uuid for the platform",
        "for turns between projects; the nil uuid for the platform",
    ),
    (
        "exports.fence",
        "of the ticket that made the file; its chunks hold",
        "of the claim that made the file; its chunks hold",
    ),
    ("webhooks.after_transaction", "the last event that was looked at", "transaction of the last event that was read"),
    ("prepaid_accounts.state", "as it was told last", "as last reported"),
)


def upgrade() -> None:
    for column, _, comment in COMMENTS:
        op.execute(f"COMMENT ON COLUMN {column} IS '{comment}'")


def downgrade() -> None:
    for column, comment, _ in COMMENTS:
        op.execute(f"COMMENT ON COLUMN {column} IS '{comment}'")
