-- billing/invoices/ and billing/proofs/.

CREATE TABLE invoice_counters (
    series text NOT NULL,
    year integer NOT NULL,
    last integer NOT NULL,
    CONSTRAINT pk_invoice_counters PRIMARY KEY (series, year),
    CONSTRAINT ck_invoice_counters_last CHECK (last > 0)
);
COMMENT ON TABLE invoice_counters IS
    'one row to lock while a number is given; a transaction that fails gives it back';
GRANT SELECT, INSERT, UPDATE (last) ON invoice_counters TO ipucloud_app;

CREATE TABLE sellers (
    id boolean DEFAULT true NOT NULL,
    legal_name text NOT NULL,
    address text NOT NULL,
    country text NOT NULL,
    tax_id text,
    bank text,
    version bigint DEFAULT '1' NOT NULL,
    e_invoice jsonb DEFAULT '{}' NOT NULL,
    CONSTRAINT pk_sellers PRIMARY KEY (id),
    CONSTRAINT ck_sellers_one CHECK (id),
    CONSTRAINT ck_sellers_country CHECK (country ~ '^[A-Z]{2}$')
);
COMMENT ON TABLE sellers IS 'who issues invoices';
COMMENT ON COLUMN sellers.bank IS 'where to pay, as it is printed';
COMMENT ON COLUMN sellers.e_invoice IS 'further facts of electronic invoices';
GRANT SELECT, INSERT, UPDATE (legal_name, address, country, tax_id, bank, version, e_invoice) ON sellers TO
    ipucloud_app;

CREATE TABLE tax_rates (
    id uuid NOT NULL,
    country text NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    rate numeric(7, 6) NOT NULL,
    valid_from date NOT NULL,
    valid_to date,
    source text NOT NULL,
    CONSTRAINT pk_tax_rates PRIMARY KEY (id),
    CONSTRAINT ck_tax_rates_country CHECK (country ~ '^[A-Z]{2}$'),
    CONSTRAINT ck_tax_rates_rate CHECK (rate BETWEEN 0 AND 1),
    CONSTRAINT ck_tax_rates_valid CHECK (valid_to > valid_from),
    CONSTRAINT ex_tax_rates_no_overlap EXCLUDE USING gist (textrange(country || ' ' || kind, country || ' ' || kind,
        '[]') WITH &&, daterange(valid_from, valid_to) WITH &&)
);
COMMENT ON TABLE tax_rates IS 'versions that never overlap';
COMMENT ON COLUMN tax_rates.kind IS 'invoices use standard';
COMMENT ON COLUMN tax_rates.name IS 'as it is printed';
COMMENT ON COLUMN tax_rates.rate IS '0.17 is 17 %';
COMMENT ON COLUMN tax_rates.valid_to IS 'exclusive';
GRANT SELECT, INSERT, UPDATE (valid_to) ON tax_rates TO ipucloud_app;

CREATE TABLE invoiced_months (
    month date NOT NULL,
    issued_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_invoiced_months PRIMARY KEY (month),
    CONSTRAINT fk_invoiced_months_month FOREIGN KEY (month) REFERENCES billing_months (month)
);
COMMENT ON TABLE invoiced_months IS 'append-only; sealed months of which every invoice was issued';
GRANT SELECT, INSERT ON invoiced_months TO ipucloud_app;

