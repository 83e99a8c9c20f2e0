"""Ways in which the books can be wrong, each planted alone in a database that has none yet."""

from __future__ import annotations

from ipucloud.invariants.repairing import Outcome
from tests.feature.invariants.corruption import corruption
from tests.feature.invariants.corruption import refused as _c

_MONTH = "SELECT open_billing_month('2026-05-01')"
_CHARGE = (
    "INSERT INTO usage_charges (billing_month, hour, resource_id, first_minute, project_id, account_id, interval_id,"
    " price_id, started_at, ended_at, minutes, quantity, sku, region, currency, unit_price, list_unit_price)"
    " SELECT '2026-05-01', '2026-05-05T10:00Z', %(active)s, 0, %(project)s, %(project)s, gen_random_uuid(),"
    " gen_random_uuid(), '2026-05-05T10:00Z', '2026-05-05T11:00Z', 60, 4, 'ipu-m2000', 'luxembourg-2', 'EUR', 1, 1"
)
_CLOSED = (
    "INSERT INTO hour_closes (hour, closed_at, charges) SELECT '2026-05-05T10:00Z', '2026-05-05T11:02Z', {charges}"
)


LEDGER = (
    _c("trial_balance_is_zero", "INSERT INTO ledger_accounts (code, currency, debits) VALUES ('cash', 'EUR', 5)"),
    _c(
        "wallet_is_not_negative",
        "INSERT INTO ledger_accounts (code, currency, credits) VALUES ('cash', 'EUR', 5)",
        "INSERT INTO ledger_accounts (code, owner_id, currency, debits) VALUES ('wallet', %(project)s, 'EUR', 5)",
        "INSERT INTO ledger_transfers (idem, kind, debit_id, credit_id, currency, amount, effective_at)"
        " SELECT 'x', 'x', w.id, c.id, 'EUR', 5, app_now() FROM ledger_accounts w, ledger_accounts c"
        " WHERE w.code = 'wallet' AND c.code = 'cash'",
        "INSERT INTO payments (id, account_id, currency, direction, amount, reference, state, finished_at, to_wallet)"
        " VALUES (gen_random_uuid(), %(project)s, 'EUR', 'out', 5, 'x', 'done', app_now(), -5)",
    ),
    _c("closed_hour_is_in_the_ledger", _MONTH, _CLOSED.format(charges=1), _CHARGE),
    _c("charge_is_of_a_closed_hour", _MONTH, _CHARGE),
    corruption(
        "sealed_month_was_verified",
        Outcome.REPAIRED,
        _MONTH,
        _CLOSED.format(charges=0),
        "INSERT INTO hour_closes (hour) SELECT '2026-05-05T11:00Z'",
        "UPDATE billing_months SET sealed_at = app_now()",
    ),
    _c(
        "month_is_sealed_in_time",
        "SELECT open_billing_month('2026-04-01')",
        "UPDATE billing_months SET opened_at = '2026-04-01Z'",
    ),
    _c(
        "used_minutes_have_a_price",
        _MONTH,
        _CLOSED.format(charges=0),
        "INSERT INTO unpriced_minutes (hour, account_id, sku, region, currency, minutes)"
        " SELECT '2026-05-05T10:00Z', %(project)s, 'ipu-m2000', 'luxembourg-2', 'EUR', 60",
    ),
    _c(
        "corrected_price_is_rated",
        "INSERT INTO price_corrections (id, sku, region, currency, unit_price, valid_from, version_id, reason,"
        " requested_by, created_at) SELECT gen_random_uuid(), 'ipu-m2000', 'luxembourg-2', 'EUR', 1, '2026-05-05Z',"
        " gen_random_uuid(), 'late', gen_random_uuid(), app_now() - interval '2 days'",
        lasting=True,
    ),
    corruption(
        "roll_up_is_the_charges",
        Outcome.REPAIRED,
        _MONTH,
        _CLOSED.format(charges=0),
        "INSERT INTO day_rollups (day, version, hours, built_at) SELECT '2026-05-05', 1, 1, app_now()",
        "INSERT INTO usage_days (day, version, account_id, project_id, resource_id, flavor, sku, region, currency,"
        " billing_month, price_id, unit_price, minutes, machine_minutes, credited_machine_minutes, cost, list_cost)"
        " SELECT '2026-05-05', 1, %(project)s, %(project)s, %(active)s, 'm2000-pod16', 'ipu-m2000', 'luxembourg-2',"
        " 'EUR', '2026-05-01', %(project)s, 1, 60, 60, 0, 1, 1",
    ),
    _c("project_has_an_account", "DELETE FROM project_accounts WHERE project_id = %(other)s"),
    _c("partitions_of_charges_are_out_of_reach", _MONTH, "GRANT INSERT ON usage_charges_2026_05 TO ipucloud_app"),
)
