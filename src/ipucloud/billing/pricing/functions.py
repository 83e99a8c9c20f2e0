"""Database functions and triggers of prices, as created by migrations."""

from __future__ import annotations

ACCOUNT_PRICES = """
CREATE VIEW account_prices WITH (security_invoker = true) AS
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

PRICE_HOLES = """
CREATE VIEW price_holes AS
SELECT book.sku, book.region, book.currency, lower(hole) AS begins, upper(hole) AS ends
  FROM (SELECT sku, region, currency, min(valid_from) AS first,
               coalesce(range_agg(tstzrange(valid_from, valid_to)) FILTER (WHERE listed), tstzmultirange()) AS held
          FROM (SELECT sku, region, currency, valid_from, valid_to, true AS listed FROM prices
                UNION ALL
                SELECT sku, region, currency, valid_from, valid_to, false FROM contract_prices) AS version
         GROUP BY sku, region, currency) AS book
 CROSS JOIN LATERAL unnest(tstzmultirange(tstzrange(book.first, NULL)) - book.held) AS hole
"""
"""Periods without a list price, from the first version of a SKU in a region and currency on; `ends` NULL: for ever.

A contract price alone leaves a hole too: when it ends, or another account pays, nothing takes its place.
"""

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

CUT_PRICE = """
CREATE FUNCTION cut_price(price uuid, correction uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  book text;
BEGIN
  FOREACH book IN ARRAY '{prices,contract_prices}'::text[] LOOP
    EXECUTE format('UPDATE %1$I p
       SET valid_from = CASE WHEN NOT part.before AND part.beyond THEN part.until ELSE p.valid_from END,
           valid_to = CASE WHEN part.before THEN part.since WHEN part.beyond THEN p.valid_to ELSE p.valid_from END,
           corrected_by = CASE WHEN NOT part.before AND NOT part.beyond THEN $2 END
      FROM (SELECT v.id, c.valid_from AS since, c.valid_to AS until, v.valid_from < c.valid_from AS before,
                   coalesce(v.valid_to, ''infinity'') > coalesce(c.valid_to, ''infinity'') AS beyond
              FROM %1$I v JOIN price_corrections c USING (sku, region, currency)
             WHERE v.id = $1 AND c.id = $2
               AND tstzrange(v.valid_from, v.valid_to) && tstzrange(c.valid_from, c.valid_to)) AS part
     WHERE p.id = part.id', book) USING price, correction;
  END LOOP;
END $$
"""
"""A version gives the period of a recorded correction up: it ends before, begins after, or keeps no time at all.

The application may change no other time of a version than a future end; the trigger binds this function as well.
"""

FOLLOW_PRICE = """
CREATE FUNCTION follow_price(version uuid, former uuid[]) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE prices n SET follows = v.id FROM prices v
   WHERE v.id = version AND n.follows = ANY (former) AND n.valid_from = v.valid_to;
  UPDATE contract_prices n SET follows = v.id FROM contract_prices v
   WHERE v.id = version AND n.follows = ANY (former) AND n.valid_from = v.valid_to;
END $$
"""
"""What was to follow one of the `former` versions now follows the one that ends there."""


def withdrawal_triggers(table: str) -> tuple[str, str]:
    return (
        f"CREATE TRIGGER {table}_begun BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_withdrawal()",
        f"CREATE TRIGGER {table}_withdrawn AFTER DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_withdrawal()",
    )


NOTE_LATE_PRICE = """
CREATE FUNCTION note_late_price() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A correction notes the hours of its own period: those of the versions that it cuts may be many more.
  IF coalesce(current_setting('ipucloud.correction', true), '') <> '' THEN
    RETURN NULL;
  END IF;
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
DECLARE
  times text[] := '{valid_to}';
BEGIN
  IF EXISTS (SELECT FROM price_corrections c
              WHERE c.id::text = current_setting('ipucloud.correction', true) AND c.finished_at IS NULL) THEN
    times := '{valid_from,valid_to,follows,corrected_by}';
  ELSIF OLD.valid_to <= app_now() OR NEW.valid_to <= app_now() THEN
    RAISE EXCEPTION 'price % can only end in the future', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF to_jsonb(NEW) - times <> to_jsonb(OLD) - times THEN
    RAISE EXCEPTION 'price % never changes but for its end', OLD.id USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$
"""


def price_triggers(table: str) -> tuple[str, str]:
    """Only a future end of a version can change, but by a recorded correction; a late version marks hours as dirty."""
    return (
        f"CREATE TRIGGER {table}_late AFTER INSERT OR UPDATE ON {table} FOR EACH ROW"
        " EXECUTE FUNCTION note_late_price()",
        f"CREATE TRIGGER {table}_final BEFORE UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION refuse_change_of_price()",
    )
