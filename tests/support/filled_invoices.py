"""Documents and payments of a filled database: an invoice with all that may settle it."""

from __future__ import annotations

from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

_ROWS = (
    "INSERT INTO tax_rates (id, country, kind, name, rate, valid_from, source)"
    " VALUES (gen_random_uuid(), 'LU', 'standard', 'VAT', 0.17, '2024-01-01', 'test')",
    "INSERT INTO promo_credits (id, account_id, currency, amount, reason, expires_at)"
    " VALUES (gen_random_uuid(), :account_id, 'EUR', 5, 'test', '2126-01-01Z')",
    "INSERT INTO invoice_counters (series, year, last) VALUES ('INV', 2026, 1), ('CN', 2026, 1)",
    "INSERT INTO invoiced_months (month) VALUES ('2026-05-01')",
    "INSERT INTO invoices (id, account_id, month, currency, series, year, sequence, number, due_on, tax_treatment,"
    " cost, subtotal, adjustment, promo_applied, taxable, tax, total, wallet_applied, due, document)"
    " VALUES (:invoice_id, :account_id, '2026-05-01', 'EUR', 'INV', 2026, 1, 'INV-2026-000001', '2026-07-02',"
    " 'standard', 1.044, 1.04, -0.004, 0, 1.04, 0.18, 1.22, 0, 1.22, '{}')",
    "INSERT INTO invoice_lines (invoice_id, line, project_id, sku, region, price_id, unit_price, usage_month, minutes,"
    " machine_minutes, cost, amount, tax_rate) VALUES (:invoice_id, 1, :account_id, 'ipu-m2000', 'luxembourg-2',"
    " gen_random_uuid(), 0.087, '2026-05-01', 12, 12, 1.044, 1.04, 0.17)",
    "INSERT INTO invoice_taxes (invoice_id, rate, name, taxable, tax) VALUES (:invoice_id, 0.17, 'VAT', 1.04, 0.18)",
    "INSERT INTO promo_credit_uses (credit_id, amount) SELECT id, 1 FROM promo_credits",
    "INSERT INTO credit_notes (id, invoice_id, series, year, sequence, number, reason, net, tax, total, to_wallet,"
    " document) VALUES (gen_random_uuid(), :invoice_id, 'CN', 2026, 1, 'CN-2026-000001', 'test', 1, 0.17, 1.17, 0,"
    " '{}')",
    "INSERT INTO payments (id, account_id, currency, direction, amount, reference, state)"
    " VALUES (gen_random_uuid(), :account_id, 'EUR', 'in', 5, 'ref', 'pending')",
    "INSERT INTO invoice_settlements (invoice_id, credit_note_id, amount)"
    " SELECT invoice_id, id, 1.17 FROM credit_notes",
)


async def fill_invoices(connection: AsyncConnection, *, account_id: UUID, invoice_id: UUID) -> None:
    """One row at least in each table of the invoices."""
    for statement in _ROWS:
        await connection.execute(sa.text(statement), {"account_id": account_id, "invoice_id": invoice_id})
