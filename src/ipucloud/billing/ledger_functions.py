"""What the database itself does about money: functions and triggers, as migrations make them.

They hold whatever the application's code does: it may neither change nor remove money, nor touch a sealed month.
"""

from __future__ import annotations

MINUTES_BEFORE = """
CREATE FUNCTION minutes_before(origin timestamptz, instant timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN instant <= origin THEN 0 ELSE ceil(date_part('epoch', instant - origin) / 60)::integer END
$$
"""
"""As `minutes.minutes_before`: exact, because whole seconds and their quotients by 60 are exact where they end on 0."""

OPEN_DEFAULT_ACCOUNT = """
CREATE FUNCTION open_default_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO billing_accounts (id, name) VALUES (NEW.id, NEW.name);
  INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (NEW.id, NEW.id, 'epoch');
  RETURN NULL;
END $$
"""
OPEN_DEFAULT_ACCOUNT_TRIGGER = """
CREATE TRIGGER projects_account AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION open_default_account()
"""

ACCOUNT_PRICES = """
CREATE VIEW account_prices AS
SELECT account_id, sku, region, currency, c.id AS price_id, c.unit_price, p.unit_price AS list_unit_price,
       greatest(c.valid_from, p.valid_from) AS valid_from, least(c.valid_to, p.valid_to) AS valid_to
  FROM contract_prices c JOIN prices p USING (sku, region, currency)
 WHERE tstzrange(c.valid_from, c.valid_to) && tstzrange(p.valid_from, p.valid_to)
UNION ALL
SELECT c.account_id, c.sku, c.region, c.currency, c.id, c.unit_price, c.unit_price, lower(alone), upper(alone)
  FROM contract_prices c
 CROSS JOIN LATERAL (
   SELECT range_agg(tstzrange(p.valid_from, p.valid_to)) AS held FROM prices p
    WHERE (p.sku, p.region, p.currency) = (c.sku, c.region, c.currency)) AS listed
 CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange(c.valid_from, c.valid_to))
                           - coalesce(listed.held, tstzmultirange())) AS alone
UNION ALL
SELECT k.account_id, p.sku, p.region, p.currency, p.id, p.unit_price, p.unit_price, lower(rest), upper(rest)
  FROM (SELECT account_id, sku, region, currency, range_agg(tstzrange(valid_from, valid_to)) AS held
          FROM contract_prices GROUP BY account_id, sku, region, currency) AS k
  JOIN prices p USING (sku, region, currency)
 CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange(p.valid_from, p.valid_to)) - k.held) AS rest
"""
"""What accounts with contract prices pay, and when: the contract's price, and the list's where there is none."""

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
NOTE_LATE_USAGE = """
CREATE FUNCTION note_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('usage', NEW.started_at, NEW.ended_at);
  ELSE
    PERFORM note_dirty_hours('usage', least(OLD.ended_at, NEW.ended_at),
                             greatest(coalesce(OLD.ended_at, 'infinity'), coalesce(NEW.ended_at, 'infinity')));
  END IF;
  RETURN NULL;
END $$
"""
NOTE_LATE_USAGE_TRIGGER = """
CREATE TRIGGER usage_intervals_late AFTER INSERT OR UPDATE ON usage_intervals FOR EACH ROW
EXECUTE FUNCTION note_late_usage()
"""
NOTE_LATE_PRICE = """
CREATE FUNCTION note_late_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    PERFORM note_dirty_hours('price', NEW.valid_from, NEW.valid_to);
  ELSE
    PERFORM note_dirty_hours('price', least(OLD.valid_to, NEW.valid_to),
                             greatest(coalesce(OLD.valid_to, 'infinity'), coalesce(NEW.valid_to, 'infinity')));
  END IF;
  RETURN NULL;
END $$
"""
REFUSE_CHANGE_OF_PRICE = """
CREATE FUNCTION refuse_change_of_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF to_jsonb(NEW) - 'valid_to' <> to_jsonb(OLD) - 'valid_to' THEN
    RAISE EXCEPTION 'price % never changes but for its end', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.valid_to <= app_now() OR NEW.valid_to <= app_now() THEN
    RAISE EXCEPTION 'price % can only end in the future', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$
"""


def price_triggers(table: str) -> tuple[str, str]:
    """A version never changes but for an end in the future; one that comes late makes hours dirty."""
    return (
        f"CREATE TRIGGER {table}_late AFTER INSERT OR UPDATE ON {table} FOR EACH ROW"
        " EXECUTE FUNCTION note_late_price()",
        f"CREATE TRIGGER {table}_final BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change_of_price()",
    )


REFUSE_CHANGE_OF_MONEY = """
CREATE FUNCTION refuse_change_of_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: what was posted stays, and a sealed month takes nothing', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$
"""


def final(table: str) -> tuple[str, str]:
    """Nobody changes or removes a row, not even the owner by mistake."""
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
  RETURN NULL;
END $$
"""
APPLY_TRANSFERS_TRIGGER = """
CREATE TRIGGER ledger_transfers_apply AFTER INSERT ON ledger_transfers REFERENCING NEW TABLE AS posted
FOR EACH STATEMENT EXECUTE FUNCTION apply_transfers()
"""