CREATE TABLE invoices (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    month date NOT NULL,
    currency text NOT NULL,
    series text NOT NULL,
    year integer NOT NULL,
    sequence integer NOT NULL,
    number text NOT NULL,
    issued_at timestamptz DEFAULT app_now() NOT NULL,
    due_on date,
    tax_treatment text NOT NULL,
    cost numeric(28, 10) NOT NULL,
    subtotal numeric(28, 10) NOT NULL,
    adjustment numeric(28, 10) NOT NULL,
    promo_applied numeric(28, 10) NOT NULL,
    taxable numeric(28, 10) NOT NULL,
    tax numeric(28, 10) NOT NULL,
    total numeric(28, 10) NOT NULL,
    wallet_applied numeric(28, 10) NOT NULL,
    due numeric(28, 10) NOT NULL,
    document json NOT NULL,
    CONSTRAINT pk_invoices PRIMARY KEY (id),
    CONSTRAINT uq_invoices_account_month UNIQUE (account_id, currency, month),
    CONSTRAINT uq_invoices_sequence UNIQUE (series, year, sequence),
    CONSTRAINT uq_invoices_number UNIQUE (number),
    CONSTRAINT ck_invoices_number CHECK (number = series || '-' || year || '-' || lpad(sequence::text, greatest(6,
        length(sequence::text)), '0')),
    CONSTRAINT ck_invoices_sequence CHECK (sequence > 0),
    CONSTRAINT ck_invoices_tax_treatment CHECK (tax_treatment IN ('standard', 'reverse_charge', 'exempt')),
    CONSTRAINT ck_invoices_adjustment CHECK (adjustment = subtotal - cost),
    CONSTRAINT ck_invoices_taxable CHECK (promo_applied >= 0 AND taxable = subtotal - promo_applied),
    CONSTRAINT ck_invoices_total CHECK (total = taxable + tax),
    CONSTRAINT ck_invoices_due CHECK (due >= 0 AND due = total - wallet_applied),
    CONSTRAINT ck_invoices_credit_note
        CHECK (CASE series WHEN 'CN' THEN total < 0 AND due_on IS NULL ELSE due_on IS NOT NULL END),
    CONSTRAINT fk_invoices_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id),
    CONSTRAINT fk_invoices_month FOREIGN KEY (month) REFERENCES billing_months (month)
);
COMMENT ON TABLE invoices IS
    'append-only; at most one for each account, currency and month: a credit note if its total is below zero';
COMMENT ON COLUMN invoices.month IS 'of the charges'' bill';
COMMENT ON COLUMN invoices.due_on IS 'NULL: a credit note';
COMMENT ON COLUMN invoices.cost IS 'exact usage: the sum of the lines'' cost';
COMMENT ON COLUMN invoices.subtotal IS 'the sum of the lines'' amount';
COMMENT ON COLUMN invoices.adjustment IS 'what rounding the lines added to the exact usage';
COMMENT ON COLUMN invoices.taxable IS 'subtotal less promo_applied';
COMMENT ON COLUMN invoices.total IS 'taxable and tax: the payable amount';
COMMENT ON COLUMN invoices.wallet_applied IS 'paid from the wallet; below 0: put into it';
COMMENT ON COLUMN invoices.due IS 'total less wallet_applied: what was left to pay at issue';
COMMENT ON COLUMN invoices.document IS 'what it says, to the byte';
CREATE INDEX ix_invoices_account ON invoices (account_id, issued_at, id);
CREATE INDEX ix_invoices_issued ON invoices (issued_at);
CREATE INDEX ix_invoices_month ON invoices (month);
GRANT SELECT, INSERT ON invoices TO ipucloud_app;

CREATE TABLE month_proofs (
    month date NOT NULL,
    root bytea NOT NULL,
    bills integer NOT NULL,
    public_key text NOT NULL,
    signature text NOT NULL,
    signed_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_month_proofs PRIMARY KEY (month),
    CONSTRAINT ck_month_proofs_root CHECK (octet_length(root) = 32 AND bills >= 0),
    CONSTRAINT fk_month_proofs_month FOREIGN KEY (month) REFERENCES billing_months (month)
);
COMMENT ON TABLE month_proofs IS 'append-only; what each sealed month was made of, signed';
COMMENT ON COLUMN month_proofs.root IS 'of the month''s bills';
COMMENT ON COLUMN month_proofs.public_key IS 'Ed25519, base64';
COMMENT ON COLUMN month_proofs.signature IS 'base64';
GRANT SELECT, INSERT ON month_proofs TO ipucloud_app;

CREATE TABLE promo_credits (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    currency text NOT NULL,
    amount numeric(28, 10) NOT NULL,
    reason text NOT NULL,
    expires_at timestamptz NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_promo_credits PRIMARY KEY (id),
    CONSTRAINT ck_promo_credits_amount CHECK (amount > 0),
    CONSTRAINT ck_promo_credits_payable CHECK (amount = round(amount, CASE WHEN currency IN ('BIF', 'CLP', 'DJF',
        'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') THEN 0 WHEN
        currency IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3 ELSE 2 END)),
    CONSTRAINT fk_promo_credits_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id)
);
COMMENT ON TABLE promo_credits IS 'append-only; promotional credit as it was granted';
CREATE INDEX ix_promo_credits_account ON promo_credits (account_id, created_at, id);
CREATE INDEX ix_promo_credits_expires ON promo_credits (expires_at);
GRANT SELECT, INSERT ON promo_credits TO ipucloud_app;

