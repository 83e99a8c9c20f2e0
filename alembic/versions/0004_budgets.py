"""Budgets, their alerts, holds and what an empty wallet does.

Revision ID: 0004
Revises: 0003
"""

from __future__ import annotations

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

FUNCTIONS = (
    """
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
""",
    """
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
""",
    """
CREATE FUNCTION withdraw_price(price uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM prices WHERE id = price;
  DELETE FROM contract_prices WHERE id = price;
END $$
""",
)
COLUMNS = tuple(
    statement
    for table in ("prices", "contract_prices")
    for statement in (
        f"ALTER TABLE {table} ADD COLUMN follows UUID, ADD COLUMN follows_end TIMESTAMP WITH TIME ZONE",
        f"ALTER TABLE {table} ADD CONSTRAINT fk_{table}_follows FOREIGN KEY(follows) REFERENCES {table} (id)",
        f"COMMENT ON COLUMN {table}.follows IS 'the version that gives way to this one, which had the end follows_end'",
        f"CREATE INDEX ix_{table}_follows ON {table} (follows)",
    )
)
TRIGGERS = tuple(
    statement
    for table in ("prices", "contract_prices")
    for statement in (
        f"CREATE TRIGGER {table}_begun BEFORE DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_withdrawal()",
        f"CREATE TRIGGER {table}_withdrawn AFTER DELETE ON {table} FOR EACH ROW EXECUTE FUNCTION guard_withdrawal()",
    )
)
GRANTS = (
    "REVOKE ALL ON FUNCTION withdraw_price(uuid) FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION withdraw_price(uuid) TO ipucloud_app",
)
GONE = (
    *(
        f"DROP TRIGGER {table}_{which} ON {table}"
        for table in ("prices", "contract_prices")
        for which in ("begun", "withdrawn")
    ),
    "DROP FUNCTION guard_withdrawal, prices_paid, withdraw_price",
    *(f"ALTER TABLE {table} DROP COLUMN follows, DROP COLUMN follows_end" for table in ("prices", "contract_prices")),
)


def upgrade() -> None:
    for statement in (*COLUMNS, *FUNCTIONS, *TRIGGERS, *GRANTS):
        op.execute(statement)


def downgrade() -> None:
    for statement in GONE:
        op.execute(statement)
