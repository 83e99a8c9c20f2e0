-- billing/budgets/, prepaid/, dunning/, stripe/.

CREATE TABLE budgets (
    id uuid NOT NULL,
    project_id uuid,
    account_id uuid,
    tag_key text,
    tag_value text,
    name text NOT NULL,
    amount numeric(28, 10) NOT NULL,
    currency text NOT NULL,
    month date,
    actual numeric(28, 10),
    forecast numeric(28, 10),
    evaluated_at timestamptz,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    deleted_at timestamptz,
    version bigint DEFAULT '1' NOT NULL,
    CONSTRAINT pk_budgets PRIMARY KEY (id),
    CONSTRAINT fk_budgets_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_budgets_owner CHECK (num_nonnulls(project_id, account_id) = 1),
    CONSTRAINT ck_budgets_tag
        CHECK (num_nonnulls(tag_key, tag_value) IN (0, 2) AND (tag_key IS NULL OR project_id IS NOT NULL)),
    CONSTRAINT ck_budgets_amount CHECK (amount > 0),
    CONSTRAINT ck_budgets_figures CHECK (num_nonnulls(month, actual, forecast, evaluated_at) IN (0, 4)),
    CONSTRAINT fk_budgets_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON COLUMN budgets.project_id IS 'of a project, or of a tag in it';
COMMENT ON COLUMN budgets.account_id IS 'of an account';
COMMENT ON COLUMN budgets.amount IS 'of a month';
COMMENT ON COLUMN budgets.month IS 'of which the figures are';
CREATE INDEX ix_budgets_account ON budgets (account_id, created_at, id);
CREATE INDEX ix_budgets_project ON budgets (project_id, created_at, id);
CREATE UNIQUE INDEX uq_budgets_living_name ON budgets (project_id, account_id, name) NULLS NOT DISTINCT
    WHERE deleted_at IS NULL;
GRANT SELECT, INSERT, UPDATE (name, amount, month, actual, forecast, evaluated_at, deleted_at, version) ON budgets TO
    ipucloud_app;

CREATE TABLE dunning_policies (
    account_id uuid NOT NULL,
    remind_after integer[] NOT NULL,
    refuse_creates_after integer,
    suspend_after integer,
    restriction text,
    version bigint DEFAULT '1' NOT NULL,
    CONSTRAINT pk_dunning_policies PRIMARY KEY (account_id),
    CONSTRAINT ck_dunning_policies_remind_after CHECK (1 <= ALL (remind_after) AND cardinality(remind_after) <= 5),
    CONSTRAINT ck_dunning_policies_days CHECK (refuse_creates_after > 0 AND suspend_after > 0),
    CONSTRAINT ck_dunning_policies_order CHECK (suspend_after >= refuse_creates_after),
    CONSTRAINT ck_dunning_policies_restriction CHECK (restriction IN ('refuse_creates', 'suspend')),
    CONSTRAINT fk_dunning_policies_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE dunning_policies IS 'what follows when invoices of an account are overdue';
COMMENT ON COLUMN dunning_policies.remind_after IS 'days after an invoice''s due date';
COMMENT ON COLUMN dunning_policies.refuse_creates_after IS 'days; NULL: never';
COMMENT ON COLUMN dunning_policies.suspend_after IS 'days; NULL: never';
COMMENT ON COLUMN dunning_policies.restriction IS 'as last reported; NULL: none';
GRANT SELECT, INSERT, UPDATE (remind_after, refuse_creates_after, suspend_after, restriction, version), DELETE ON
    dunning_policies TO ipucloud_app;

CREATE TABLE payment_methods (
    account_id uuid NOT NULL,
    customer text NOT NULL,
    payment_method text NOT NULL,
    set_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_payment_methods PRIMARY KEY (account_id),
    CONSTRAINT fk_payment_methods_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE payment_methods IS 'what automatic top-ups of an account are charged to';
COMMENT ON COLUMN payment_methods.customer IS 'Stripe''s id, cus_…';
COMMENT ON COLUMN payment_methods.payment_method IS 'Stripe''s id, pm_…';
GRANT SELECT, INSERT, UPDATE (customer, payment_method, set_at), DELETE ON payment_methods TO ipucloud_app;

CREATE TABLE prepaid_accounts (
    account_id uuid NOT NULL,
    currency text NOT NULL,
    when_empty text NOT NULL,
    state text DEFAULT 'funded' NOT NULL,
    state_entered_at timestamptz DEFAULT app_now() NOT NULL,
    version bigint DEFAULT '1' NOT NULL,
    warn_hours integer[] DEFAULT '{72,24,4}' NOT NULL,
    low_hours integer,
    CONSTRAINT pk_prepaid_accounts PRIMARY KEY (account_id),
    CONSTRAINT ck_prepaid_accounts_when_empty CHECK (when_empty IN ('warn', 'refuse_creates', 'suspend')),
    CONSTRAINT ck_prepaid_accounts_state CHECK (state IN ('funded', 'empty')),
    CONSTRAINT ck_prepaid_accounts_warn_hours CHECK (1 <= ALL (warn_hours) AND cardinality(warn_hours) <= 5),
    CONSTRAINT ck_prepaid_accounts_low_hours CHECK (low_hours IS NULL OR low_hours = ANY (warn_hours)),
    CONSTRAINT fk_prepaid_accounts_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE prepaid_accounts IS 'one row to lock while something is held of an account''s funds';
COMMENT ON COLUMN prepaid_accounts.state IS 'as last reported';
COMMENT ON COLUMN prepaid_accounts.warn_hours IS 'funds that last no longer are reported';
COMMENT ON COLUMN prepaid_accounts.low_hours IS 'as last reported: which of them; NULL: none';
GRANT SELECT, INSERT, UPDATE (when_empty, state, state_entered_at, version, warn_hours, low_hours), DELETE ON
    prepaid_accounts TO ipucloud_app;

CREATE TABLE budget_alerts (
    budget_id uuid NOT NULL,
    month date NOT NULL,
    measure text NOT NULL,
    percent integer NOT NULL,
    figure numeric(28, 10) NOT NULL,
    amount numeric(28, 10) NOT NULL,
    fired_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_budget_alerts PRIMARY KEY (budget_id, month, measure, percent),
    CONSTRAINT ck_budget_alerts_measure CHECK (measure IN ('actual', 'forecast')),
    CONSTRAINT ck_budget_alerts_first_day CHECK (extract(day FROM month) = 1),
    CONSTRAINT ck_budget_alerts_reached CHECK (figure * 100 >= amount * percent),
    CONSTRAINT fk_budget_alerts_budget_id FOREIGN KEY (budget_id) REFERENCES budgets (id)
);
COMMENT ON TABLE budget_alerts IS 'append-only; the key lets a threshold fire once a month';
COMMENT ON COLUMN budget_alerts.figure IS 'what was reached';
COMMENT ON COLUMN budget_alerts.amount IS 'the budget''s, then';
GRANT SELECT, INSERT ON budget_alerts TO ipucloud_app;

CREATE TABLE budget_suspensions (
    budget_id uuid NOT NULL,
    month date NOT NULL,
    measure text NOT NULL,
    percent integer NOT NULL,
    cluster_id uuid NOT NULL,
    suspended_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_budget_suspensions PRIMARY KEY (budget_id, month, measure, percent, cluster_id),
    CONSTRAINT ck_budget_suspensions_measure CHECK (measure IN ('actual', 'forecast')),
    CONSTRAINT ck_budget_suspensions_first_day CHECK (extract(day FROM month) = 1),
    CONSTRAINT fk_budget_suspensions_budget_id FOREIGN KEY (budget_id) REFERENCES budgets (id),
    CONSTRAINT fk_budget_suspensions_cluster_id FOREIGN KEY (cluster_id) REFERENCES clusters (id)
);
COMMENT ON TABLE budget_suspensions IS 'append-only; the key lets a threshold suspend a cluster once a month';
CREATE INDEX ix_budget_suspensions_cluster ON budget_suspensions (cluster_id);
GRANT SELECT, INSERT ON budget_suspensions TO ipucloud_app;

CREATE TABLE budget_thresholds (
    budget_id uuid NOT NULL,
    measure text NOT NULL,
    percent integer NOT NULL,
    action text,
    CONSTRAINT pk_budget_thresholds PRIMARY KEY (budget_id, measure, percent),
    CONSTRAINT ck_budget_thresholds_measure CHECK (measure IN ('actual', 'forecast')),
    CONSTRAINT ck_budget_thresholds_action CHECK (action IN ('refuse_creates', 'suspend')),
    CONSTRAINT ck_budget_thresholds_percent CHECK (percent BETWEEN 1 AND 1000),
    CONSTRAINT fk_budget_thresholds_budget_id FOREIGN KEY (budget_id) REFERENCES budgets (id)
);
COMMENT ON COLUMN budget_thresholds.percent IS 'of the amount';
GRANT SELECT, INSERT, DELETE ON budget_thresholds TO ipucloud_app;

CREATE TABLE create_holds (
    cluster_id uuid NOT NULL,
    project_id uuid NOT NULL,
    account_id uuid NOT NULL,
    amount numeric(28, 10) NOT NULL,
    currency text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    released_at timestamptz,
    reason text,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    CONSTRAINT pk_create_holds PRIMARY KEY (id),
    CONSTRAINT fk_create_holds_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT fk_create_holds_project_id_cluster_id FOREIGN KEY (project_id, cluster_id)
        REFERENCES clusters (project_id, id),
    CONSTRAINT ck_create_holds_reason CHECK (reason IN ('posted', 'gone')),
    CONSTRAINT ck_create_holds_amount CHECK (amount >= 0),
    CONSTRAINT ck_create_holds_released CHECK (num_nonnulls(released_at, reason) IN (0, 2)),
    CONSTRAINT fk_create_holds_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE create_holds IS 'what a new or resumed cluster may come to before its first hour is posted';
COMMENT ON COLUMN create_holds.reason IS 'why it was released';
CREATE INDEX ix_create_holds_account ON create_holds (account_id);
CREATE INDEX ix_create_holds_cluster ON create_holds (project_id, cluster_id);
CREATE INDEX ix_create_holds_open ON create_holds (account_id) WHERE released_at IS NULL;
CREATE UNIQUE INDEX uq_create_holds_open_cluster ON create_holds (cluster_id) WHERE released_at IS NULL;
GRANT SELECT, INSERT, UPDATE (released_at, reason) ON create_holds TO ipucloud_app;

CREATE TABLE dunning_reminders (
    invoice_id uuid NOT NULL,
    days integer NOT NULL,
    sent_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_dunning_reminders PRIMARY KEY (invoice_id, days),
    CONSTRAINT fk_dunning_reminders_invoice_id FOREIGN KEY (invoice_id) REFERENCES invoices (id)
);
COMMENT ON TABLE dunning_reminders IS 'append-only; one for each level of an overdue invoice';
COMMENT ON COLUMN dunning_reminders.days IS 'the level that was reached';
GRANT SELECT, INSERT ON dunning_reminders TO ipucloud_app;

CREATE TABLE payment_charges (
    payment_id uuid NOT NULL,
    idempotency_key uuid NOT NULL,
    customer text NOT NULL,
    payment_method text NOT NULL,
    amount bigint NOT NULL,
    currency text NOT NULL,
    intent text,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_payment_charges PRIMARY KEY (payment_id),
    CONSTRAINT ck_payment_charges_amount CHECK (amount > 0),
    CONSTRAINT uq_payment_charges_idempotency_key UNIQUE (idempotency_key),
    CONSTRAINT uq_payment_charges_intent UNIQUE (intent),
    CONSTRAINT fk_payment_charges_payment_id FOREIGN KEY (payment_id) REFERENCES payments (id)
);
COMMENT ON TABLE payment_charges IS 'what Stripe was asked to collect, as it is asked again: a payment is one charge';
COMMENT ON COLUMN payment_charges.idempotency_key IS 'of every request for it';
COMMENT ON COLUMN payment_charges.amount IS 'in Stripe''s smallest unit of the currency';
COMMENT ON COLUMN payment_charges.intent IS 'id of the PaymentIntent; NULL: no answer has named it yet';
GRANT SELECT, INSERT, UPDATE (intent) ON payment_charges TO ipucloud_app;

CREATE TABLE top_up_policies (
    account_id uuid NOT NULL,
    currency text NOT NULL,
    amount numeric(28, 10) NOT NULL,
    below numeric(28, 10),
    below_hours integer,
    month_limit numeric(28, 10) NOT NULL,
    payment_id uuid,
    paused_at timestamptz,
    pause_reason text,
    version bigint DEFAULT '1' NOT NULL,
    CONSTRAINT pk_top_up_policies PRIMARY KEY (account_id),
    CONSTRAINT ck_top_up_policies_amount CHECK (amount > 0 AND month_limit >= amount),
    CONSTRAINT ck_top_up_policies_below CHECK (num_nonnulls(below, below_hours) = 1 AND below > 0 AND below_hours > 0),
    CONSTRAINT ck_top_up_policies_pause_reason CHECK (pause_reason IN ('payment_failed', 'month_limit')),
    CONSTRAINT ck_top_up_policies_paused CHECK (num_nonnulls(paused_at, pause_reason) IN (0, 2)),
    CONSTRAINT ck_top_up_policies_one_at_a_time CHECK (num_nonnulls(paused_at, payment_id) < 2),
    CONSTRAINT fk_top_up_policies_account_id FOREIGN KEY (account_id)
        REFERENCES prepaid_accounts (account_id) ON DELETE CASCADE,
    CONSTRAINT fk_top_up_policies_payment_id FOREIGN KEY (payment_id) REFERENCES payments (id)
);
COMMENT ON TABLE top_up_policies IS 'when and by how much a prepaid account is topped up';
COMMENT ON COLUMN top_up_policies.below IS 'when so much or less is left';
COMMENT ON COLUMN top_up_policies.below_hours IS 'when what is left lasts no longer';
COMMENT ON COLUMN top_up_policies.month_limit IS 'for the top-ups requested in a UTC month';
COMMENT ON COLUMN top_up_policies.payment_id IS 'the top-up whose end is not reported yet';
CREATE INDEX ix_top_up_policies_payment ON top_up_policies (payment_id);
GRANT SELECT, INSERT, UPDATE (amount, below, below_hours, month_limit, payment_id, paused_at, pause_reason, version),
    DELETE ON top_up_policies TO ipucloud_app;