CREATE TABLE bill_proofs (
    month date NOT NULL,
    place integer NOT NULL,
    account_id uuid NOT NULL,
    currency text NOT NULL,
    root bytea NOT NULL,
    leaves bigint NOT NULL,
    CONSTRAINT pk_bill_proofs PRIMARY KEY (month, place),
    CONSTRAINT uq_bill_proofs_account UNIQUE (month, account_id, currency),
    CONSTRAINT ck_bill_proofs_root CHECK (octet_length(root) = 32 AND leaves > 0 AND place >= 0),
    CONSTRAINT fk_bill_proofs_month FOREIGN KEY (month) REFERENCES month_proofs (month)
);
COMMENT ON TABLE bill_proofs IS 'append-only; the leaves of month_proofs';
COMMENT ON COLUMN bill_proofs.place IS 'among the bills of the month, from 0';
COMMENT ON COLUMN bill_proofs.root IS 'of its facts and charges';
COMMENT ON COLUMN bill_proofs.leaves IS 'facts and charges';
GRANT SELECT, INSERT ON bill_proofs TO ipucloud_app;

CREATE TABLE credit_notes (
    id uuid NOT NULL,
    invoice_id uuid NOT NULL,
    series text NOT NULL,
    year integer NOT NULL,
    sequence integer NOT NULL,
    number text NOT NULL,
    issued_at timestamptz DEFAULT app_now() NOT NULL,
    reason text NOT NULL,
    net numeric(28, 10) NOT NULL,
    tax numeric(28, 10) NOT NULL,
    total numeric(28, 10) NOT NULL,
    to_wallet numeric(28, 10) NOT NULL,
    document json NOT NULL,
    CONSTRAINT pk_credit_notes PRIMARY KEY (id),
    CONSTRAINT uq_credit_notes_sequence UNIQUE (series, year, sequence),
    CONSTRAINT uq_credit_notes_number UNIQUE (number),
    CONSTRAINT ck_credit_notes_number CHECK (number = series || '-' || year || '-' || lpad(sequence::text, greatest(6,
        length(sequence::text)), '0')),
    CONSTRAINT ck_credit_notes_sequence CHECK (sequence > 0),
    CONSTRAINT ck_credit_notes_total CHECK (net >= 0 AND total > 0 AND total = net + tax),
    CONSTRAINT ck_credit_notes_to_wallet CHECK (to_wallet BETWEEN 0 AND total),
    CONSTRAINT fk_credit_notes_invoice_id FOREIGN KEY (invoice_id) REFERENCES invoices (id)
);
COMMENT ON TABLE credit_notes IS 'append-only';
COMMENT ON COLUMN credit_notes.to_wallet IS 'what the invoice no longer asked for, and so went into the wallet';
COMMENT ON COLUMN credit_notes.document IS 'what it says, to the byte';
CREATE INDEX ix_credit_notes_invoice ON credit_notes (invoice_id);
GRANT SELECT, INSERT ON credit_notes TO ipucloud_app;

