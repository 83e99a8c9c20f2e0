"""Writes of budgets, and of accounts that pay ahead."""

from __future__ import annotations

from tests.proof.writes.write import Case, Cases, Where, after, created, of_account, of_project, sent

BUDGET = {"name": "All", "amount": {"amount": "5", "currency": "EUR"}, "thresholds": [{"percent": 50}]}
EUROS = {"amount": "10.00", "currency": "EUR"}


def _budgets(home: Where) -> tuple[Case, Case, Case]:
    budget = created(home, "/budgets", BUDGET)
    return (
        sent(home, "POST", "/budgets", BUDGET, BUDGET | {"name": "B"}),
        sent(budget, "PATCH", "", {"name": "Some"}, {"name": "Others"}),
        sent(budget, "DELETE"),
    )


SET_PREPAID = sent(of_account, "PUT", "/prepaid", {"when_empty": "refuse_creates"})
SET_TOP_UP = sent(after(SET_PREPAID), "PUT", "/top-up", {"amount": EUROS, "below_hours": 4, "month_limit": EUROS})
SET_DUNNING = sent(of_account, "PUT", "/dunning", {"suspend_after": 30})
SET_PAYMENT_METHOD = sent(of_account, "PUT", "/payment-method", {"customer": "cus_1", "payment_method": "pm_1"})
WRITES: Cases = {
    **dict(zip(("createBudget", "updateBudget", "deleteBudget"), _budgets(of_project), strict=True)),
    **dict(
        zip(("createAccountBudget", "updateAccountBudget", "deleteAccountBudget"), _budgets(of_account), strict=True)
    ),
    "setPrepaid": SET_PREPAID,
    "endPrepaid": sent(after(SET_PREPAID), "DELETE"),
    "setDunning": SET_DUNNING,
    "endDunning": sent(after(SET_DUNNING), "DELETE"),
    "setTopUp": SET_TOP_UP,
    "endTopUp": sent(after(SET_TOP_UP), "DELETE"),
    "setPaymentMethod": SET_PAYMENT_METHOD,
    "removePaymentMethod": sent(after(SET_PAYMENT_METHOD), "DELETE"),
}
