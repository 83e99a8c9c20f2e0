"""Tax rates, promotional credits, payments and invoices.

Revision ID: 0003
Revises: 0002
"""

from __future__ import annotations

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

ACCOUNTS = (
    "ALTER TABLE billing_accounts ADD COLUMN country TEXT",
    "ALTER TABLE billing_accounts ADD COLUMN tax_exempt BOOLEAN DEFAULT false NOT NULL",
    "ALTER TABLE billing_accounts ADD CONSTRAINT ck_billing_accounts_country CHECK (country ~ '^[A-Z]{2}$')",
    "COMMENT ON COLUMN billing_accounts.country IS 'NULL: the seller''s'",
)
TABLES = (
    """
    CREATE TABLE invoice_counters (
        series TEXT NOT NULL,
        year INTEGER NOT NULL,
        last INTEGER NOT NULL,
        CONSTRAINT pk_invoice_counters PRIMARY KEY (series, year),
        CONSTRAINT ck_invoice_counters_last CHECK (last > 0)
    )
    """,
    "COMMENT ON TABLE invoice_counters IS 'one row to lock while a number is given; a transaction that fails gives it back'",
    """
    CREATE TABLE sellers (
        id BOOLEAN DEFAULT true NOT NULL,
        legal_name TEXT NOT NULL,
        address TEXT NOT NULL,
        country TEXT NOT NULL,
        tax_id TEXT,
        bank TEXT,
        version BIGINT DEFAULT '1' NOT NULL,
        CONSTRAINT pk_sellers PRIMARY KEY (id),
        CONSTRAINT ck_sellers_one CHECK (id),
        CONSTRAINT ck_sellers_country CHECK (country ~ '^[A-Z]{2}$')
    )
    """,
    "COMMENT ON TABLE sellers IS 'who issues invoices'",
    "COMMENT ON COLUMN sellers.bank IS 'where to pay, as it is printed'",
    """
    CREATE TABLE tax_rates (
        id UUID NOT NULL,
        country TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        rate NUMERIC(7, 6) NOT NULL,
        valid_from DATE NOT NULL,
        valid_to DATE,
        source TEXT NOT NULL,
        CONSTRAINT pk_tax_rates PRIMARY KEY (id),
        CONSTRAINT ck_tax_rates_country CHECK (country ~ '^[A-Z]{2}$'),
        CONSTRAINT ck_tax_rates_rate CHECK (rate BETWEEN 0 AND 1),
        CONSTRAINT ck_tax_rates_valid CHECK (valid_to > valid_from),
        CONSTRAINT ex_tax_rates_no_overlap EXCLUDE USING gist (textrange(country || ' ' || kind, country || ' ' || kind, '[]') WITH &&, daterange(valid_from, valid_to) WITH &&)
    )
    """,
    "COMMENT ON TABLE tax_rates IS 'versions that never overlap'",
    "COMMENT ON COLUMN tax_rates.kind IS 'invoices use standard'",
    "COMMENT ON COLUMN tax_rates.name IS 'as it is printed'",
    "COMMENT ON COLUMN tax_rates.rate IS '0.17 is 17 %'",
    "COMMENT ON COLUMN tax_rates.valid_to IS 'exclusive'",
    """
    CREATE TABLE invoiced_months (
        month DATE NOT NULL,
        issued_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_invoiced_months PRIMARY KEY (month),
        CONSTRAINT fk_invoiced_months_month FOREIGN KEY(month) REFERENCES billing_months (month)
    )
    """,
    "COMMENT ON TABLE invoiced_months IS 'append-only; sealed months of which every invoice was issued'",
    """
    CREATE TABLE invoices (
        id UUID NOT NULL,
        account_id UUID NOT NULL,
        month DATE NOT NULL,
        currency TEXT NOT NULL,
        series TEXT NOT NULL,
        year INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        number TEXT NOT NULL,
        issued_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        due_on DATE NOT NULL,
        tax_treatment TEXT NOT NULL,
        cost NUMERIC(28, 10) NOT NULL,
        subtotal NUMERIC(28, 10) NOT NULL,
        adjustment NUMERIC(28, 10) NOT NULL,
        promo_applied NUMERIC(28, 10) NOT NULL,
        taxable NUMERIC(28, 10) NOT NULL,
        tax NUMERIC(28, 10) NOT NULL,
        total NUMERIC(28, 10) NOT NULL,
        wallet_applied NUMERIC(28, 10) NOT NULL,
        due NUMERIC(28, 10) NOT NULL,
        document JSON NOT NULL,
        CONSTRAINT pk_invoices PRIMARY KEY (id),
        CONSTRAINT uq_invoices_account_month UNIQUE (account_id, currency, month),
        CONSTRAINT uq_invoices_sequence UNIQUE (series, year, sequence),
        CONSTRAINT uq_invoices_number UNIQUE (number),
        CONSTRAINT ck_invoices_number CHECK (number = series || '-' || year || '-' || lpad(sequence::text, greatest(6, length(sequence::text)), '0')),
        CONSTRAINT ck_invoices_sequence CHECK (sequence > 0),
        CONSTRAINT ck_invoices_tax_treatment CHECK (tax_treatment IN ('standard', 'reverse_charge', 'exempt')),
        CONSTRAINT ck_invoices_adjustment CHECK (adjustment = subtotal - cost),
        CONSTRAINT ck_invoices_taxable CHECK (promo_applied >= 0 AND taxable = subtotal - promo_applied),
        CONSTRAINT ck_invoices_total CHECK (total = taxable + tax),
        CONSTRAINT ck_invoices_due CHECK (due >= 0 AND due = total - wallet_applied),
        CONSTRAINT fk_invoices_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id),
        CONSTRAINT fk_invoices_month FOREIGN KEY(month) REFERENCES billing_months (month)
    )
    """,
    "COMMENT ON TABLE invoices IS 'append-only; at most one for each account, currency and month'",
    "COMMENT ON COLUMN invoices.month IS 'of the charges'' bill'",
    "COMMENT ON COLUMN invoices.cost IS 'exact usage: the sum of the lines'' cost'",
    "COMMENT ON COLUMN invoices.subtotal IS 'the sum of the lines'' amount'",
    "COMMENT ON COLUMN invoices.adjustment IS 'what rounding the lines added to the exact usage'",
    "COMMENT ON COLUMN invoices.taxable IS 'subtotal less promo_applied'",
    "COMMENT ON COLUMN invoices.total IS 'taxable and tax: the payable amount'",
    "COMMENT ON COLUMN invoices.wallet_applied IS 'paid from the wallet; below 0: put into it'",
    "COMMENT ON COLUMN invoices.due IS 'total less wallet_applied: what was left to pay at issue'",
    "COMMENT ON COLUMN invoices.document IS 'what it says, to the byte'",
    "CREATE INDEX ix_invoices_account ON invoices (account_id, issued_at, id)",
    "CREATE INDEX ix_invoices_issued ON invoices (issued_at)",
    "CREATE INDEX ix_invoices_month ON invoices (month)",
    """
    CREATE TABLE promo_credits (
        id UUID NOT NULL,
        account_id UUID NOT NULL,
        currency TEXT NOT NULL,
        amount NUMERIC(28, 10) NOT NULL,
        reason TEXT NOT NULL,
        expires_at TIMESTAMP WITH TIME ZONE NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_promo_credits PRIMARY KEY (id),
        CONSTRAINT ck_promo_credits_amount CHECK (amount > 0),
        CONSTRAINT ck_promo_credits_cents CHECK (amount = round(amount, 2)),
        CONSTRAINT fk_promo_credits_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id)
    )
    """,
    "COMMENT ON TABLE promo_credits IS 'append-only; promotional credit as it was granted'",
    "CREATE INDEX ix_promo_credits_account ON promo_credits (account_id, created_at, id)",
    "CREATE INDEX ix_promo_credits_expires ON promo_credits (expires_at)",
    """
    CREATE TABLE credit_notes (
        id UUID NOT NULL,
        invoice_id UUID NOT NULL,
        series TEXT NOT NULL,
        year INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        number TEXT NOT NULL,
        issued_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        reason TEXT NOT NULL,
        net NUMERIC(28, 10) NOT NULL,
        tax NUMERIC(28, 10) NOT NULL,
        total NUMERIC(28, 10) NOT NULL,
        to_wallet NUMERIC(28, 10) NOT NULL,
        document JSON NOT NULL,
        CONSTRAINT pk_credit_notes PRIMARY KEY (id),
        CONSTRAINT uq_credit_notes_sequence UNIQUE (series, year, sequence),
        CONSTRAINT uq_credit_notes_number UNIQUE (number),
        CONSTRAINT ck_credit_notes_number CHECK (number = series || '-' || year || '-' || lpad(sequence::text, greatest(6, length(sequence::text)), '0')),
        CONSTRAINT ck_credit_notes_sequence CHECK (sequence > 0),
        CONSTRAINT ck_credit_notes_total CHECK (net >= 0 AND tax >= 0 AND total > 0 AND total = net + tax),
        CONSTRAINT ck_credit_notes_to_wallet CHECK (to_wallet BETWEEN 0 AND total),
        CONSTRAINT fk_credit_notes_invoice_id FOREIGN KEY(invoice_id) REFERENCES invoices (id)
    )
    """,
    "COMMENT ON TABLE credit_notes IS 'append-only'",
    "COMMENT ON COLUMN credit_notes.to_wallet IS 'what the invoice no longer asked for, and so went into the wallet'",
    "COMMENT ON COLUMN credit_notes.document IS 'what it says, to the byte'",
    "CREATE INDEX ix_credit_notes_invoice ON credit_notes (invoice_id)",
    """
    CREATE TABLE invoice_lines (
        invoice_id UUID NOT NULL,
        line INTEGER NOT NULL,
        project_id UUID NOT NULL,
        sku TEXT NOT NULL,
        region TEXT NOT NULL,
        price_id UUID NOT NULL,
        unit_price NUMERIC(20, 10) NOT NULL,
        usage_month DATE NOT NULL,
        minutes BIGINT NOT NULL,
        machine_minutes BIGINT NOT NULL,
        cost NUMERIC(28, 10) NOT NULL,
        amount NUMERIC(28, 10) NOT NULL,
        tax_rate NUMERIC(7, 6) NOT NULL,
        CONSTRAINT pk_invoice_lines PRIMARY KEY (invoice_id, line),
        CONSTRAINT fk_invoice_lines_project_id FOREIGN KEY(project_id) REFERENCES projects (id),
        CONSTRAINT ck_invoice_lines_line CHECK (line > 0),
        CONSTRAINT ck_invoice_lines_cost CHECK (cost = machine_minutes * unit_price),
        CONSTRAINT ck_invoice_lines_amount CHECK (amount = round(cost, 2)),
        CONSTRAINT fk_invoice_lines_invoice_id FOREIGN KEY(invoice_id) REFERENCES invoices (id)
    )
    """,
    "COMMENT ON TABLE invoice_lines IS 'append-only; one for each project, SKU, region, price version and month of usage'",
    "COMMENT ON COLUMN invoice_lines.line IS 'from 1, as printed'",
    "COMMENT ON COLUMN invoice_lines.price_id IS 'of prices or contract_prices'",
    "COMMENT ON COLUMN invoice_lines.unit_price IS 'per machine-minute'",
    "COMMENT ON COLUMN invoice_lines.usage_month IS 'before the invoice''s month: a correction of it'",
    "COMMENT ON COLUMN invoice_lines.minutes IS 'negative: taken back'",
    "COMMENT ON COLUMN invoice_lines.cost IS 'exact: machine_minutes x unit_price'",
    "COMMENT ON COLUMN invoice_lines.amount IS 'cost rounded to cents, halves away from zero'",
    "CREATE INDEX ix_invoice_lines_project ON invoice_lines (project_id, invoice_id)",
    """
    CREATE TABLE invoice_taxes (
        invoice_id UUID NOT NULL,
        rate NUMERIC(7, 6) NOT NULL,
        name TEXT NOT NULL,
        taxable NUMERIC(28, 10) NOT NULL,
        tax NUMERIC(28, 10) NOT NULL,
        CONSTRAINT pk_invoice_taxes PRIMARY KEY (invoice_id, rate),
        CONSTRAINT ck_invoice_taxes_tax CHECK (tax = round(taxable * rate, 2)),
        CONSTRAINT fk_invoice_taxes_invoice_id FOREIGN KEY(invoice_id) REFERENCES invoices (id)
    )
    """,
    "COMMENT ON TABLE invoice_taxes IS 'append-only; one for each rate'",
    """
    CREATE TABLE payments (
        id UUID NOT NULL,
        account_id UUID NOT NULL,
        currency TEXT NOT NULL,
        direction TEXT NOT NULL,
        amount NUMERIC(28, 10) NOT NULL,
        reference TEXT NOT NULL,
        invoice_id UUID,
        state TEXT NOT NULL,
        created_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        looked_at TIMESTAMP WITH TIME ZONE,
        finished_at TIMESTAMP WITH TIME ZONE,
        looks INTEGER DEFAULT '0' NOT NULL,
        to_wallet NUMERIC(28, 10),
        CONSTRAINT pk_payments PRIMARY KEY (id),
        CONSTRAINT uq_payments_reference UNIQUE (account_id, reference),
        CONSTRAINT ck_payments_direction CHECK (direction IN ('in', 'out')),
        CONSTRAINT ck_payments_state CHECK (state IN ('pending', 'done', 'failed')),
        CONSTRAINT ck_payments_amount CHECK (amount > 0 AND amount = round(amount, 2)),
        CONSTRAINT ck_payments_finished CHECK ((state = 'pending') = (finished_at IS NULL)),
        CONSTRAINT ck_payments_refund CHECK (direction = 'in' OR invoice_id IS NULL),
        CONSTRAINT fk_payments_account_id FOREIGN KEY(account_id) REFERENCES billing_accounts (id),
        CONSTRAINT fk_payments_invoice_id FOREIGN KEY(invoice_id) REFERENCES invoices (id)
    )
    """,
    "COMMENT ON TABLE payments IS 'what customers pay and are paid back; it ends once'",
    "COMMENT ON COLUMN payments.direction IS 'in: from the customer; out: a wallet''s rest'",
    "COMMENT ON COLUMN payments.reference IS 'the same one twice is one payment'",
    "COMMENT ON COLUMN payments.to_wallet IS 'what went into the wallet, or below 0 out of it; NULL: nothing yet'",
    "CREATE INDEX ix_payments_account ON payments (account_id, created_at, id)",
    "CREATE INDEX ix_payments_invoice ON payments (invoice_id)",
    "CREATE INDEX ix_payments_pending ON payments (looked_at) WHERE finished_at IS NULL",
    """
    CREATE TABLE promo_credit_uses (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        credit_id UUID NOT NULL,
        invoice_id UUID,
        amount NUMERIC(28, 10) NOT NULL,
        used_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_promo_credit_uses PRIMARY KEY (id),
        CONSTRAINT ck_promo_credit_uses_amount CHECK (amount > 0),
        CONSTRAINT fk_promo_credit_uses_credit_id FOREIGN KEY(credit_id) REFERENCES promo_credits (id),
        CONSTRAINT fk_promo_credit_uses_invoice_id FOREIGN KEY(invoice_id) REFERENCES invoices (id)
    )
    """,
    "COMMENT ON TABLE promo_credit_uses IS 'append-only; burned by an invoice, or expired when there is none'",
    "CREATE INDEX ix_promo_credit_uses_credit ON promo_credit_uses (credit_id)",
    "CREATE INDEX ix_promo_credit_uses_invoice ON promo_credit_uses (invoice_id)",
    """
    CREATE TABLE invoice_settlements (
        id BIGINT GENERATED ALWAYS AS IDENTITY,
        invoice_id UUID NOT NULL,
        payment_id UUID,
        credit_note_id UUID,
        amount NUMERIC(28, 10) NOT NULL,
        settled_at TIMESTAMP WITH TIME ZONE DEFAULT app_now() NOT NULL,
        CONSTRAINT pk_invoice_settlements PRIMARY KEY (id),
        CONSTRAINT ck_invoice_settlements_amount CHECK (amount > 0),
        CONSTRAINT ck_invoice_settlements_by_one CHECK (num_nonnulls(payment_id, credit_note_id) = 1),
        CONSTRAINT fk_invoice_settlements_invoice_id FOREIGN KEY(invoice_id) REFERENCES invoices (id),
        CONSTRAINT fk_invoice_settlements_payment_id FOREIGN KEY(payment_id) REFERENCES payments (id),
        CONSTRAINT fk_invoice_settlements_credit_note_id FOREIGN KEY(credit_note_id) REFERENCES credit_notes (id)
    )
    """,
    "COMMENT ON TABLE invoice_settlements IS 'append-only; what was due and is no longer'",
    "CREATE INDEX ix_invoice_settlements_credit_note ON invoice_settlements (credit_note_id)",
    "CREATE INDEX ix_invoice_settlements_invoice ON invoice_settlements (invoice_id)",
    "CREATE INDEX ix_invoice_settlements_payment ON invoice_settlements (payment_id)",
)
TRIGGERS = (
    "CREATE TRIGGER promo_credits_final BEFORE UPDATE OR DELETE ON promo_credits FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER promo_credits_kept BEFORE TRUNCATE ON promo_credits FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoiced_months_final BEFORE UPDATE OR DELETE ON invoiced_months FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoiced_months_kept BEFORE TRUNCATE ON invoiced_months FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoices_final BEFORE UPDATE OR DELETE ON invoices FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoices_kept BEFORE TRUNCATE ON invoices FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoice_lines_final BEFORE UPDATE OR DELETE ON invoice_lines FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoice_lines_kept BEFORE TRUNCATE ON invoice_lines FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoice_taxes_final BEFORE UPDATE OR DELETE ON invoice_taxes FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoice_taxes_kept BEFORE TRUNCATE ON invoice_taxes FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER promo_credit_uses_final BEFORE UPDATE OR DELETE ON promo_credit_uses FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER promo_credit_uses_kept BEFORE TRUNCATE ON promo_credit_uses FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER credit_notes_final BEFORE UPDATE OR DELETE ON credit_notes FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER credit_notes_kept BEFORE TRUNCATE ON credit_notes FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoice_settlements_final BEFORE UPDATE OR DELETE ON invoice_settlements FOR EACH ROW EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER invoice_settlements_kept BEFORE TRUNCATE ON invoice_settlements FOR EACH STATEMENT EXECUTE FUNCTION refuse_change_of_money()",
    """
CREATE FUNCTION refuse_change_of_ended_payment() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'payment % has ended and never changes', OLD.id USING ERRCODE = 'integrity_constraint_violation';
END $$
""",
    """
CREATE TRIGGER payments_final BEFORE UPDATE ON payments FOR EACH ROW
WHEN (OLD.finished_at IS NOT NULL) EXECUTE FUNCTION refuse_change_of_ended_payment()
""",
)
# Until an operator says who issues invoices.
SELLER = (
    "INSERT INTO sellers (legal_name, address, country, bank) VALUES"
    " ('Example Seller (name not set)', E'Address not set\\nSet it by PATCH /v1/billing/seller', 'LU',"
    " 'Bank account not set')",
)
# The application adds documents and changes none.
GRANTS = (
    "GRANT SELECT, INSERT ON credit_notes, invoice_counters, invoice_lines, invoice_settlements, invoice_taxes, invoiced_months, invoices"
    ", payments, promo_credit_uses, promo_credits, sellers, tax_rates"
    " TO ipucloud_app",
    "GRANT UPDATE (country, tax_exempt) ON billing_accounts TO ipucloud_app",
    "GRANT UPDATE (legal_name, address, country, tax_id, bank, version) ON sellers TO ipucloud_app",
    "GRANT UPDATE (valid_to) ON tax_rates TO ipucloud_app",
    "GRANT UPDATE (last) ON invoice_counters TO ipucloud_app",
    "GRANT UPDATE (amount, invoice_id, state, looked_at, finished_at, looks, to_wallet) ON payments TO ipucloud_app",
)
GONE = (
    "DROP TABLE invoice_settlements, promo_credit_uses, payments, invoice_taxes"
    ", invoice_lines, credit_notes, promo_credits, invoices, invoiced_months, tax_rates, sellers, invoice_counters",
    "DROP FUNCTION refuse_change_of_ended_payment",
    "ALTER TABLE billing_accounts DROP COLUMN country, DROP COLUMN tax_exempt",
)


def upgrade() -> None:
    for statement in (*ACCOUNTS, *TABLES, *TRIGGERS, *SELLER, *GRANTS):
        op.execute(statement)


def downgrade() -> None:
    for statement in GONE:
        op.execute(statement)