CREATE TABLE invoice_lines (
    invoice_id uuid NOT NULL,
    line integer NOT NULL,
    project_id uuid NOT NULL,
    sku text NOT NULL,
    region text NOT NULL,
    price_id uuid NOT NULL,
    unit_price numeric(20, 10) NOT NULL,
    usage_month date NOT NULL,
    minutes bigint NOT NULL,
    machine_minutes bigint NOT NULL,
    cost numeric(28, 10) NOT NULL,
    amount numeric(28, 10) NOT NULL,
    tax_rate numeric(7, 6) NOT NULL,
    credited_machine_minutes bigint DEFAULT '0' NOT NULL,
    since date NOT NULL,
    until date NOT NULL,
    corrects uuid,
    CONSTRAINT pk_invoice_lines PRIMARY KEY (invoice_id, line),
    CONSTRAINT fk_invoice_lines_project_id FOREIGN KEY (project_id) REFERENCES projects (id),
    CONSTRAINT ck_invoice_lines_line CHECK (line > 0),
    CONSTRAINT ck_invoice_lines_cost CHECK (cost = machine_minutes * unit_price),
    CONSTRAINT ck_invoice_lines_amount CHECK (amount IN (round(cost, 0), round(cost, 2), round(cost, 3))),
    CONSTRAINT ck_invoice_lines_days
        CHECK (usage_month <= since AND since < until AND until <= usage_month + interval '1 month'),
    CONSTRAINT fk_invoice_lines_invoice_id FOREIGN KEY (invoice_id) REFERENCES invoices (id),
    CONSTRAINT fk_invoice_lines_corrects FOREIGN KEY (corrects) REFERENCES invoices (id)
);
COMMENT ON TABLE invoice_lines IS
    'append-only; one for each project, SKU, region, price version, month of usage and tax rate in it';
COMMENT ON COLUMN invoice_lines.line IS 'from 1, as printed';
COMMENT ON COLUMN invoice_lines.price_id IS 'of prices or contract_prices';
COMMENT ON COLUMN invoice_lines.unit_price IS 'per machine-minute';
COMMENT ON COLUMN invoice_lines.usage_month IS 'before the invoice''s month: a correction of it';
COMMENT ON COLUMN invoice_lines.minutes IS 'negative: taken back';
COMMENT ON COLUMN invoice_lines.cost IS 'exact: machine_minutes x unit_price';
COMMENT ON COLUMN invoice_lines.amount IS 'cost rounded to the currency''s decimal places, halves away from zero';
COMMENT ON COLUMN invoice_lines.tax_rate IS 'in force when it was used';
COMMENT ON COLUMN invoice_lines.credited_machine_minutes IS 'further ones, of machines that did not work';
COMMENT ON COLUMN invoice_lines.since IS 'first day of use: of the month, or of the tax rate in it';
COMMENT ON COLUMN invoice_lines.until IS 'exclusive';
COMMENT ON COLUMN invoice_lines.corrects IS 'what billed the usage before';
CREATE INDEX ix_invoice_lines_corrects ON invoice_lines (corrects) WHERE corrects IS NOT NULL;
CREATE INDEX ix_invoice_lines_project ON invoice_lines (project_id, invoice_id);
GRANT SELECT, INSERT ON invoice_lines TO ipucloud_app;

CREATE TABLE invoice_taxes (
    invoice_id uuid NOT NULL,
    rate numeric(7, 6) NOT NULL,
    name text NOT NULL,
    taxable numeric(28, 10) NOT NULL,
    tax numeric(28, 10) NOT NULL,
    CONSTRAINT pk_invoice_taxes PRIMARY KEY (invoice_id, rate),
    CONSTRAINT ck_invoice_taxes_tax
        CHECK (tax IN (round(taxable * rate, 0), round(taxable * rate, 2), round(taxable * rate, 3))),
    CONSTRAINT fk_invoice_taxes_invoice_id FOREIGN KEY (invoice_id) REFERENCES invoices (id)
);
COMMENT ON TABLE invoice_taxes IS 'append-only; one for each rate';
GRANT SELECT, INSERT ON invoice_taxes TO ipucloud_app;

