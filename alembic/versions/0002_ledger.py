"""The ledger: accounts, contract prices, closed hours, charges by month, double entry.

Revision ID: 0002
Revises: 0001
"""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = (
    """
    CREATE TABLE billing_accounts (
        id UUID NOT NULL,
        name TEXT NOT NULL,
        currency TEXT,
        legal_name TEXT,
        address TEXT,
        tax_id TEXT,
        payment_days INTEGER DEFAULT '30' NOT NULL,
        version BIGINT DEFAULT '1' NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_billing_accounts PRIMARY KEY (id),
        CONSTRAINT ck_billing_accounts_currency CHECK (currency ~ '^[A-Z]{3}$'),
        CONSTRAINT ck_billing_accounts_payment_days CHECK (payment_days BETWEEN 0 AND 365)
    )
    """,
    "COMMENT ON COLUMN billing_accounts.id IS 'a project''s first account has the project''s id'",
    "COMMENT ON COLUMN billing_accounts.currency IS 'NULL: the installation''s'",
    "COMMENT ON COLUMN billing_accounts.payment_days IS 'from invoice to due date'",
    """
    CREATE TABLE project_accounts (
        project_id UUID NOT NULL,
        valid_from TIMESTAMP WITH TIME ZONE NOT NULL,
        account_id UUID NOT NULL,
        CONSTRAINT pk_project_accounts PRIMARY KEY (project_id, valid_from),
        CONSTRAINT fk_project_accounts_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_project_accounts_whole_hour CHECK (date_trunc('hour', valid_from, 'UTC') = valid_from),
        CONSTRAINT fk_project_accounts_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON TABLE project_accounts IS 'who pays for a project''s hours'",
    "COMMENT ON COLUMN project_accounts.valid_from IS 'until the next row of the project'",
    "CREATE INDEX ix_project_accounts_account ON project_accounts (account_id)",
    """
    CREATE TABLE contract_prices (
        id UUID NOT NULL,
        account_id UUID NOT NULL,
        sku TEXT NOT NULL,
        region TEXT NOT NULL,
        currency TEXT NOT NULL,
        unit_price NUMERIC(20, 10) NOT NULL,
        valid_from TIMESTAMP WITH TIME ZONE NOT NULL,
        valid_to TIMESTAMP WITH TIME ZONE,
        source TEXT NOT NULL,
        CONSTRAINT pk_contract_prices PRIMARY KEY (id),
        CONSTRAINT ck_contract_prices_unit_price CHECK (unit_price >= 0),
        CONSTRAINT ck_contract_prices_valid CHECK (valid_to > valid_from),
        CONSTRAINT ck_contract_prices_whole_seconds CHECK (date_trunc('second', valid_from, 'UTC') = valid_from AND date_trunc('second', valid_to, 'UTC') = valid_to),
        CONSTRAINT ex_contract_prices_no_overlap EXCLUDE USING gist (textrange(account_id::text || ' ' || sku || ' ' || region || ' ' || currency, account_id::text || ' ' || sku || ' ' || region || ' ' || currency, '[]') WITH &&, tstzrange(valid_from, valid_to) WITH &&),
        CONSTRAINT fk_contract_prices_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON TABLE contract_prices IS 'what an account pays instead of the list price'",
    "COMMENT ON COLUMN contract_prices.unit_price IS 'per machine-minute'",
    "CREATE INDEX ix_contract_prices_key ON contract_prices (account_id, sku, region, currency, valid_from)",
    """
    CREATE TABLE hour_closes (
        hour TIMESTAMP WITH TIME ZONE NOT NULL,
        begun_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        closed_at TIMESTAMP WITH TIME ZONE,
        charges BIGINT,
        revision INTEGER DEFAULT '0' NOT NULL,
        verified_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_hour_closes PRIMARY KEY (hour),
        CONSTRAINT ck_hour_closes_whole_hour CHECK (date_trunc('hour', hour, 'UTC') = hour),
        CONSTRAINT ck_hour_closes_closed CHECK ((closed_at IS NULL) = (charges IS NULL)),
        CONSTRAINT ck_hour_closes_verified CHECK (verified_at >= closed_at)
    )
    """,
    "COMMENT ON TABLE hour_closes IS 'one row to lock while an hour is closed or corrected'",
    "COMMENT ON COLUMN hour_closes.charges IS 'rows posted by the close'",
    "COMMENT ON COLUMN hour_closes.revision IS 'corrections made since'",
    """
    CREATE TABLE dirty_hours (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        hour TIMESTAMP WITH TIME ZONE NOT NULL,
        cause TEXT NOT NULL,
        noted_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_dirty_hours PRIMARY KEY (id)
    )
    """,
    "COMMENT ON TABLE dirty_hours IS 'closed hours of which a fact or a price came late'",
    "CREATE INDEX ix_dirty_hours_hour ON dirty_hours (hour)",
    """
    CREATE TABLE billing_months (
        month DATE NOT NULL,
        opened_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        sealed_at TIMESTAMP WITH TIME ZONE,
        CONSTRAINT pk_billing_months PRIMARY KEY (month),
        CONSTRAINT ck_billing_months_first_day CHECK (extract(day FROM month) = 1)
    )
    """,
    "COMMENT ON TABLE billing_months IS 'written by open_billing_month and seal_billing_month only'",
    """
    CREATE TABLE usage_charges (
        billing_month DATE NOT NULL,
        hour TIMESTAMP WITH TIME ZONE NOT NULL,
        cluster_id UUID NOT NULL,
        first_minute INTEGER NOT NULL,
        rev SMALLINT DEFAULT '0' NOT NULL,
        project_id UUID NOT NULL,
        account_id UUID NOT NULL,
        interval_id UUID NOT NULL,
        price_id UUID NOT NULL,
        started_at TIMESTAMP WITH TIME ZONE NOT NULL,
        ended_at TIMESTAMP WITH TIME ZONE NOT NULL,
        posted_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        minutes INTEGER NOT NULL,
        quantity INTEGER NOT NULL,
        sku TEXT NOT NULL,
        region TEXT NOT NULL,
        currency TEXT NOT NULL,
        unit_price NUMERIC(20, 10) NOT NULL,
        list_unit_price NUMERIC(20, 10) NOT NULL,
        cost NUMERIC(28, 10) GENERATED ALWAYS AS (minutes * quantity * unit_price) STORED,
        CONSTRAINT pk_usage_charges PRIMARY KEY (hour, cluster_id, first_minute, rev, billing_month),
        CONSTRAINT ck_usage_charges_within_hour CHECK (hour <= started_at AND started_at < ended_at AND ended_at <= hour + interval '1 hour'),
        CONSTRAINT ck_usage_charges_minutes CHECK (CASE rev WHEN 0 THEN minutes > 0 ELSE minutes <> 0 END),
        CONSTRAINT ck_usage_charges_quantity CHECK (quantity > 0)
    )
     PARTITION BY RANGE (billing_month)
    """,
    "COMMENT ON TABLE usage_charges IS 'append-only; a partition for each month of the bill'",
    "COMMENT ON COLUMN usage_charges.billing_month IS 'whose bill it is on'",
    "COMMENT ON COLUMN usage_charges.first_minute IS 'from the cluster''s own start'",
    "COMMENT ON COLUMN usage_charges.rev IS 'above 0: a correction'",
    "COMMENT ON COLUMN usage_charges.price_id IS 'of prices or contract_prices'",
    "COMMENT ON COLUMN usage_charges.minutes IS 'negative: taken back'",
    "COMMENT ON COLUMN usage_charges.quantity IS 'machines'",
    "CREATE INDEX ix_usage_charges_account ON usage_charges (account_id, hour)",
    """
    CREATE TABLE ledger_accounts (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        code TEXT NOT NULL,
        owner_id UUID,
        currency TEXT NOT NULL,
        debits NUMERIC(28, 10) DEFAULT '0' NOT NULL,
        credits NUMERIC(28, 10) DEFAULT '0' NOT NULL,
        CONSTRAINT pk_ledger_accounts PRIMARY KEY (id),
        CONSTRAINT ck_ledger_accounts_code CHECK (code IN ('unbilled', 'receivable', 'wallet', 'promo', 'revenue', 'tax', 'rounding', 'cash')),
        CONSTRAINT ck_ledger_accounts_owner CHECK ((owner_id IS NULL) = (code IN ('revenue', 'tax', 'rounding', 'cash'))),
        CONSTRAINT ck_ledger_accounts_sums CHECK (debits >= 0 AND credits >= 0),
        CONSTRAINT ck_ledger_accounts_floor CHECK (code NOT IN ('wallet', 'promo') OR credits >= debits),
        CONSTRAINT uq_ledger_accounts_id_currency UNIQUE (id, currency),
        CONSTRAINT uq_ledger_accounts_owner UNIQUE NULLS NOT DISTINCT (owner_id, code, currency),
        CONSTRAINT fk_ledger_accounts_owner_id FOREIGN KEY(owner_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON TABLE ledger_accounts IS 'balances are kept by the trigger of ledger_transfers'",
    "COMMENT ON COLUMN ledger_accounts.owner_id IS 'NULL: the platform''s'",
    """
    CREATE TABLE ledger_transfers (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        idem TEXT NOT NULL,
        kind TEXT NOT NULL,
        debit_id BIGINT NOT NULL,
        credit_id BIGINT NOT NULL,
        currency TEXT NOT NULL,
        amount NUMERIC(28, 10) NOT NULL,
        effective_at TIMESTAMP WITH TIME ZONE NOT NULL,
        posted_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_ledger_transfers PRIMARY KEY (id),
        CONSTRAINT fk_ledger_transfers_debit FOREIGN KEY(debit_id, currency) REFERENCES ledger_accounts (id, currency),
        CONSTRAINT fk_ledger_transfers_credit FOREIGN KEY(credit_id, currency) REFERENCES ledger_accounts (id, currency),
        CONSTRAINT ck_ledger_transfers_amount CHECK (amount > 0),
        CONSTRAINT ck_ledger_transfers_two_accounts CHECK (debit_id <> credit_id),
        CONSTRAINT uq_ledger_transfers_idem UNIQUE (idem)
    )
    """,
    "COMMENT ON TABLE ledger_transfers IS 'append-only; each row debits one account and credits another'",
    "COMMENT ON COLUMN ledger_transfers.idem IS 'never used again'",
    "CREATE INDEX ix_ledger_transfers_credit ON ledger_transfers (credit_id, currency)",
    "CREATE INDEX ix_ledger_transfers_debit ON ledger_transfers (debit_id, currency)",
)
FUNCTIONS = (
    """
CREATE FUNCTION minutes_before(origin timestamptz, instant timestamptz) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN instant <= origin THEN 0 ELSE ceil(date_part('epoch', instant - origin) / 60)::integer END
$$
""",
    """
CREATE FUNCTION refuse_change_of_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: what was posted stays, and a sealed month takes nothing', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$
""",
    """
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
""",
    """
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
""",
    """
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
""",
    """
CREATE FUNCTION open_default_account() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO billing_accounts (id, name) VALUES (NEW.id, NEW.name);
  INSERT INTO project_accounts (project_id, account_id, valid_from) VALUES (NEW.id, NEW.id, 'epoch');
  RETURN NULL;
END $$
""",
    """
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
""",
    """
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
""",
    """
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
""",
    """
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
""",
)
TRIGGERS = (
    """
CREATE TRIGGER projects_account AFTER INSERT ON projects FOR EACH ROW EXECUTE FUNCTION open_default_account()
""",
    "CREATE TRIGGER prices_late AFTER INSERT OR UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION note_late_price()",
    "CREATE TRIGGER prices_final BEFORE UPDATE ON prices FOR EACH ROW EXECUTE FUNCTION refuse_change_of_price()",
    "CREATE TRIGGER contract_prices_late AFTER INSERT OR UPDATE ON contract_prices FOR EACH ROW EXECUTE FUNCTION note_late_price()",
    "CREATE TRIGGER contract_prices_final BEFORE UPDATE ON contract_prices FOR EACH ROW EXECUTE FUNCTION refuse_change_of_price()",
    """
CREATE TRIGGER usage_intervals_late AFTER INSERT OR UPDATE ON usage_intervals FOR EACH ROW
EXECUTE FUNCTION note_late_usage()
""",
    "CREATE TRIGGER usage_charges_final BEFORE UPDATE OR DELETE ON usage_charges FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER usage_charges_kept BEFORE TRUNCATE ON usage_charges FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER ledger_transfers_final BEFORE UPDATE OR DELETE ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER ledger_transfers_kept BEFORE TRUNCATE ON ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    """
CREATE TRIGGER ledger_transfers_apply AFTER INSERT ON ledger_transfers REFERENCING NEW TABLE AS posted
FOR EACH STATEMENT EXECUTE FUNCTION apply_transfers()
""",
)
VIEW = (
    """
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
""",
)
INDEXES = (
    "CREATE INDEX ix_usage_intervals_ended ON usage_intervals (ended_at)",
    "CREATE INDEX ix_usage_intervals_started ON usage_intervals (started_at)",
)
EXISTING_PROJECTS = (
    "INSERT INTO billing_accounts (id, name) SELECT id, name FROM projects",
    "INSERT INTO project_accounts (project_id, account_id, valid_from) SELECT id, id, 'epoch' FROM projects",
)
# The application adds, and changes nothing that was posted. Partitions are reached through their table only.
GRANTS = (
    "GRANT SELECT ON account_prices, billing_accounts, billing_months, contract_prices, dirty_hours, hour_closes,"
    " ledger_accounts, ledger_transfers, project_accounts, usage_charges TO ipucloud_app",
    "GRANT INSERT ON billing_accounts, contract_prices, dirty_hours, hour_closes, project_accounts, usage_charges"
    " TO ipucloud_app",
    "GRANT INSERT (code, owner_id, currency) ON ledger_accounts TO ipucloud_app",
    "GRANT INSERT (idem, kind, debit_id, credit_id, currency, amount, effective_at) ON ledger_transfers"
    " TO ipucloud_app",
    "GRANT UPDATE (name, legal_name, address, tax_id, payment_days, version) ON billing_accounts TO ipucloud_app",
    "GRANT UPDATE (valid_to) ON contract_prices TO ipucloud_app",
    "GRANT UPDATE (closed_at, charges, revision, verified_at) ON hour_closes TO ipucloud_app",
    "GRANT DELETE ON dirty_hours TO ipucloud_app",
    "REVOKE ALL ON FUNCTION open_billing_month(date), seal_billing_month(date), apply_transfers() FROM PUBLIC",
    "GRANT EXECUTE ON FUNCTION open_billing_month(date), seal_billing_month(date) TO ipucloud_app",
)
GONE = (
    "DROP TRIGGER projects_account ON projects",
    "DROP TRIGGER prices_late ON prices",
    "DROP TRIGGER prices_final ON prices",
    "DROP TRIGGER usage_intervals_late ON usage_intervals",
    "DROP INDEX ix_usage_intervals_started, ix_usage_intervals_ended",
    "DROP VIEW account_prices",
    "DROP TABLE ledger_transfers, ledger_accounts, usage_charges, billing_months, dirty_hours, hour_closes,"
    " contract_prices, project_accounts, billing_accounts",
    "DROP FUNCTION apply_transfers, minutes_before, note_dirty_hours, note_late_price, note_late_usage,"
    " open_billing_month, open_default_account, refuse_change_of_money, refuse_change_of_price, seal_billing_month",
)


def upgrade() -> None:
    for statement in (*TABLES, *FUNCTIONS, *VIEW, *INDEXES, *EXISTING_PROJECTS, *TRIGGERS, *GRANTS):
        op.execute(statement)


def downgrade() -> None:
    for statement in GONE:
        op.execute(statement)
