-- billing/ledger/ and billing/reports/.

CREATE TABLE billing_months (
    month date NOT NULL,
    opened_at timestamptz DEFAULT app_now() NOT NULL,
    sealed_at timestamptz,
    late_at timestamptz,
    CONSTRAINT pk_billing_months PRIMARY KEY (month),
    CONSTRAINT ck_billing_months_first_day CHECK (extract(day FROM month) = 1)
);
COMMENT ON TABLE billing_months IS 'written by open_billing_month and seal_billing_month, but for late_at';
GRANT SELECT, UPDATE (late_at) ON billing_months TO ipucloud_app;

CREATE TABLE day_rollups (
    day date NOT NULL,
    version integer DEFAULT '0' NOT NULL,
    hours integer DEFAULT '0' NOT NULL,
    revisions bigint DEFAULT '0' NOT NULL,
    clusters bigint DEFAULT '0' NOT NULL,
    built_at timestamptz,
    CONSTRAINT pk_day_rollups PRIMARY KEY (day)
);
COMMENT ON TABLE day_rollups IS 'holds while hours and revisions are what hour_closes has';
COMMENT ON COLUMN day_rollups.version IS 'of the rows that hold';
COMMENT ON COLUMN day_rollups.hours IS 'of the day that were closed';
COMMENT ON COLUMN day_rollups.revisions IS 'sum of those hours'' revisions';
COMMENT ON COLUMN day_rollups.clusters IS 'rows';
GRANT SELECT, INSERT, UPDATE ON day_rollups TO ipucloud_app;

CREATE TABLE dirty_hours (
    id bigint GENERATED ALWAYS AS IDENTITY,
    hour timestamptz NOT NULL,
    cause text NOT NULL,
    noted_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_dirty_hours PRIMARY KEY (id)
);
COMMENT ON TABLE dirty_hours IS 'closed hours of which a fact or a price came late';
CREATE INDEX ix_dirty_hours_hour ON dirty_hours (hour);
GRANT SELECT, INSERT, DELETE ON dirty_hours TO ipucloud_app;

CREATE TABLE hour_closes (
    hour timestamptz NOT NULL,
    begun_at timestamptz DEFAULT app_now() NOT NULL,
    closed_at timestamptz,
    charges bigint,
    revision integer DEFAULT '0' NOT NULL,
    verified_at timestamptz,
    CONSTRAINT pk_hour_closes PRIMARY KEY (hour),
    CONSTRAINT ck_hour_closes_whole_hour CHECK (date_trunc('hour', hour, 'UTC') = hour),
    CONSTRAINT ck_hour_closes_closed CHECK ((closed_at IS NULL) = (charges IS NULL)),
    CONSTRAINT ck_hour_closes_verified CHECK (verified_at >= closed_at)
);
COMMENT ON TABLE hour_closes IS 'one row to lock while an hour is closed or corrected';
COMMENT ON COLUMN hour_closes.charges IS 'rows posted by the close';
COMMENT ON COLUMN hour_closes.revision IS 'corrections made since';
GRANT SELECT, INSERT, UPDATE (closed_at, charges, revision, verified_at) ON hour_closes TO ipucloud_app;

CREATE TABLE billed_facts (
    month date NOT NULL,
    account_id uuid NOT NULL,
    currency text NOT NULL,
    fact text NOT NULL,
    CONSTRAINT pk_billed_facts PRIMARY KEY (month, account_id, currency, fact),
    CONSTRAINT fk_billed_facts_month FOREIGN KEY (month) REFERENCES billing_months (month)
);
COMMENT ON TABLE billed_facts IS
    'append-only; the usage intervals and prices of a sealed month''s charges, as they were then';
GRANT SELECT, INSERT ON billed_facts TO ipucloud_app;