CREATE TABLE payments (
    id uuid NOT NULL,
    account_id uuid NOT NULL,
    currency text NOT NULL,
    direction text NOT NULL,
    amount numeric(28, 10) NOT NULL,
    reference text NOT NULL,
    invoice_id uuid,
    state text NOT NULL,
    created_at timestamptz DEFAULT app_now() NOT NULL,
    checked_at timestamptz,
    finished_at timestamptz,
    checks integer DEFAULT '0' NOT NULL,
    to_wallet numeric(28, 10),
    automatic boolean DEFAULT false NOT NULL,
    failure text,
    CONSTRAINT pk_payments PRIMARY KEY (id),
    CONSTRAINT uq_payments_reference UNIQUE (account_id, reference),
    CONSTRAINT ck_payments_direction CHECK (direction IN ('in', 'out')),
    CONSTRAINT ck_payments_state CHECK (state IN ('pending', 'done', 'failed')),
    CONSTRAINT ck_payments_amount CHECK (amount > 0 AND amount = round(amount, CASE WHEN currency IN ('BIF', 'CLP',
        'DJF', 'GNF', 'ISK', 'JPY', 'KMF', 'KRW', 'PYG', 'RWF', 'UGX', 'VND', 'VUV', 'XAF', 'XOF', 'XPF') THEN 0 WHEN
        currency IN ('BHD', 'IQD', 'JOD', 'KWD', 'LYD', 'OMR', 'TND') THEN 3 ELSE 2 END)),
    CONSTRAINT ck_payments_finished CHECK ((state = 'pending') = (finished_at IS NULL)),
    CONSTRAINT ck_payments_refund CHECK (direction = 'in' OR invoice_id IS NULL),
    CONSTRAINT ck_payments_failure CHECK (failure IS NULL OR state = 'failed'),
    CONSTRAINT fk_payments_account_id FOREIGN KEY (account_id) REFERENCES billing_accounts (id),
    CONSTRAINT fk_payments_invoice_id FOREIGN KEY (invoice_id) REFERENCES invoices (id)
);
COMMENT ON TABLE payments IS 'what customers pay and are paid back; it ends once';
COMMENT ON COLUMN payments.direction IS 'in: from the customer; out: a wallet''s rest';
COMMENT ON COLUMN payments.reference IS 'the same one twice is one payment';
COMMENT ON COLUMN payments.to_wallet IS 'what went into the wallet, or below 0 out of it; NULL: nothing yet';
COMMENT ON COLUMN payments.automatic IS 'a top-up that a worker requested by the account''s policy';
COMMENT ON COLUMN payments.failure IS 'why it failed, if that was said';
CREATE INDEX ix_payments_account ON payments (account_id, created_at, id);
CREATE INDEX ix_payments_invoice ON payments (invoice_id);
CREATE INDEX ix_payments_pending ON payments (checked_at) WHERE finished_at IS NULL;
CREATE UNIQUE INDEX uq_payments_open_top_up ON payments (account_id) WHERE automatic AND finished_at IS NULL;
GRANT SELECT, INSERT, UPDATE (amount, invoice_id, state, checked_at, finished_at, checks, to_wallet, failure) ON
    payments TO ipucloud_app;

CREATE TABLE promo_credit_uses (
    id bigint GENERATED ALWAYS AS IDENTITY,
    credit_id uuid NOT NULL,
    invoice_id uuid,
    amount numeric(28, 10) NOT NULL,
    used_at timestamptz DEFAULT app_now() NOT NULL,
    CONSTRAINT pk_promo_credit_uses PRIMARY KEY (id),
    CONSTRAINT ck_promo_credit_uses_amount CHECK (amount > 0),
    CONSTRAINT fk_promo_credit_uses_credit_id FOREIGN KEY (credit_id) REFERENCES promo_credits (id),
    CONSTRAINT fk_promo_credit_uses_invoice_id FOREIGN KEY (invoice_id) REFERENCES invoices (id)
);
COMMENT ON TABLE promo_credit_uses IS 'append-only; burned by an invoice, or expired when there is none';
CREATE INDEX ix_promo_credit_uses_credit ON promo_credit_uses (credit_id);
CREATE INDEX ix_promo_credit_uses_invoice ON promo_credit_uses (invoice_id);
GRANT SELECT, INSERT ON promo_credit_uses TO ipucloud_app;

CREATE TABLE credit_note_taxes (
    credit_note_id uuid NOT NULL,
    rate numeric(7, 6) NOT NULL,
    net numeric(28, 10) NOT NULL,
    tax numeric(28, 10) NOT NULL,
    CONSTRAINT pk_credit_note_taxes PRIMARY KEY (credit_note_id, rate),
    CONSTRAINT fk_credit_note_taxes_credit_note_id FOREIGN KEY (credit_note_id) REFERENCES credit_notes (id)
);
COMMENT ON TABLE credit_note_taxes IS 'append-only; one for each rate of the invoice that is credited';
GRANT SELECT, INSERT ON credit_note_taxes TO ipucloud_app;

