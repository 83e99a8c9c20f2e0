"""Writes of accounts, prices, invoices and payments."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import count
from uuid import UUID

from ipucloud.billing.invoices import payments
from ipucloud.kernel.money import Money
from tests.api.support import key, price_json
from tests.proof.writes.write import At, Cases, Setup, Write, of_account, of_project, platform, sent
from tests.support.invoices import make_invoice

EURO = {"amount": "1.00", "currency": "EUR"}
_EVEN = count(0, 2)
LETTERS = str.maketrans("0123456789", "abcdefghij")


async def assign_project_account(setup: Setup) -> Write:
    project, payer = await setup.project(), await setup.project()
    path = f"/v1/projects/{project.slug}/billing/account"
    return Write("PUT", path, setup.admin.secret, {"account_id": str(payer.id)})


async def add_prices(setup: Setup) -> Write:
    item = price_json(setup.fresh())
    other = item | {"source": "another"}
    return Write("POST", "/v1/billing/prices", setup.admin.secret, {"items": [item]}, {"items": [other]}, key())


async def withdraw_price(setup: Setup) -> Write:
    headers = {"Authorization": f"Bearer {setup.admin.secret}"}
    sku, path = setup.fresh(), "/v1/billing/prices"
    (await setup.client.post(path, json={"items": [price_json(sku)]}, headers=headers)).raise_for_status()
    book = (await setup.client.get(path, headers=headers)).json()["items"]
    [price] = [each["id"] for each in book if each["sku"] == sku]
    return Write("DELETE", f"{path}/{price}", setup.admin.secret)


def _correction(unit_price: str, day: date = date(2025, 1, 1)) -> dict[str, object]:
    return {
        "sku": "ipu-m2000",
        "region": "luxembourg-2",
        "unit_price": EURO | {"amount": unit_price},
        "valid_from": f"{day}T00:00:00Z",
        "valid_to": f"{day + timedelta(days=1)}T00:00:00Z",
        "reason": "entered late",
    }


async def correct_price(setup: Setup) -> Write:
    # A day in the middle of a version each time, which adds two versions.
    path, body = "/v1/billing/price-corrections", _correction("0.05", date(2025, 1, 1) + timedelta(days=next(_EVEN)))
    headers = {"Authorization": f"Bearer {setup.admin.secret}"}
    shown = await setup.client.post(f"{path}:preview", json=body, headers=headers)
    order = body | {"preview": shown.raise_for_status().json()["preview"]}
    return Write("POST", path, setup.admin.secret, order, order | {"reason": "another"}, key())


async def issue_credit_note(setup: Setup) -> Write:
    project = await setup.project()
    async with setup.world.database.begin() as connection:
        number = await make_invoice(connection, project.id)
    path, body = f"/v1/billing/invoices/{number}:credit-note", {"net": "0.50", "reason": "a rack lost power"}
    return Write("POST", path, setup.admin.secret, body, body | {"net": "0.60"}, key())


def _payment(setup: Setup) -> dict[str, object]:
    return {"amount": EURO, "reference": setup.fresh()}


def _seller(setup: Setup) -> dict[str, object]:
    return {"legal_name": setup.fresh()}


async def fail_payment(setup: Setup) -> Write:
    account = (await setup.project()).id
    async with setup.world.database.begin() as connection:
        payment = await payments.expect_payment(connection, account, Money.of("5.00", "EUR"))
    path = f"/v1/billing/accounts/{account}/payments/{payment}:fail"
    return Write("POST", path, setup.admin.secret, {"reason": "card expired"}, {"reason": "another"}, key())


async def reverse_payment(setup: Setup) -> Write:
    account = (await setup.project()).id
    async with setup.world.database.begin() as connection:
        payment = await payments.record_payment(
            connection, account, Money.of("5.00", "EUR"), reference=setup.fresh(), invoice=None
        )
    path, body = f"/v1/billing/accounts/{account}/payments/{payment}/reversals", _payment(setup)
    return Write("POST", path, setup.admin.secret, body, _payment(setup), key())


async def _paid(setup: Setup) -> At:
    at = await of_account(setup)
    async with setup.world.database.begin() as connection:
        account, money = UUID(at.path.rpartition("/")[2]), Money.of("5.00", "EUR")
        await payments.record_payment(connection, account, money, reference="first", invoice=None)
    return at


async def add_tax_rate(setup: Setup) -> Write:
    body = {"country": "XK", "kind": setup.fresh().translate(LETTERS), "rate": "0.18", "valid_from": "2100-01-01"}
    body |= {"source": "a letter"}
    return Write("POST", "/v1/billing/tax-rates", setup.admin.secret, body, body | {"rate": "0.19"}, key())


ACCOUNT = {"name": "Research", "currency": "EUR"}
CREDIT = {"amount": EURO, "reason": "welcome", "expires_at": "2126-01-01T00:00:00Z"}
WRITES: Cases = {
    "createBillingAccount": sent(platform, "POST", "/billing/accounts", ACCOUNT, ACCOUNT | {"name": "Development"}),
    "updateBillingAccount": sent(of_account, "PATCH", "", {"tax_id": "LU1"}, {"tax_id": "LU2"}),
    "assignProjectAccount": assign_project_account,
    "addPrices": add_prices,
    "withdrawPrice": withdraw_price,
    "previewPriceCorrection": sent(
        platform, "POST", "/billing/price-corrections:preview", _correction("0.05"), _correction("0.04")
    ),
    "correctPrice": correct_price,
    "issueCreditNote": issue_credit_note,
    "topUpWallet": sent(
        of_project, "POST", "/billing/top-ups", {"amount": EURO}, {"amount": EURO | {"amount": "2.00"}}
    ),
    "grantCredit": sent(of_account, "POST", "/credits", CREDIT, CREDIT | {"reason": "another"}),
    "recordPayment": sent(of_account, "POST", "/payments", _payment, _payment),
    "recordRefund": sent(_paid, "POST", "/refunds", _payment, _payment),
    "failPayment": fail_payment,
    "reversePayment": reverse_payment,
    "updateSeller": sent(platform, "PATCH", "/billing/seller", _seller, _seller),
    "addTaxRate": add_tax_rate,
}
