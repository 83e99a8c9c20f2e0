"""Ways in which documents and what pays them can be wrong, each planted alone in a database that has none yet."""

from __future__ import annotations

from tests.feature.invariants.corruption import refused as _c

_MONTH = "SELECT open_billing_month('2026-05-01')"
_COUNTED = "INSERT INTO invoice_counters (series, year, last) VALUES ('INV', 2026, 1)"
_INVOICE = (
    "INSERT INTO invoices (id, account_id, month, currency, series, year, sequence, number, due_on, tax_treatment,"
    " cost, subtotal, adjustment, promo_applied, taxable, tax, total, wallet_applied, due, document)"
    " VALUES (%(active)s, %(project)s, '2026-05-01', 'EUR', 'INV', 2026, 1, 'INV-2026-000001', '2026-07-02', 'exempt',"
    " {cost}, {cost}, 0, 0, {cost}, 0, {cost}, {wallet}, {due}, '{{}}')"
)
_EMPTY = (_MONTH, _COUNTED, _INVOICE.format(cost=0, wallet=0, due=0))
_LINE = (
    "INSERT INTO invoice_lines (invoice_id, line, project_id, sku, region, price_id, unit_price, usage_month, minutes,"
    " machine_minutes, cost, amount, tax_rate, since, until) VALUES (%(active)s, 1, %(project)s, 'ipu-m2000',"
    " 'luxembourg-2', gen_random_uuid(), 1, '2026-05-01', {minutes}, {cost}, {cost}, {cost}, 0, '2026-05-01',"
    " '2026-06-01')"
)
_USED = _LINE.format(minutes=1, cost=1)
_TAKEN_BACK = _LINE.format(minutes=-7_000_000, cost=-1)  # so many that its charges are not summed up
_PAYMENT = (
    "INSERT INTO payments (id, account_id, currency, direction, amount, reference, state, finished_at, to_wallet)"
    " VALUES (%(active)s, %(project)s, 'EUR', '{way}', 5, 'x', 'done', app_now(), {wallet})"
)


INVOICES = (
    _c("invoice_is_the_sum_of_its_lines", *_EMPTY, _USED),
    _c(
        "invoice_is_rounded_to_its_currency",
        *_EMPTY,
        "INSERT INTO invoice_taxes (invoice_id, rate, name, taxable, tax) VALUES (%(active)s, 0.1, 'VAT', 0.4, 0)",
    ),
    _c(
        "invoice_is_in_the_ledger",
        _MONTH,
        _COUNTED,
        _INVOICE.format(cost=1, wallet=0, due=1),
        _LINE.format(minutes=7_000_000, cost=1),  # so many that its charges are not summed up
    ),
    _c(
        "invoiced_month_has_nothing_unbilled",
        _MONTH,
        _COUNTED,
        _INVOICE.format(cost=1, wallet=0, due=1),
        _USED,
        "INSERT INTO ledger_accounts (code, owner_id, currency, debits, credits)"
        " VALUES ('receivable', %(project)s, 'EUR', 1, 0), ('unbilled', %(project)s, 'EUR', 0, 1)",
        "INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)"
        " SELECT 'invoice/' || %(active)s::uuid || '/usage', 'x', r.id, u.id, 'EUR', 1, app_now()"
        " FROM ledger_accounts r, ledger_accounts u WHERE r.code = 'receivable' AND u.code = 'unbilled'",
    ),
    _c("numbers_have_no_gap", _COUNTED),
    _c(
        "invoice_is_settled_once",
        *_EMPTY,
        _PAYMENT.format(way="in", wallet=0),
        "INSERT INTO invoice_settlements (invoice_id, payment_id, amount) VALUES (%(active)s, %(active)s, 5)",
    ),
    _c(
        "credit_note_names_what_it_corrects",
        _MONTH,
        "INSERT INTO invoice_counters (series, year, last) VALUES ('CN', 2026, 1)",
        _INVOICE.format(cost=-1, wallet=-1, due=0).replace("INV", "CN").replace("'2026-07-02'", "NULL"),
        _TAKEN_BACK,
        "INSERT INTO ledger_accounts (code, owner_id, currency, debits, credits) VALUES"
        " ('receivable', %(project)s, 'EUR', 1, 1), ('unbilled', %(project)s, 'EUR', 1, 0),"
        " ('wallet', %(project)s, 'EUR', 0, 1)",
        "INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)"
        " SELECT 'invoice/' || %(active)s::uuid || '/' || x.name, 'x', d.id, c.id, 'EUR', 1, app_now()"
        " FROM (VALUES ('usage', 'unbilled', 'receivable'), ('wallet', 'receivable', 'wallet'))"
        " AS x (name, debit, credit)"
        " JOIN ledger_accounts d ON d.code = x.debit JOIN ledger_accounts c ON c.code = x.credit",
    ),
    _c(
        "wallet_pays_open_invoices",
        _MONTH,
        _COUNTED,
        _INVOICE.format(cost=0, wallet=-5, due=5),
        "INSERT INTO ledger_accounts (code, owner_id, currency, debits, credits)"
        " VALUES ('receivable', %(project)s, 'EUR', 5, 5), ('wallet', %(project)s, 'EUR', 5, 5)",
        "INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)"
        " SELECT x.idem, 'x', d.id, c.id, 'EUR', 5, app_now()"
        " FROM (VALUES ('invoice/' || %(active)s::uuid || '/wallet', 'receivable', 'wallet'),"
        " ('settlement/0/wallet', 'wallet', 'receivable')) AS x (idem, debit, credit)"
        " JOIN ledger_accounts d ON d.code = x.debit JOIN ledger_accounts c ON c.code = x.credit",
        "INSERT INTO invoice_settlements (invoice_id, from_wallet, amount) VALUES (%(active)s, true, 5)",
    ),
    _c(
        "promotional_credit_is_what_was_granted",
        "INSERT INTO promo_credits (id, account_id, currency, amount, reason, expires_at)"
        " VALUES (gen_random_uuid(), %(project)s, 'EUR', 5, 'x', '2126-01-01Z')",
    ),
    _c("wallet_is_what_was_paid", _PAYMENT.format(way="in", wallet=5)),
    _c(
        "payment_taken_back_is_reversed",
        _PAYMENT.format(way="in", wallet=0),
        "INSERT INTO found_reversals (id, payment_id, amount, status, taken)"
        " VALUES ('du_1', %(active)s, 5, 'lost', true)",
    ),
    _c(
        "money_moves_once",
        "INSERT INTO ledger_accounts (code, owner_id, currency, debits, credits)"
        " VALUES ('cash', NULL, 'EUR', 5, 0), ('receivable', %(project)s, 'EUR', 0, 5)",
        "INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)"
        " SELECT 'payment/' || %(active)s::uuid || '/invoice', 'payment', c.id, r.id, 'EUR', 5, app_now()"
        " FROM ledger_accounts c, ledger_accounts r WHERE c.code = 'cash' AND r.code = 'receivable'",
    ),
)
