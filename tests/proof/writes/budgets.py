"""Writes of budgets, and of accounts that pay ahead."""

from __future__ import annotations

from tests.api.support import key
from tests.proof.writes.write import Cases, Setup, Write

BUDGET = {"amount": {"amount": "5", "currency": "EUR"}, "thresholds": [{"percent": 50}]}


async def create_budget(setup: Setup) -> Write:
    project = await setup.project()
    body = BUDGET | {"name": "All"}
    return Write(
        "POST", f"/v1/projects/{project.slug}/budgets", project.token.secret, body, body | {"name": "B"}, key()
    )


async def _budget(setup: Setup) -> tuple[str, str]:
    project = await setup.project()
    path = f"/v1/projects/{project.slug}/budgets"
    return f"{path}/{await setup.id_of(path, BUDGET | {'name': 'All'}, project.token.secret)}", project.token.secret


async def update_budget(setup: Setup) -> Write:
    path, secret = await _budget(setup)
    return Write("PATCH", path, secret, {"name": "Some"}, {"name": "Others"}, key())


async def delete_budget(setup: Setup) -> Write:
    return Write("DELETE", *await _budget(setup))


async def create_account_budget(setup: Setup) -> Write:
    path = f"/v1/billing/accounts/{(await setup.project()).id}/budgets"
    body = BUDGET | {"name": "All"}
    return Write("POST", path, setup.admin.secret, body, body | {"name": "B"}, key())


async def _account_budget(setup: Setup) -> tuple[str, str]:
    path = f"/v1/billing/accounts/{(await setup.project()).id}/budgets"
    return f"{path}/{await setup.id_of(path, BUDGET | {'name': 'All'}, setup.admin.secret)}", setup.admin.secret


async def update_account_budget(setup: Setup) -> Write:
    path, secret = await _account_budget(setup)
    return Write("PATCH", path, secret, {"name": "Some"}, {"name": "Others"}, key())


async def delete_account_budget(setup: Setup) -> Write:
    return Write("DELETE", *await _account_budget(setup))


async def set_prepaid(setup: Setup) -> Write:
    path = f"/v1/billing/accounts/{(await setup.project()).id}/prepaid"
    return Write("PUT", path, setup.admin.secret, {"when_empty": "refuse_creates"})


async def end_prepaid(setup: Setup) -> Write:
    write = await set_prepaid(setup)
    (await write.send(setup.client)).raise_for_status()
    return Write("DELETE", write.path, setup.admin.secret)


async def set_dunning(setup: Setup) -> Write:
    path = f"/v1/billing/accounts/{(await setup.project()).id}/dunning"
    return Write("PUT", path, setup.admin.secret, {"suspend_after": 30})


async def end_dunning(setup: Setup) -> Write:
    write = await set_dunning(setup)
    (await write.send(setup.client)).raise_for_status()
    return Write("DELETE", write.path, setup.admin.secret)


async def set_top_up(setup: Setup) -> Write:
    write = await set_prepaid(setup)
    (await write.send(setup.client)).raise_for_status()
    euros = {"amount": "10.00", "currency": "EUR"}
    return Write("PUT", f"{write.path}/top-up", write.secret, {"amount": euros, "below_hours": 4, "month_limit": euros})


async def end_top_up(setup: Setup) -> Write:
    write = await set_top_up(setup)
    (await write.send(setup.client)).raise_for_status()
    return Write("DELETE", write.path, setup.admin.secret)


async def set_payment_method(setup: Setup) -> Write:
    path = f"/v1/billing/accounts/{(await setup.project()).id}/payment-method"
    return Write("PUT", path, setup.admin.secret, {"customer": "cus_1", "payment_method": "pm_1"})


async def remove_payment_method(setup: Setup) -> Write:
    write = await set_payment_method(setup)
    (await write.send(setup.client)).raise_for_status()
    return Write("DELETE", write.path, setup.admin.secret)


WRITES: Cases = {
    "createBudget": create_budget,
    "updateBudget": update_budget,
    "deleteBudget": delete_budget,
    "createAccountBudget": create_account_budget,
    "updateAccountBudget": update_account_budget,
    "deleteAccountBudget": delete_account_budget,
    "setPrepaid": set_prepaid,
    "endPrepaid": end_prepaid,
    "setDunning": set_dunning,
    "endDunning": end_dunning,
    "setTopUp": set_top_up,
    "endTopUp": end_top_up,
    "setPaymentMethod": set_payment_method,
    "removePaymentMethod": remove_payment_method,
}
