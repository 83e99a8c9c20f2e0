"""Billing tasks that a worker runs every minute."""

from __future__ import annotations

import structlog

from ipucloud.billing.budgets.evaluate import evaluate_budgets
from ipucloud.billing.dunning.watch import watch_overdue
from ipucloud.billing.exports.series import freeze_names
from ipucloud.billing.invoices.credits import expire_credits
from ipucloud.billing.invoices.issue import issue_invoices
from ipucloud.billing.ledger.close import close_hour, correct_hour, due_hours, hours_to_correct
from ipucloud.billing.ledger.months import note_late_months, open_months, seal_months
from ipucloud.billing.ledger.rerating import finish_corrections
from ipucloud.billing.prepaid.watch import watch_prepaid
from ipucloud.billing.reports.rollup import roll_up_days
from ipucloud.db.engine import Database

log = structlog.get_logger(__name__)

HOURS_AT_ONCE = 1000
"""Hours closed, and hours corrected, per turn; the next turn continues."""


async def keep_books(database: Database) -> None:
    """Open months, close due hours, correct late changes, roll up days, seal and bill past months, evaluate
    budgets, check prepaid accounts and remind of overdue invoices. After an interruption the next turn continues.
    """
    await open_months(database)
    async with database.read() as connection:
        due = await due_hours(connection, HOURS_AT_ONCE)
    for hour in due:
        charges = await close_hour(database, hour)
        log.info("hour_closed", hour=hour.isoformat(), charges=charges)
    async with database.read() as connection:
        late = await hours_to_correct(connection, HOURS_AT_ONCE)
    for hour in late:
        rows = await correct_hour(database, hour)
        log.info("hour_corrected", hour=hour.isoformat(), charges=rows)
    for correction in await finish_corrections(database):
        log.info("price_correction_finished", correction=str(correction))
    for day in await roll_up_days(database):
        log.info("day_rolled_up", day=day.isoformat())
    for month in await seal_months(database):
        log.info("month_sealed", month=month.isoformat())
    for month in await note_late_months(database):
        log.warning("month_late", month=month.isoformat())
    await freeze_names(database)
    for number in await issue_invoices(database):
        log.info("invoice_issued", number=number)
    await expire_credits(database)
    # After billing: an error in monitoring must not prevent a month from being billed.
    fired = await evaluate_budgets(database)
    if fired:
        log.info("budget_thresholds_fired", thresholds=fired)
    await watch_prepaid(database)
    await watch_overdue(database)
