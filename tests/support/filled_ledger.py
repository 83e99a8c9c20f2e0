"""The ledger of a filled database: one hour closed, an account with a contract, and something that came late."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.billing.ledger.close import post_hour

_BEFORE = (
    "SELECT open_billing_month(CAST(:hour AS date))",
    """
    INSERT INTO contract_prices (id, account_id, sku, region, currency, unit_price, valid_from, source)
    VALUES (gen_random_uuid(), :project_id, 'ipu-m2000', 'luxembourg-2', 'EUR', 0.05, '2126-01-01Z', 'contract')
    """,
    "INSERT INTO hour_closes (hour) VALUES (:hour)",
)
_AFTER = (
    "INSERT INTO billed_facts VALUES ('2026-05-01', :project_id, 'EUR', 'price|x')",
    "INSERT INTO month_proofs (month, root, bills, public_key, signature)"
    " SELECT month, sha256(''), 1, 'x', 'x' FROM billed_facts",
    "INSERT INTO bill_proofs (month, place, account_id, currency, root, leaves)"
    " SELECT month, 0, account_id, currency, sha256(''), 1 FROM billed_facts",
    "INSERT INTO dirty_hours (hour, cause) VALUES (:hour, 'usage')",
    """
    INSERT INTO price_corrections (id, sku, region, currency, unit_price, valid_from, valid_to, version_id, reason,
                                   requested_by, finished_at)
    SELECT gen_random_uuid(), sku, region, currency, unit_price, '2019-01-01Z', '2019-01-02Z', id, 'late',
           gen_random_uuid(), app_now() FROM prices LIMIT 1
    """,
    """
    INSERT INTO unpriced_minutes (hour, account_id, sku, region, currency, minutes)
    VALUES (:hour, :project_id, 'ipu-bow-2000', 'luxembourg-2', 'EUR', 1)
    """,
    "INSERT INTO day_rollups (day, version, hours) VALUES (CAST(:hour AS date), 1, 1)",
    """
    INSERT INTO usage_days (day, version, account_id, project_id, resource_id, flavor, sku, region, currency,
                            billing_month, price_id, unit_price, minutes, machine_minutes, credited_machine_minutes,
                            cost, list_cost)
    SELECT CAST(:hour AS date), 1, account_id, project_id, resource_id, 'm2000-pod4', sku, region, currency,
           billing_month, price_id, unit_price, minutes, minutes * quantity, minutes * credited, cost,
           minutes * quantity * list_unit_price
      FROM usage_charges
    """,
    """
    INSERT INTO budgets (id, project_id, name, amount, currency) VALUES (:project_id, :project_id, 'all', 100, 'EUR')
    """,
    "INSERT INTO budget_thresholds (budget_id, measure, percent) VALUES (:project_id, 'actual', 1)",
    "INSERT INTO budget_alerts VALUES (:project_id, '2026-05-01', 'actual', 1, 3.75, 100)",
    "INSERT INTO budget_suspensions SELECT :project_id, '2026-05-01', 'actual', 1, id FROM clusters LIMIT 1",
    """
    INSERT INTO events (project_id, type, subject_type, subject_id, data)
    VALUES (:project_id, 'budget.threshold_reached', 'budget', :project_id, '{"month": "2026-05", "percent": 1}')
    """,
    "INSERT INTO prepaid_accounts (account_id, currency, when_empty) VALUES (:project_id, 'EUR', 'warn')",
    """
    INSERT INTO top_up_policies (account_id, currency, amount, below_hours, month_limit, paused_at, pause_reason)
    VALUES (:project_id, 'EUR', 10, 4, 100, app_now(), 'month_limit')
    """,
    "INSERT INTO payment_methods (account_id, customer, payment_method) VALUES (:project_id, 'cus_1', 'pm_1')",
    """
    INSERT INTO create_holds (cluster_id, project_id, account_id, amount, currency, released_at, reason)
    SELECT id, project_id, project_id, 3.75, currency, app_now(), 'posted' FROM clusters LIMIT 1
    """,
)


async def fill_ledger(connection: AsyncConnection, *, project_id: UUID, hour: datetime) -> None:
    """Close the hour in which the project used something, as the application does."""
    values = {"project_id": project_id, "hour": hour}
    for statement in _BEFORE:
        await connection.execute(sa.text(statement), values)
    assert await post_hour(connection, hour) == 1
    for statement in _AFTER:
        await connection.execute(sa.text(statement), values)
