"""Database triggers that protect documents and payments, as created by migrations."""

from __future__ import annotations

FINAL_TABLES = (
    "promo_credits",
    "invoiced_months",
    "invoices",
    "invoice_lines",
    "invoice_taxes",
    "promo_credit_uses",
    "credit_notes",
    "credit_note_taxes",
    "invoice_settlements",
)
"""Append-only tables."""

PAYMENT_FINAL = (
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