CREATE TABLE ledger_accounts (
    id bigint GENERATED ALWAYS AS IDENTITY,
    code text NOT NULL,
    owner_id uuid,
    currency text NOT NULL,
    debits numeric(28, 10) DEFAULT '0' NOT NULL,
    credits numeric(28, 10) DEFAULT '0' NOT NULL,
    CONSTRAINT pk_ledger_accounts PRIMARY KEY (id),
    CONSTRAINT ck_ledger_accounts_code
        CHECK (code IN ('unbilled', 'receivable', 'wallet', 'promo', 'revenue', 'tax', 'rounding', 'cash')),
    CONSTRAINT ck_ledger_accounts_owner CHECK ((owner_id IS NULL) = (code IN ('revenue', 'tax', 'rounding', 'cash'))),
    CONSTRAINT ck_ledger_accounts_sums CHECK (debits >= 0 AND credits >= 0),
    CONSTRAINT ck_ledger_accounts_floor CHECK (code NOT IN ('wallet', 'promo') OR credits >= debits),
    CONSTRAINT uq_ledger_accounts_id_currency UNIQUE (id, currency),
    CONSTRAINT uq_ledger_accounts_owner UNIQUE NULLS NOT DISTINCT (owner_id, code, currency),
    CONSTRAINT fk_ledger_accounts_owner_id FOREIGN KEY (owner_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE ledger_accounts IS 'balances are kept by the trigger of ledger_transfers';
COMMENT ON COLUMN ledger_accounts.owner_id IS 'NULL: the platform''s';
GRANT SELECT, INSERT (code, owner_id, currency) ON ledger_accounts TO ipucloud_app;

CREATE TABLE unpriced_minutes (
    hour timestamptz NOT NULL,
    account_id uuid NOT NULL,
    sku text NOT NULL,
    region text NOT NULL,
    currency text NOT NULL,
    minutes bigint NOT NULL,
    noted_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_unpriced_minutes PRIMARY KEY (hour, account_id, sku, region, currency),
    CONSTRAINT fk_unpriced_minutes_hour FOREIGN KEY (hour) REFERENCES hour_closes (hour),
    CONSTRAINT ck_unpriced_minutes_minutes CHECK (minutes > 0)
);
COMMENT ON TABLE unpriced_minutes IS 'minutes of closed hours that are not charged because they have no price';
GRANT SELECT, INSERT, DELETE ON unpriced_minutes TO ipucloud_app;

CREATE TABLE usage_charges (
    billing_month date NOT NULL,
    hour timestamptz NOT NULL,
    resource_id uuid NOT NULL,
    first_minute integer NOT NULL,
    rev smallint DEFAULT '0' NOT NULL,
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    interval_id uuid NOT NULL,
    price_id uuid NOT NULL,
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL,
    posted_at timestamptz DEFAULT app_now() NOT NULL,
    minutes integer NOT NULL,
    quantity integer NOT NULL,
    sku text NOT NULL,
    region text NOT NULL,
    currency text NOT NULL,
    unit_price numeric(20, 10) NOT NULL,
    list_unit_price numeric(20, 10) NOT NULL,
    cost numeric(28, 10) GENERATED ALWAYS AS (minutes * quantity * unit_price) STORED,
    credited integer DEFAULT '0' NOT NULL,
    CONSTRAINT pk_usage_charges PRIMARY KEY (hour, resource_id, first_minute, rev, billing_month),
    CONSTRAINT ck_usage_charges_within_hour
        CHECK (hour <= started_at AND started_at < ended_at AND ended_at <= hour + interval '1 hour'),
    CONSTRAINT ck_usage_charges_minutes CHECK (CASE rev WHEN 0 THEN minutes > 0 ELSE minutes <> 0 END),
    CONSTRAINT ck_usage_charges_quantity CHECK (quantity >= 0 AND credited >= 0 AND quantity + credited > 0)
) PARTITION BY RANGE (billing_month);
COMMENT ON TABLE usage_charges IS 'append-only; a partition for each month of the bill';
COMMENT ON COLUMN usage_charges.billing_month IS 'whose bill it is on';
COMMENT ON COLUMN usage_charges.first_minute IS 'from the resource''s own start';
COMMENT ON COLUMN usage_charges.rev IS 'above 0: a correction';
COMMENT ON COLUMN usage_charges.price_id IS 'of prices or contract_prices';
COMMENT ON COLUMN usage_charges.minutes IS 'negative: taken back';
COMMENT ON COLUMN usage_charges.quantity IS 'machines billed';
COMMENT ON COLUMN usage_charges.credited IS 'further machines, not billed';
CREATE INDEX ix_usage_charges_account ON usage_charges (account_id, hour);
GRANT SELECT, INSERT ON usage_charges TO ipucloud_app;

CREATE TABLE usage_days (
    day date NOT NULL,
    version integer NOT NULL,
    account_id uuid NOT NULL,
    project_id uuid NOT NULL,
    resource_id uuid NOT NULL,
    sku text NOT NULL,
    region text NOT NULL,
    currency text NOT NULL,
    minutes bigint NOT NULL,
    machine_minutes bigint NOT NULL,
    cost numeric(28, 10) NOT NULL,
    list_cost numeric(28, 10) NOT NULL,
    credited_machine_minutes bigint NOT NULL,
    flavor text NOT NULL,
    billing_month date NOT NULL,
    price_id uuid NOT NULL,
    unit_price numeric(20, 10) NOT NULL,
    CONSTRAINT pk_usage_days PRIMARY KEY (day, version, resource_id, account_id, flavor, sku, region, currency,
        billing_month, price_id),
    CONSTRAINT fk_usage_days_day FOREIGN KEY (day) REFERENCES day_rollups (day)
);
COMMENT ON TABLE usage_days IS 'what the charges of a day come to';
COMMENT ON COLUMN usage_days.credited_machine_minutes IS 'not among machine_minutes';
COMMENT ON COLUMN usage_days.flavor IS 'at which it was used';
COMMENT ON COLUMN usage_days.billing_month IS 'whose bill it is on';
COMMENT ON COLUMN usage_days.price_id IS 'of prices or contract_prices';
CREATE INDEX ix_usage_days_account ON usage_days (account_id, day);
GRANT SELECT, INSERT, DELETE ON usage_days TO ipucloud_app;

CREATE TABLE ledger_transfers (
    id bigint GENERATED ALWAYS AS IDENTITY,
    idem text NOT NULL,
    kind text NOT NULL,
    debit_id bigint NOT NULL,
    credit_id bigint NOT NULL,
    currency text NOT NULL,
    amount numeric(28, 10) NOT NULL,
    effective_at timestamptz NOT NULL,
    posted_at timestamptz DEFAULT app_now() NOT NULL,
    adjusts text,
    reason text,
    CONSTRAINT pk_ledger_transfers PRIMARY KEY (id),
    CONSTRAINT fk_ledger_transfers_debit FOREIGN KEY (debit_id, currency) REFERENCES ledger_accounts (id, currency),
    CONSTRAINT fk_ledger_transfers_credit FOREIGN KEY (credit_id, currency) REFERENCES ledger_accounts (id, currency),
    CONSTRAINT ck_ledger_transfers_amount CHECK (amount > 0),
    CONSTRAINT ck_ledger_transfers_two_accounts CHECK (debit_id <> credit_id),
    CONSTRAINT ck_ledger_transfers_reason CHECK ((adjusts IS NULL) = (reason IS NULL)),
    CONSTRAINT uq_ledger_transfers_idem UNIQUE (idem)
);
COMMENT ON TABLE ledger_transfers IS 'append-only; each row debits one account and credits another';
COMMENT ON COLUMN ledger_transfers.idem IS 'never used again';
COMMENT ON COLUMN ledger_transfers.adjusts IS
    'an adjusting entry: idem of the posting that it corrects or makes up for';
CREATE INDEX ix_ledger_transfers_adjusts ON ledger_transfers (adjusts) WHERE adjusts IS NOT NULL;
CREATE INDEX ix_ledger_transfers_credit ON ledger_transfers (credit_id, currency);
CREATE INDEX ix_ledger_transfers_debit ON ledger_transfers (debit_id, currency);
GRANT SELECT, INSERT (idem, kind, debit_id, credit_id, currency, amount, effective_at, adjusts, reason) ON
    ledger_transfers TO ipucloud_app;

CREATE FUNCTION refuse_change_of_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '% of % is refused: what was posted stays, and a sealed month takes nothing', TG_OP, TG_TABLE_NAME
    USING ERRCODE = 'integrity_constraint_violation';
END $$;

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
END $$;
REVOKE ALL ON FUNCTION open_billing_month(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION open_billing_month(date) TO ipucloud_app;

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
END $$;
REVOKE ALL ON FUNCTION seal_billing_month(date) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seal_billing_month(date) TO ipucloud_app;

CREATE FUNCTION note_dirty_hours(cause text, since timestamptz, until timestamptz) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  -- Whoever begins to close an hour waits until all that hold this lock are through; those who take it later see that
  -- the hour was begun. So no fact is missed by both.
  PERFORM pg_advisory_xact_lock_shared(7220501);
  INSERT INTO dirty_hours (hour, cause)
  SELECT hour, note_dirty_hours.cause FROM hour_closes
   WHERE hour < coalesce(until, 'infinity') AND hour > since - interval '1 hour';
END $$;

CREATE TRIGGER usage_charges_final BEFORE UPDATE OR DELETE ON usage_charges FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER usage_charges_kept BEFORE TRUNCATE ON usage_charges FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER billed_facts_final BEFORE UPDATE OR DELETE ON billed_facts FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER billed_facts_kept BEFORE TRUNCATE ON billed_facts FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER ledger_transfers_final BEFORE UPDATE OR DELETE ON ledger_transfers FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER ledger_transfers_kept BEFORE TRUNCATE ON ledger_transfers FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

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
END $$;
REVOKE ALL ON FUNCTION apply_transfers() FROM PUBLIC;

CREATE TRIGGER ledger_transfers_apply AFTER INSERT ON ledger_transfers REFERENCING NEW TABLE AS posted
FOR EACH STATEMENT EXECUTE FUNCTION apply_transfers();

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
END $$;
REVOKE ALL ON FUNCTION recount_ledger_account(bigint) FROM PUBLIC;
GRANT EXECUTE ON FUNCTION recount_ledger_account(bigint) TO ipucloud_app;

CREATE TRIGGER money_requests_final BEFORE UPDATE OR DELETE ON money_requests FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER money_requests_kept BEFORE TRUNCATE ON money_requests FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();
