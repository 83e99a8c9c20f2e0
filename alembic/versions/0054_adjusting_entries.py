"""Adjusting entries: postings that correct others, with their reason; sums of an account are counted again.

Revision ID: 0054
Revises: 0053
"""

from __future__ import annotations

from alembic import op

revision = "0054"
down_revision = "0053"
branch_labels = None
depends_on = None

COLUMNS = """
ALTER TABLE ledger_transfers ADD COLUMN adjusts text, ADD COLUMN reason text,
  ADD CONSTRAINT ck_ledger_transfers_reason CHECK ((adjusts IS NULL) = (reason IS NULL))
"""
COMMENT = """
COMMENT ON COLUMN ledger_transfers.adjusts IS 'an adjusting entry: idem of the posting that it corrects or makes up for'
"""
INDEX = "CREATE INDEX ix_ledger_transfers_adjusts ON ledger_transfers (adjusts) WHERE adjusts IS NOT NULL"
GRANT = "GRANT INSERT (adjusts, reason) ON ledger_transfers TO ipucloud_app"
RECOUNT = """
CREATE FUNCTION recount_ledger_account(account bigint) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- Who posts to the account waits for this row; what was posted before is seen by the next statement.
  PERFORM FROM ledger_accounts WHERE id = account FOR NO KEY UPDATE;
  UPDATE ledger_accounts a SET debits = posted.debits, credits = posted.credits
    FROM (SELECT coalesce((SELECT sum(amount) FROM ledger_transfers WHERE debit_id = account), 0) AS debits,
                 coalesce((SELECT sum(amount) FROM ledger_transfers WHERE credit_id = account), 0) AS credits) AS posted
   WHERE a.id = account AND (a.debits, a.credits) IS DISTINCT FROM (posted.debits, posted.credits);
  RETURN FOUND;
END $$
"""
RIGHTS = (
    "REVOKE ALL ON FUNCTION recount_ledger_account(bigint) FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION recount_ledger_account(bigint) TO ipucloud_app",
)


def upgrade() -> None:
    for statement in (COLUMNS, COMMENT, INDEX, GRANT, RECOUNT, *RIGHTS):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION recount_ledger_account")
    op.execute("ALTER TABLE ledger_transfers DROP COLUMN adjusts, DROP COLUMN reason")