CREATE TABLE invoice_settlements (
    id bigint GENERATED ALWAYS AS IDENTITY,
    invoice_id uuid NOT NULL,
    payment_id uuid,
    credit_note_id uuid,
    amount numeric(28, 10) NOT NULL,
    settled_at timestamptz DEFAULT app_now() NOT NULL,
    from_wallet boolean DEFAULT false NOT NULL,
    CONSTRAINT pk_invoice_settlements PRIMARY KEY (id),
    CONSTRAINT ck_invoice_settlements_amount CHECK (amount > 0),
    CONSTRAINT ck_invoice_settlements_by_one
        CHECK (num_nonnulls(payment_id, credit_note_id) + from_wallet::integer = 1),
    CONSTRAINT fk_invoice_settlements_invoice_id FOREIGN KEY (invoice_id) REFERENCES invoices (id),
    CONSTRAINT fk_invoice_settlements_payment_id FOREIGN KEY (payment_id) REFERENCES payments (id),
    CONSTRAINT fk_invoice_settlements_credit_note_id FOREIGN KEY (credit_note_id) REFERENCES credit_notes (id)
);
COMMENT ON TABLE invoice_settlements IS 'append-only; what was due and is no longer';
COMMENT ON COLUMN invoice_settlements.from_wallet IS 'after it was issued';
CREATE INDEX ix_invoice_settlements_credit_note ON invoice_settlements (credit_note_id);
CREATE INDEX ix_invoice_settlements_invoice ON invoice_settlements (invoice_id);
CREATE INDEX ix_invoice_settlements_payment ON invoice_settlements (payment_id);
GRANT SELECT, INSERT ON invoice_settlements TO ipucloud_app;

CREATE TRIGGER promo_credits_final BEFORE UPDATE OR DELETE ON promo_credits FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER promo_credits_kept BEFORE TRUNCATE ON promo_credits FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoiced_months_final BEFORE UPDATE OR DELETE ON invoiced_months FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoiced_months_kept BEFORE TRUNCATE ON invoiced_months FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoices_final BEFORE UPDATE OR DELETE ON invoices FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoices_kept BEFORE TRUNCATE ON invoices FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money();

CREATE TRIGGER month_proofs_final BEFORE UPDATE OR DELETE ON month_proofs FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER month_proofs_kept BEFORE TRUNCATE ON month_proofs FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoice_lines_final BEFORE UPDATE OR DELETE ON invoice_lines FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoice_lines_kept BEFORE TRUNCATE ON invoice_lines FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoice_taxes_final BEFORE UPDATE OR DELETE ON invoice_taxes FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoice_taxes_kept BEFORE TRUNCATE ON invoice_taxes FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER promo_credit_uses_final BEFORE UPDATE OR DELETE ON promo_credit_uses FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER promo_credit_uses_kept BEFORE TRUNCATE ON promo_credit_uses FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER credit_notes_final BEFORE UPDATE OR DELETE ON credit_notes FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER credit_notes_kept BEFORE TRUNCATE ON credit_notes FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE FUNCTION refuse_change_of_ended_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'payment % has ended and never changes', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER payments_final BEFORE UPDATE ON payments FOR EACH ROW
WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_payment();

CREATE TRIGGER bill_proofs_final BEFORE UPDATE OR DELETE ON bill_proofs FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER bill_proofs_kept BEFORE TRUNCATE ON bill_proofs FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER credit_note_taxes_final BEFORE UPDATE OR DELETE ON credit_note_taxes FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER credit_note_taxes_kept BEFORE TRUNCATE ON credit_note_taxes FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoice_settlements_final BEFORE UPDATE OR DELETE ON invoice_settlements FOR EACH ROW EXECUTE FUNCTION
    refuse_change_of_money();

CREATE TRIGGER invoice_settlements_kept BEFORE TRUNCATE ON invoice_settlements FOR EACH STATEMENT EXECUTE FUNCTION
    refuse_change_of_money();

-- Invoices are issued in this name until an administrator has set another one.
INSERT INTO sellers (legal_name, address, country, bank)
VALUES ('Example Seller (name not set)', E'Address not set\nSet it by PATCH /v1/billing/seller', 'LU',
    'Bank account not set');
