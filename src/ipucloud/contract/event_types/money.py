"""Types of events about prices, bills, budgets and payments."""

from __future__ import annotations

from ipucloud.contract.event_payloads import money
from ipucloud.contract.event_payloads.money import BudgetReached, FundsLeft, FundsLow
from ipucloud.contract.event_types.registry import register, register_money, register_platform

INVOICE_ISSUED = register_money(
    "invoice.issued",
    "An invoice about this project alone was issued.",
    payload=money.InvoiceNumbered,
)
CREDIT_NOTE_ISSUED = register_money(
    "credit_note.issued",
    "A credit note about this project alone was issued.",
    payload=money.CreditNoteNumbered,
)
BUDGET_CREATED = register("budget.created", "A budget was created.")
BUDGET_UPDATED = register("budget.updated", "The budget was changed.")
BUDGET_DELETED = register("budget.deleted", "The budget was deleted.")
BUDGET_THRESHOLD_REACHED = register_money(
    "budget.threshold_reached",
    "The month's cost reached a threshold.",
    payload=BudgetReached,
)
BUDGET_FORECAST_REACHED = register_money(
    "budget.forecast_reached",
    "The month's forecast reached a threshold.",
    payload=BudgetReached,
)
ACCOUNT_FUNDS_EXHAUSTED = register_money(
    "account.funds_exhausted", "The prepaid account that pays for the project is empty.", payload=FundsLeft
)
ACCOUNT_FUNDS_LOW = register_money(
    "account.funds_low",
    "The prepaid account's funds end within `hours`.",
    payload=FundsLow,
)
ACCOUNT_FUNDS_RESTORED = register_money(
    "account.funds_restored",
    "The prepaid account has funds again.",
    payload=FundsLeft,
)
INVOICE_OVERDUE = register_money(
    "invoice.overdue",
    "An invoice is overdue.",
    payload=money.InvoiceOverdue,
)
ACCOUNT_RESTRICTED = register_money(
    "account.restricted",
    "The account is restricted because of an overdue invoice.",
    payload=money.AccountRestricted,
)
ACCOUNT_RESTRICTION_LIFTED = register_money("account.restriction_lifted", "The account is no longer restricted.")
ACCOUNT_TOP_UP_REQUESTED = register_money(
    "account.top_up_requested",
    "The account's policy requested a top-up.",
    payload=money.TopUpOf,
)
ACCOUNT_TOPPED_UP = register_money(
    "account.topped_up",
    "An automatic top-up was paid.",
    payload=money.TopUpOf,
)
ACCOUNT_TOP_UP_PAUSED = register_money(
    "account.top_up_paused",
    "Automatic top-ups were paused.",
    payload=money.TopUpPaused,
)
ACCOUNT_TOP_UP_RESUMED = register_money("account.top_up_resumed", "Automatic top-ups were resumed.")
ACCOUNT_EXPORT_LIMIT_UPDATED = register_money(
    "account.export_limit_updated",
    "An operator changed how many exports a day the account may request.",
    payload=money.ExportLimitOf,
    project=False,
)
PAYMENT_RECEIVED = register_money("payment.received", "A payment came in.", payload=money.PaymentOf, project=False)
PAYMENT_FAILED = register_money("payment.failed", "A payment failed.", payload=money.PaymentFailed, project=False)
PAYMENT_REFUNDED = register_money(
    "payment.refunded", "Money of the wallet was refunded.", payload=money.PaymentOf, project=False
)
PAYMENT_REVERSAL_FOUND = register_money(
    "payment.reversal_found",
    "The payment provider took a payment back, in full or in part: it was refunded there, or is disputed.",
    payload=money.ReversalFound,
    project=False,
    operators=True,
)
PAYMENT_REVERSAL_WITHDRAWN = register_money(
    "payment.reversal_withdrawn",
    "What the payment provider had taken back has returned: the dispute was won, or the refund failed.",
    payload=money.ReversalFound,
    project=False,
    operators=True,
)
PAYMENT_REVERSED = register_money(
    "payment.reversed",
    "A payment that was taken back was taken out of the wallet.",
    payload=money.PaymentReversed,
    project=False,
)
PRICE_MISSING = register_platform(
    "price.missing",
    "Used minutes have no price and are charged once they get one.",
    "region",
    payload=money.UnpricedUse,
)
PRICE_SUPPLIED = register_platform(
    "price.supplied", "All minutes without a price were charged.", "region", payload=money.UnpricedUse
)
PRICE_CORRECTION_ACCEPTED = register_platform(
    "price_correction.accepted",
    "A past price was corrected; its hours are rated again.",
    payload=money.PriceCorrectionOf,
)
PRICE_CORRECTION_FINISHED = register_platform(
    "price_correction.finished", "Every closed hour was rated again.", payload=money.PriceCorrectionOf
)
BILLING_MONTH_SEALED = register_platform(
    "billing_month.sealed", "A month was sealed; its invoices follow.", payload=money.BillingMonthOf
)
BILLING_MONTH_LATE = register_platform(
    "billing_month.late",
    "A month is not sealed a day after it should have been.",
    payload=money.BillingMonthOf,
)
