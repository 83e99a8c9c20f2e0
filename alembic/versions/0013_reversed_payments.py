"""Payments that a provider takes back are found, and reversed by payments of their own, below zero if need be.

Revision ID: 0013_reversed_payments
Revises: 0012_allowed_sources
"""

from __future__ import annotations

from alembic import op

revision = "0013_reversed_payments"
down_revision = "0012_allowed_sources"
branch_labels = None
depends_on = None

_APPLY = """
CREATE OR REPLACE FUNCTION apply_transfers() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- In the order of ids, so that two of these never wait for each other; a key share of the references lets it pass.
  PERFORM FROM ledger_accounts
    WHERE id IN (SELECT debit_id FROM posted UNION SELECT credit_id FROM posted)
    ORDER BY id FOR NO KEY UPDATE;
  UPDATE ledger_accounts a SET debits = a.debits + moved.debits, credits = a.credits + moved.credits
    FROM (SELECT id, sum(debit) AS debits, sum(credit) AS credits
            FROM (SELECT debit_id AS id, amount AS debit, 0 AS credit FROM posted
                  UNION ALL SELECT credit_id, 0, amount FROM posted) AS sides
           GROUP BY id) AS moved
   WHERE a.id = moved.id;
{floor}  RETURN NULL;
END $$
"""
_FLOOR = """  -- Money that was spent can be taken back by who paid it; nothing else overdraws a wallet.
  IF EXISTS (SELECT FROM posted p JOIN ledger_accounts a ON a.id = p.debit_id
              WHERE a.code = 'wallet' AND a.credits < a.debits AND p.kind <> 'payment_reversed') THEN
    RAISE EXCEPTION 'a wallet would be overdrawn' USING ERRCODE = 'check_violation';
  END IF;
"""
_UP = (
    "ALTER TABLE payments ADD COLUMN reverses uuid CONSTRAINT fk_payments_reverses REFERENCES payments (id)",
    "COMMENT ON COLUMN payments.reverses IS 'the payment that was taken back, or a part'",
    "ALTER TABLE payments ADD CONSTRAINT ck_payments_reversal"
    " CHECK (reverses IS NULL OR direction = 'out' AND state = 'done')",
    "CREATE INDEX ix_payments_reverses ON payments (reverses) WHERE reverses IS NOT NULL",
    """
    CREATE TABLE found_reversals (
        id text NOT NULL,
        payment_id uuid NOT NULL,
        amount numeric(28, 10) NOT NULL,
        status text NOT NULL,
        taken boolean NOT NULL,
        found_at timestamptz DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_found_reversals PRIMARY KEY (id),
        CONSTRAINT ck_found_reversals_amount CHECK (amount > 0),
        CONSTRAINT fk_found_reversals_payment_id FOREIGN KEY (payment_id) REFERENCES payments (id)
    )
    """,
    "COMMENT ON TABLE found_reversals IS 'what Stripe took back of payments that had come in'",
    "COMMENT ON COLUMN found_reversals.id IS 'Stripe''s id of a refund or dispute, re_… or du_…'",
    "COMMENT ON COLUMN found_reversals.status IS 'Stripe''s'",
    "COMMENT ON COLUMN found_reversals.taken IS 'whether Stripe has the money back; false: no longer'",
    "CREATE INDEX ix_found_reversals_payment ON found_reversals (payment_id)",
    "GRANT SELECT, INSERT, UPDATE (status, taken) ON found_reversals TO ipucloud_app",
    _APPLY.format(floor=_FLOOR),
    "ALTER TABLE ledger_accounts DROP CONSTRAINT ck_ledger_accounts_floor",
    "ALTER TABLE ledger_accounts ADD CONSTRAINT ck_ledger_accounts_floor CHECK (code <> 'promo' OR credits >= debits)",
)
_DOWN = (
    "ALTER TABLE ledger_accounts DROP CONSTRAINT ck_ledger_accounts_floor",
    "ALTER TABLE ledger_accounts ADD CONSTRAINT ck_ledger_accounts_floor"
    " CHECK (code NOT IN ('wallet', 'promo') OR credits >= debits)",
    _APPLY.format(floor=""),
    "DROP TABLE found_reversals",
    "ALTER TABLE payments DROP COLUMN reverses",
)


def upgrade() -> None:
    for statement in _UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in _DOWN:
        op.execute(statement)
