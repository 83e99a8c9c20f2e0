"""Keys of requests that moved money are kept for ever.

Revision ID: 0038
Revises: 0037
"""

from __future__ import annotations

from alembic import op

revision = "0038"
down_revision = "0037"
branch_labels = None
depends_on = None

UP = (
    """
    CREATE TABLE money_requests (
        scope UUID NOT NULL,
        key TEXT NOT NULL,
        fingerprint BYTEA NOT NULL,
        payment_id UUID,
        credit_id UUID,
        credit_note_id UUID,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_money_requests PRIMARY KEY (scope, key),
        CONSTRAINT fk_money_requests_payment_id FOREIGN KEY(payment_id) REFERENCES payments (id),
        CONSTRAINT fk_money_requests_credit_id FOREIGN KEY(credit_id) REFERENCES promo_credits (id),
        CONSTRAINT fk_money_requests_credit_note_id FOREIGN KEY(credit_note_id) REFERENCES credit_notes (id),
        CONSTRAINT ck_money_requests_made_one CHECK (num_nonnulls(payment_id, credit_id, credit_note_id) = 1)
    )
    """,
    "COMMENT ON TABLE money_requests IS 'append-only; requests that moved money, by their keys, for ever'",
    "COMMENT ON COLUMN money_requests.scope IS 'project, or the nil uuid for the platform'",
    "COMMENT ON COLUMN money_requests.fingerprint IS 'SHA-256 of the request'",
    "CREATE INDEX ix_money_requests_payment ON money_requests (payment_id)",
    "CREATE INDEX ix_money_requests_credit ON money_requests (credit_id)",
    "CREATE INDEX ix_money_requests_credit_note ON money_requests (credit_note_id)",
    "CREATE TRIGGER money_requests_final BEFORE UPDATE OR DELETE ON money_requests FOR EACH ROW"
    " EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER money_requests_kept BEFORE TRUNCATE ON money_requests FOR EACH STATEMENT"
    " EXECUTE FUNCTION refuse_change_of_money()",
    "GRANT SELECT, INSERT ON money_requests TO ipucloud_app",
    # Answers that are still there name what their request made.
    """
    INSERT INTO money_requests (scope, key, fingerprint, payment_id, credit_id, credit_note_id, created_at)
    SELECT k.scope, k.key, k.fingerprint, p.id, c.id, n.id, k.created_at
      FROM idempotency_keys k
      LEFT JOIN payments p ON p.id = k.subject_id
      LEFT JOIN promo_credits c ON c.id = k.subject_id
      LEFT JOIN credit_notes n ON n.id = k.subject_id
     WHERE num_nonnulls(p.id, c.id, n.id) = 1
    """,
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TABLE money_requests")
