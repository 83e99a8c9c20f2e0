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

TABLES = (
    """
    CREATE TABLE budgets (
        id UUID NOT NULL,
        project_id UUID,
        account_id UUID,
        tag_key TEXT,
        tag_value TEXT,
        name TEXT NOT NULL,
        amount NUMERIC(28, 10) NOT NULL,
        currency TEXT NOT NULL,
        month DATE,
        actual NUMERIC(28, 10),
        forecast NUMERIC(28, 10),
        evaluated_at TIMESTAMP WITH TIME ZONE,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        deleted_at TIMESTAMP WITH TIME ZONE,
        version BIGINT DEFAULT '1' NOT NULL,
        CONSTRAINT pk_budgets PRIMARY KEY (id),
        CONSTRAINT fk_budgets_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_budgets_owner CHECK (num_nonnulls(project_id, account_id) = 1),
        CONSTRAINT ck_budgets_tag CHECK (num_nonnulls(tag_key, tag_value) IN (0, 2) AND (tag_key IS NULL OR project_id IS NOT NULL)),
        CONSTRAINT ck_budgets_amount CHECK (amount > 0),
        CONSTRAINT ck_budgets_figures CHECK (num_nonnulls(month, actual, forecast, evaluated_at) IN (0, 4)),
        CONSTRAINT fk_budgets_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON COLUMN budgets.project_id IS 'of a project, or of a tag in it'",
    "COMMENT ON COLUMN budgets.account_id IS 'of an account'",
    "COMMENT ON COLUMN budgets.amount IS 'of a month'",
    "COMMENT ON COLUMN budgets.month IS 'of which the figures are'",
    "CREATE INDEX ix_budgets_account ON budgets (account_id, created_at, id)",
    "CREATE INDEX ix_budgets_project ON budgets (project_id, created_at, id)",
    "CREATE UNIQUE INDEX uq_budgets_living_name ON budgets (project_id, account_id, name) NULLS NOT DISTINCT WHERE deleted_at IS NULL",
    """
    CREATE TABLE budget_thresholds (
        budget_id UUID NOT NULL,
        measure TEXT NOT NULL,
        percent INTEGER NOT NULL,
        action TEXT,
        CONSTRAINT pk_budget_thresholds PRIMARY KEY (budget_id, measure, percent),
        CONSTRAINT ck_budget_thresholds_measure CHECK (measure IN ('actual', 'forecast')),
        CONSTRAINT ck_budget_thresholds_action CHECK (action IN ('refuse_creates')),
        CONSTRAINT ck_budget_thresholds_percent CHECK (percent BETWEEN 1 AND 1000),
        CONSTRAINT fk_budget_thresholds_budget_id FOREIGN KEY(budget_id) REFERENCES budgets (id)
    )
    """,
    "COMMENT ON COLUMN budget_thresholds.percent IS 'of the amount'",
    """
    CREATE TABLE budget_alerts (
        budget_id UUID NOT NULL,
        month DATE NOT NULL,
        measure TEXT NOT NULL,
        percent INTEGER NOT NULL,
        figure NUMERIC(28, 10) NOT NULL,
        amount NUMERIC(28, 10) NOT NULL,
        fired_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_budget_alerts PRIMARY KEY (budget_id, month, measure, percent),
        CONSTRAINT ck_budget_alerts_measure CHECK (measure IN ('actual', 'forecast')),
        CONSTRAINT ck_budget_alerts_first_day CHECK (extract(day FROM month) = 1),
        CONSTRAINT ck_budget_alerts_reached CHECK (figure * 100 >= amount * percent),
        CONSTRAINT fk_budget_alerts_budget_id FOREIGN KEY(budget_id) REFERENCES budgets (id)
    )
    """,
    "COMMENT ON TABLE budget_alerts IS 'append-only; the key lets a threshold fire once a month'",
    "COMMENT ON COLUMN budget_alerts.figure IS 'what was reached'",
    "COMMENT ON COLUMN budget_alerts.amount IS 'the budget''s, then'",
    """
    CREATE TABLE prepaid_accounts (
        account_id UUID NOT NULL,
        currency TEXT NOT NULL,
        when_empty TEXT NOT NULL,
        state TEXT DEFAULT 'funded' NOT NULL,
        state_entered_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        version BIGINT DEFAULT '1' NOT NULL,
        CONSTRAINT pk_prepaid_accounts PRIMARY KEY (account_id),
        CONSTRAINT ck_prepaid_accounts_when_empty CHECK (when_empty IN ('warn', 'refuse_creates')),
        CONSTRAINT ck_prepaid_accounts_state CHECK (state IN ('funded', 'empty')),
        CONSTRAINT fk_prepaid_accounts_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON TABLE prepaid_accounts IS 'one row to lock while something is held of an account''s funds'",
    "COMMENT ON COLUMN prepaid_accounts.state IS 'as it was told last'",
    """
    CREATE TABLE create_holds (
        cluster_id UUID NOT NULL,
        project_id UUID NOT NULL,
        account_id UUID NOT NULL,
        amount NUMERIC(28, 10) NOT NULL,
        currency TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        released_at TIMESTAMP WITH TIME ZONE,
        reason TEXT,
        CONSTRAINT pk_create_holds PRIMARY KEY (cluster_id),
        CONSTRAINT fk_create_holds_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT fk_create_holds_project_id_cluster_id FOREIGN KEY(project_id, cluster_id) REFERENCES clusters (project_id, id),
        CONSTRAINT ck_create_holds_reason CHECK (reason IN ('posted', 'gone')),
        CONSTRAINT ck_create_holds_amount CHECK (amount >= 0),
        CONSTRAINT ck_create_holds_released CHECK (num_nonnulls(released_at, reason) IN (0, 2)),
        CONSTRAINT fk_create_holds_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON TABLE create_holds IS 'what a new cluster may come to before its first hour is posted'",
    "COMMENT ON COLUMN create_holds.reason IS 'why it was released'",
    "CREATE INDEX ix_create_holds_account ON create_holds (account_id)",
    "CREATE INDEX ix_create_holds_cluster ON create_holds (project_id, cluster_id)",
    "CREATE INDEX ix_create_holds_open ON create_holds (account_id) WHERE released_at IS NULL",
)
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
        f"COMMENT ON COLUMN {table}.unit_price IS 'per minute of the article''s unit, mostly a machine'",
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
    "GRANT SELECT, INSERT ON budget_alerts, budget_thresholds, budgets, create_holds, prepaid_accounts TO ipucloud_app",
    "GRANT UPDATE (name, amount, month, actual, forecast, evaluated_at, deleted_at, version) ON budgets"
    " TO ipucloud_app",
    "GRANT DELETE ON budget_thresholds, prepaid_accounts TO ipucloud_app",
    "GRANT UPDATE (when_empty, state, state_entered_at, version) ON prepaid_accounts TO ipucloud_app",
    "GRANT UPDATE (released_at, reason) ON create_holds TO ipucloud_app",
)
GONE = (
    *(
        f"DROP TRIGGER {table}_{which} ON {table}"
        for table in ("prices", "contract_prices")
        for which in ("begun", "withdrawn")
    ),
    "DROP TABLE create_holds, prepaid_accounts, budget_alerts, budget_thresholds, budgets",
    "DROP FUNCTION guard_withdrawal, prices_paid, withdraw_price",
    *(f"COMMENT ON COLUMN {table}.unit_price IS 'per machine-minute'" for table in ("prices", "contract_prices")),
    *(f"ALTER TABLE {table} DROP COLUMN follows, DROP COLUMN follows_end" for table in ("prices", "contract_prices")),
)


def upgrade() -> None:
    for statement in (*TABLES, *COLUMNS, *FUNCTIONS, *TRIGGERS, *GRANTS):
        op.execute(statement)


def downgrade() -> None:
    for statement in GONE:
        op.execute(statement)
