"""Writes of accounts, prices, invoices and payments."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import count

from ipucloud.billing.invoices import payments
from ipucloud.kernel.money import Money
from tests.api.support import key, price_json
from tests.proof.writes.office import Cases, Office, Write
from tests.support.invoices import make_invoice

EURO = {"amount": "1.00", "currency": "EUR"}
_EVEN = count(0, 2)
LETTERS = str.maketrans("0123456789", "abcdefghij")


async def create_billing_account(office: Office) -> Write:
    body = {"name": "Research", "currency": "EUR"}
    return Write("POST", "/v1/billing/accounts", office.admin.secret, body, body | {"name": "Development"}, key())


async def update_billing_account(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}"
    return Write("PATCH", path, office.admin.secret, {"tax_id": "LU1"}, {"tax_id": "LU2"}, key())


async def assign_project_account(office: Office) -> Write:
    project, payer = await office.project(), await office.project()
    path = f"/v1/projects/{project.slug}/billing/account"
    return Write("PUT", path, office.admin.secret, {"account_id": str(payer.id)})


async def add_prices(office: Office) -> Write:
    item = price_json(office.fresh())
    other = item | {"source": "another"}
    return Write("POST", "/v1/billing/prices", office.admin.secret, {"items": [item]}, {"items": [other]}, key())


async def withdraw_price(office: Office) -> Write:
    headers = {"Authorization": f"Bearer {office.admin.secret}"}
    sku, path = office.fresh(), "/v1/billing/prices"
    (await office.client.post(path, json={"items": [price_json(sku)]}, headers=headers)).raise_for_status()
    book = (await office.client.get(path, headers=headers)).json()["items"]
    [made] = [each["id"] for each in book if each["sku"] == sku]
    return Write("DELETE", f"{path}/{made}", office.admin.secret)


def _correction(unit_price: str, day: date = date(2025, 1, 1)) -> dict[str, object]:
    return {
        "sku": "ipu-m2000",
        "region": "luxembourg-2",
        "unit_price": EURO | {"amount": unit_price},
        "valid_from": f"{day}T00:00:00Z",
        "valid_to": f"{day + timedelta(days=1)}T00:00:00Z",
        "reason": "entered late",
    }


async def preview_price_correction(office: Office) -> Write:
    path = "/v1/billing/price-corrections:preview"
    return Write("POST", path, office.admin.secret, _correction("0.05"), _correction("0.04"), key())


async def correct_price(office: Office) -> Write:
    # A day in the middle of a version each time, which adds two versions.
    path, body = "/v1/billing/price-corrections", _correction("0.05", date(2025, 1, 1) + timedelta(days=next(_EVEN)))
    headers = {"Authorization": f"Bearer {office.admin.secret}"}
    shown = await office.client.post(f"{path}:preview", json=body, headers=headers)
    order = body | {"preview": shown.raise_for_status().json()["preview"]}
    return Write("POST", path, office.admin.secret, order, order | {"reason": "another"}, key())


async def issue_credit_note(office: Office) -> Write:
    project = await office.project()
    async with office.world.database.begin() as connection:
        number = await make_invoice(connection, project.id)
    path, body = f"/v1/billing/invoices/{number}:credit-note", {"net": "0.50", "reason": "a rack lost power"}
    return Write("POST", path, office.admin.secret, body, body | {"net": "0.60"}, key())


async def top_up_wallet(office: Office) -> Write:
    project = await office.project()
    path = f"/v1/projects/{project.slug}/billing/top-ups"
    return Write("POST", path, project.token.secret, {"amount": EURO}, {"amount": EURO | {"amount": "2.00"}}, key())


async def grant_credit(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/credits"
    body = {"amount": EURO, "reason": "welcome", "expires_at": "2126-01-01T00:00:00Z"}
    return Write("POST", path, office.admin.secret, body, body | {"reason": "another"}, key())


async def record_payment(office: Office) -> Write:
    path = f"/v1/billing/accounts/{(await office.project()).id}/payments"
    body = {"amount": EURO, "reference": office.fresh()}
    return Write("POST", path, office.admin.secret, body, body | {"reference": office.fresh()}, key())


async def fail_payment(office: Office) -> Write:
    account = (await office.project()).id
    async with office.world.database.begin() as connection:
        payment = await payments.expect_payment(connection, account, Money.of("5.00", "EUR"))
    path = f"/v1/billing/accounts/{account}/payments/{payment}:fail"
    return Write("POST", path, office.admin.secret, {"reason": "card expired"}, {"reason": "another"}, key())


async def record_refund(office: Office) -> Write:
    account = (await office.project()).id
    async with office.world.database.begin() as connection:
        money = Money.of("5.00", "EUR")
        await payments.record_payment(connection, account, money, reference="first", invoice=None)
    body = {"amount": EURO, "reference": office.fresh()}
    path = f"/v1/billing/accounts/{account}/refunds"
    return Write("POST", path, office.admin.secret, body, body | {"reference": office.fresh()}, key())


async def update_seller(office: Office) -> Write:
    body = {"legal_name": office.fresh()}
    return Write("PATCH", "/v1/billing/seller", office.admin.secret, body, {"legal_name": office.fresh()}, key())


async def add_tax_rate(office: Office) -> Write:
    body = {"country": "XK", "kind": office.fresh().translate(LETTERS), "rate": "0.18", "valid_from": "2100-01-01"}
    body |= {"source": "a letter"}
    return Write("POST", "/v1/billing/tax-rates", office.admin.secret, body, body | {"rate": "0.19"}, key())


WRITES: Cases = {
    "createBillingAccount": create_billing_account,
    "updateBillingAccount": update_billing_account,
    "assignProjectAccount": assign_project_account,
    "addPrices": add_prices,
    "withdrawPrice": withdraw_price,
    "previewPriceCorrection": preview_price_correction,
    "correctPrice": correct_price,
    "issueCreditNote": issue_credit_note,
    "topUpWallet": top_up_wallet,
    "grantCredit": grant_credit,
    "recordPayment": record_payment,
    "recordRefund": record_refund,
    "failPayment": fail_payment,
    "updateSeller": update_seller,
    "addTaxRate": add_tax_rate,
}
