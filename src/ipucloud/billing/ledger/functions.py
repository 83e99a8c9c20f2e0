"""Database functions and triggers of the ledger, as created by migrations.

They bind the application as well: it can neither change nor remove posted money, nor write to a sealed month.
"""

from __future__ import annotations

NOTE_DIRTY_HOURS = """
CREATE FUNCTION note_dirty_hours(cause text, since timestamptz, until timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  -- Whoever begins to close an hour waits until all that hold this lock are through; those who take it later see that
  -- the hour was begun. So no fact is missed by both.
  PERFORM pg_advisory_xact_lock_shared(7220501);
  INSERT INTO dirty_hours (hour, cause)
  SELECT hour, note_dirty_hours.cause FROM hour_closes
   WHERE hour < coalesce(until, 'infinity') AND hour > since - interval '1 hour';
END $$
"""
REFUSE_CHANGE_OF_MONEY = """
CREATE FUNCTION refuse_change_of_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: what was posted stays, and a sealed month takes nothing', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""


def final(table: str) -> tuple[str, str]:
    """Rows cannot be changed or removed, not even by the owner."""
    return (
        f"CREATE TRIGGER {table}_final BEFORE UPDATE OR DELETE ON {table} FOR EACH ROW"
        " EXECUTE FUNCTION refuse_change_of_money()",
        f"CREATE TRIGGER {table}_kept BEFORE TRUNCATE ON {table} FOR EACH STATEMENT"
        " EXECUTE FUNCTION refuse_change_of_money()",
    )


OPEN_BILLING_MONTH = """
CREATE FUNCTION open_billing_month(month date) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  first date := date_trunc('month', month::timestamp)::date;
  partition text := 'usage_charges_' || to_char(month, 'YYYY_MM');
BEGIN
  INSERT INTO billing_months (month) VALUES (first) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  -- Attached rather than made as a partition: that would shut out everybody who reads charges meanwhile.
  EXECUTE format('CREATE TABLE %I (LIKE usage_charges INCLUDING ALL)', partition);
  EXECUTE format('ALTER TABLE usage_charges ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', partition, first,
                 (first + interval '1 month')::date);
  RETURN true;
END $$
"""
SEAL_BILLING_MONTH = """
CREATE FUNCTION seal_billing_month(month date) RETURNS boolean LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  begins timestamptz := seal_billing_month.month::timestamp AT TIME ZONE 'UTC';
  ends timestamptz := (seal_billing_month.month + interval '1 month') AT TIME ZONE 'UTC';
BEGIN
  PERFORM FROM billing_months b WHERE b.month = seal_billing_month.month AND b.sealed_at IS NULL FOR UPDATE;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF ends + interval '1 day' > app_now() THEN
    RAISE EXCEPTION 'month % is sealed on the second day of the next one', seal_billing_month.month
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  EXECUTE format('CREATE TRIGGER sealed BEFORE INSERT ON %I FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()',
                 'usage_charges_' || to_char(seal_billing_month.month, 'YYYY_MM'));
  IF EXISTS (SELECT FROM hour_closes c
              WHERE c.hour >= begins AND c.hour < ends AND (c.verified_at IS NULL
                 OR EXISTS (SELECT FROM dirty_hours d WHERE d.hour = c.hour))) THEN
    RAISE EXCEPTION 'month % has hours that are not closed and verified', seal_billing_month.month
      USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  UPDATE billing_months b SET sealed_at = app_now() WHERE b.month = seal_billing_month.month;
  RETURN true;
END $$
"""

APPLY_TRANSFERS = """
CREATE FUNCTION apply_transfers() RETURNS trigger LANGUAGE plpgsql
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
  -- Money that was spent can be taken back by who paid it; nothing else overdraws a wallet.
  IF EXISTS (SELECT FROM posted p JOIN ledger_accounts a ON a.id = p.debit_id
              WHERE a.code = 'wallet' AND a.credits < a.debits AND p.kind <> 'payment_reversed') THEN
    RAISE EXCEPTION 'a wallet would be overdrawn' USING ERRCODE = 'check_violation';
  END IF;
  RETURN NULL;
END $$
"""
APPLY_TRANSFERS_TRIGGER = """
CREATE TRIGGER ledger_transfers_apply AFTER INSERT ON ledger_transfers REFERENCING NEW TABLE AS posted
FOR EACH STATEMENT EXECUTE FUNCTION apply_transfers()
"""
RECOUNT_LEDGER_ACCOUNT = """
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
