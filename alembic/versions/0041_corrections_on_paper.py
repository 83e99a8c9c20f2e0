"""A bill below zero is a credit note; lines have days of use and name what they correct; the wallet pays open invoices.

Revision ID: 0041
Revises: 0040
"""

from __future__ import annotations

from alembic import op

revision = "0041"
down_revision = "0040"
branch_labels = None
depends_on = None

UP = (
    "ALTER TABLE invoices ALTER due_on DROP NOT NULL",
    "COMMENT ON COLUMN invoices.due_on IS 'NULL: a credit note'",
    "ALTER TABLE invoices ADD CONSTRAINT ck_invoices_credit_note"
    " CHECK (CASE series WHEN 'CN' THEN total < 0 AND due_on IS NULL ELSE due_on IS NOT NULL END)",
    "COMMENT ON TABLE invoices IS"
    " 'append-only; at most one for each account, currency and month: a credit note if its total is below zero'",
    "ALTER TABLE invoice_lines ADD since DATE, ADD until DATE,"
    " ADD corrects UUID CONSTRAINT fk_invoice_lines_corrects REFERENCES invoices (id)",
    # What issued lines bill does not change: until now a line was of a whole month.
    "ALTER TABLE invoice_lines DISABLE TRIGGER invoice_lines_final",
    "UPDATE invoice_lines SET since = usage_month, until = usage_month + interval '1 month'",
    "ALTER TABLE invoice_lines ENABLE TRIGGER invoice_lines_final",
    "ALTER TABLE invoice_lines ALTER since SET NOT NULL, ALTER until SET NOT NULL",
    "ALTER TABLE invoice_lines ADD CONSTRAINT ck_invoice_lines_days"
    " CHECK (usage_month <= since AND since < until AND until <= usage_month + interval '1 month')",
    "CREATE INDEX ix_invoice_lines_corrects ON invoice_lines (corrects) WHERE corrects IS NOT NULL",
    "COMMENT ON COLUMN invoice_lines.tax_rate IS 'in force when it was used'",
    "COMMENT ON COLUMN invoice_lines.since IS 'first day of use: of the month, or of the tax rate in it'",
    "COMMENT ON COLUMN invoice_lines.until IS 'exclusive'",
    "COMMENT ON COLUMN invoice_lines.corrects IS 'what billed the usage before'",
    "COMMENT ON TABLE invoice_lines IS"
    " 'append-only; one for each project, SKU, region, price version, month of usage and tax rate in it'",
    "ALTER TABLE credit_notes DROP CONSTRAINT ck_credit_notes_total",
    "ALTER TABLE credit_notes ADD CONSTRAINT ck_credit_notes_total"
    " CHECK (net >= 0 AND total > 0 AND total = net + tax)",
    """
    CREATE TABLE credit_note_taxes (
        credit_note_id UUID NOT NULL,
        rate NUMERIC(7, 6) NOT NULL,
        net NUMERIC(28, 10) NOT NULL,
        tax NUMERIC(28, 10) NOT NULL,
        CONSTRAINT pk_credit_note_taxes PRIMARY KEY (credit_note_id, rate),
        CONSTRAINT fk_credit_note_taxes_credit_note_id FOREIGN KEY(credit_note_id) REFERENCES credit_notes (id)
    )
    """,
    "COMMENT ON TABLE credit_note_taxes IS 'append-only; one for each rate of the invoice that is credited'",
    "INSERT INTO credit_note_taxes (credit_note_id, rate, net, tax)"
    " SELECT n.id, t.rate, n.net, n.tax FROM credit_notes n JOIN invoice_taxes t ON t.invoice_id = n.invoice_id",
    "CREATE TRIGGER credit_note_taxes_final BEFORE UPDATE OR DELETE ON credit_note_taxes FOR EACH ROW"
    " EXECUTE FUNCTION refuse_change_of_money()",
    "CREATE TRIGGER credit_note_taxes_kept BEFORE TRUNCATE ON credit_note_taxes FOR EACH STATEMENT"
    " EXECUTE FUNCTION refuse_change_of_money()",
    "GRANT SELECT, INSERT ON credit_note_taxes TO ipucloud_app",
    "ALTER TABLE invoice_settlements ADD from_wallet BOOLEAN DEFAULT false NOT NULL",
    "COMMENT ON COLUMN invoice_settlements.from_wallet IS 'after it was issued'",
    "ALTER TABLE invoice_settlements DROP CONSTRAINT ck_invoice_settlements_by_one",
    "ALTER TABLE invoice_settlements ADD CONSTRAINT ck_invoice_settlements_by_one"
    " CHECK (num_nonnulls(payment_id, credit_note_id) + from_wallet::integer = 1)",
)
# Checks of before are NOT VALID where rows of today may break them.
DOWN = (
    "ALTER TABLE invoice_settlements DROP CONSTRAINT ck_invoice_settlements_by_one",
    "ALTER TABLE invoice_settlements DROP from_wallet",
    "ALTER TABLE invoice_settlements ADD CONSTRAINT ck_invoice_settlements_by_one"
    " CHECK (num_nonnulls(payment_id, credit_note_id) = 1) NOT VALID",
    "DROP TABLE credit_note_taxes",
    "ALTER TABLE credit_notes DROP CONSTRAINT ck_credit_notes_total",
    "ALTER TABLE credit_notes ADD CONSTRAINT ck_credit_notes_total"
    " CHECK (net >= 0 AND tax >= 0 AND total > 0 AND total = net + tax) NOT VALID",
    "ALTER TABLE invoice_lines DROP since, DROP until, DROP corrects",
    "COMMENT ON COLUMN invoice_lines.tax_rate IS NULL",
    "COMMENT ON TABLE invoice_lines IS"
    " 'append-only; one for each project, SKU, region, price version and month of usage'",
    "ALTER TABLE invoices DROP CONSTRAINT ck_invoices_credit_note",
    "ALTER TABLE invoices DISABLE TRIGGER invoices_final",
    "UPDATE invoices SET due_on = issued_at::date WHERE due_on IS NULL",
    "ALTER TABLE invoices ENABLE TRIGGER invoices_final",
    "ALTER TABLE invoices ALTER due_on SET NOT NULL",
    "COMMENT ON COLUMN invoices.due_on IS NULL",
    "COMMENT ON TABLE invoices IS 'append-only; at most one for each account, currency and month'",
)


def upgrade() -> None:
    for statement in UP:
        op.execute(statement)


def downgrade() -> None:
    for statement in DOWN:
        op.execute(statement)
