"""Database functions and triggers of prices, as created by migrations."""

from __future__ import annotations

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
"""Prices of accounts with contracts, by period: the contract price, else the list price."""

PRICES_PAID = """
CREATE FUNCTION prices_paid(project uuid, article text, place text, money text)
RETURNS TABLE (account_id uuid, price_id uuid, unit_price numeric, list_unit_price numeric, valid_from timestamptz,
               valid_to timestamptz)
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT payer.account_id, rate.price_id, rate.unit_price, rate.list_unit_price,
         greatest(rate.valid_from, payer.valid_from), least(rate.valid_to, payer.valid_to)
    FROM (SELECT a.account_id, a.valid_from, lead(a.valid_from, 1, 'infinity') OVER (ORDER BY a.valid_from) AS valid_to
            FROM project_accounts a WHERE a.project_id = project) AS payer
   CROSS JOIN LATERAL (
     SELECT p.id AS price_id, p.unit_price, p.unit_price AS list_unit_price, p.valid_from, p.valid_to
       FROM prices p
      WHERE p.sku = article AND p.region = place AND p.currency = money
        AND NOT EXISTS (SELECT FROM contract_prices c WHERE c.account_id = payer.account_id
                           AND c.sku = article AND c.region = place AND c.currency = money)
     UNION ALL
     SELECT k.price_id, k.unit_price, k.list_unit_price, k.valid_from, k.valid_to
       FROM account_prices k
      WHERE k.account_id = payer.account_id AND k.sku = article AND k.region = place AND k.currency = money
     OFFSET 0
   ) AS rate
   WHERE rate.valid_from < payer.valid_to AND (rate.valid_to IS NULL OR rate.valid_to > payer.valid_from)
$$
"""
"""A project's prices of a SKU in a region and currency, by period, which never overlap.

The price is that of the account that pays for the project at that time: its contract price, else the list price.
`valid_to` is infinity if open. Inlined by the planner; `hour.RATED` does the same for all projects. OFFSET 0 lets the
conditions use the indexes of each branch.
"""

PRICED_MINUTES = """
CREATE FUNCTION priced_minutes(origin timestamptz, since timestamptz, until timestamptz, valid_from timestamptz,
                               valid_to timestamptz, quantity integer, unit_price numeric)
RETURNS TABLE (started_at timestamptz, ended_at timestamptz, first_minute integer, minutes integer, cost numeric)
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT span.started_at, span.ended_at, minutes_before(origin, span.started_at),
         minutes_between(origin, span.started_at, span.ended_at),
         minutes_between(origin, span.started_at, span.ended_at) * (quantity * unit_price)
    FROM (SELECT greatest(since, valid_from) AS started_at, least(until, valid_to) AS ended_at) AS span
$$
"""
"""The arithmetic of every bill, estimate and live figure: the unrounded cost of usage in [since, until) at one price.

`quantity` machines at `unit_price` per minute of each, in force in [valid_from, valid_to); NULL as `valid_to` is open.
A minute belongs to the span that it starts in; `first_minute` is the number of the first. The planner inlines it, so
that an expression is evaluated wherever a statement uses its column; OFFSET 0 behind a call has it evaluated once.
"""

GUARD_WITHDRAWAL = """
CREATE FUNCTION guard_withdrawal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_WHEN = 'BEFORE' THEN
    IF OLD.valid_from <= app_now() THEN
      RAISE EXCEPTION 'price % has begun and stays', OLD.id USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
  END IF;
  -- Who withdraws it at its last moment may commit after an hour of it was closed.
  PERFORM note_dirty_hours('price', OLD.valid_from, OLD.valid_to);
  -- Up to the next version, if there is one within the time that is given back.
  EXECUTE format('UPDATE %1$I p SET valid_to = least($1, (
                    SELECT min(n.valid_from) FROM %1$I n
                     WHERE (n.sku, n.region, n.currency) = (p.sku, p.region, p.currency) AND n.valid_from >= p.valid_to
                       AND to_jsonb(n) -> ''account_id'' IS NOT DISTINCT FROM to_jsonb(p) -> ''account_id''))
                   WHERE p.id = $2 AND p.valid_to = $3', TG_TABLE_NAME)
    USING OLD.follows_end, OLD.follows, OLD.valid_from;
  RETURN NULL;
END $$
"""
"""A version that has not begun may go; the one that it ended gets the end back that it had."""


WITHDRAW_PRICE = """
CREATE FUNCTION withdraw_price(price uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM prices WHERE id = price;
  DELETE FROM contract_prices WHERE id = price;
END $$
"""
"""The application's only way to remove a price: it has no right to delete."""


def withdrawal_triggers(table: str) -> tuple[str, str]:
    return (
        f"CREATE TRIGGER {table}_begun BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_withdrawal()",
        f"CREATE TRIGGER {table}_withdrawn AFTER DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_withdrawal()",
    )


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
    """Only a future end of a version can change; a late version marks hours as dirty."""
    return (
        f"CREATE TRIGGER {table}_late AFTER INSERT OR UPDATE ON {table} FOR EACH ROW"
        " EXECUTE FUNCTION note_late_price()",
        f"CREATE TRIGGER {table}_final BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change_of_price()",
    )
