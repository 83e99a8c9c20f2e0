"""Writes of budgets, and of accounts that pay ahead."""

from __future__ import annotations

from tests.api.support import key
from tests.proof.writes.office import Cases, Office, Write

BUDGET = {"amount": {"amount": "5", "currency": "EUR"}, "thresholds": [{"percent": 50}]}


async def create_budget(office: Office) -> Write:
    project = await office.project()
    body = BUDGET | {"name": "All"}
    return Write(
        "POST", f"/v1/projects/{project.slug}/budgets", project.token.secret, body, body | {"name": "B"}, key()
    )


async def _budget(office: Office) -> tuple[str, str]:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/budgets"
    return f"{path}/{await office.id_of(path, BUDGET | {'name': 'All'}, project.token.secret)}", project.token.secret


async def update_budget(office: Office) -> Write:
    path, secret = await _budget(office)
    return Write("PATCH", path, secret, {"name": "Some"}, {"name": "Others"}, key())


async def delete_budget(office: Office) -> Write:
    return Write("DELETE", *await _budget(office))


async def create_account_budget(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/budgets"
    body = BUDGET | {"name": "All"}
    return Write("POST", path, office.admin.secret, body, body | {"name": "B"}, key())


async def _account_budget(office: Office) -> tuple[str, str]:
    path = f"/v1/billing/accounts/{(await office.project()).id}/budgets"
    return f"{path}/{await office.id_of(path, BUDGET | {'name': 'All'}, office.admin.secret)}", office.admin.secret


async def update_account_budget(office: Office) -> Write:
    path, secret = await _account_budget(office)
    return Write("PATCH", path, secret, {"name": "Some"}, {"name": "Others"}, key())


async def delete_account_budget(office: Office) -> Write:
    return Write("DELETE", *await _account_budget(office))


async def set_prepaid(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/prepaid"
    return Write("PUT", path, office.admin.secret, {"when_empty": "refuse_creates"})


async def end_prepaid(office: Office) -> Write:
    write = await set_prepaid(office)
    (await write.send(office.client)).raise_for_status()
    return Write("DELETE", write.path, office.admin.secret)


async def set_dunning(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/dunning"
    return Write("PUT", path, office.admin.secret, {"suspend_after": 30})


async def end_dunning(office: Office) -> Write:
    write = await set_dunning(office)
    (await write.send(office.client)).raise_for_status()
    return Write("DELETE", write.path, office.admin.secret)


async def set_top_up(office: Office) -> Write:
    write = await set_prepaid(office)
    (await write.send(office.client)).raise_for_status()
    euros = {"amount": "10.00", "currency": "EUR"}
    return Write("PUT", f"{write.path}/top-up", write.secret, {"amount": euros, "below_hours": 4, "month_limit": euros})


async def end_top_up(office: Office) -> Write:
    write = await set_top_up(office)
    (await write.send(office.client)).raise_for_status()
    return Write("DELETE", write.path, office.admin.secret)


async def set_payment_method(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/payment-method"
    return Write("PUT", path, office.admin.secret, {"customer": "cus_1", "payment_method": "pm_1"})


async def remove_payment_method(office: Office) -> Write:
    write = await set_payment_method(office)
    (await write.send(office.client)).raise_for_status()
    return Write("DELETE", write.path, office.admin.secret)


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
