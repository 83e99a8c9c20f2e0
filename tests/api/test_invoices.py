"""Invoices, credit notes, credits, payments and the wallet as callers see them, and who sees which."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import httpx
import psycopg
import pypdfium2 as pdfium  # type: ignore[import-untyped]  # it comes without types
import pytest

from ipucloud.api.services import late_drawing
from ipucloud.billing.ledger.transfers import Posted, post_usage
from ipucloud.client.verify_bill import NotProven, verify
from ipucloud.db.turns import Turns
from ipucloud.extras.proofs.sign import sign_months
from ipucloud.identity.roles import Role
from ipucloud.kernel.sealing import read_keys, signer_of
from tests.api.support import SECRETS_KEY, Api, euros, items, key, ok, problem
from tests.support.factories import make_project
from tests.support.invoices import HOUR, add_tax_rate, charge, invoice_of, make_invoice
from tests.support.postgres import Database as Scratch

pytestmark = pytest.mark.anyio

NEVER = "2126-01-01T00:00:00Z"


async def issued(api: Api) -> str:
    async with api.world.database.begin() as connection:
        return await make_invoice(connection, api.world.project.id)


def standing(answer: Any) -> dict[str, str]:
    [item] = answer.json()["items"]
    return {name: value["amount"] for name, value in item.items() if name != "currency"}


async def test_an_invoice_is_listed_read_and_printed(api: Api) -> None:
    number = await issued(api)
    listed = (await api.owner.get(f"{api.base}/billing/invoices")).json()
    assert listed["next_cursor"] is None
    [row] = listed["items"]
    assert (row["kind"], row["number"], row["month"]) == ("invoice", number, "2026-04")
    assert (row["total"], row["outstanding"]) == (euros("17.55"), euros("17.55"))
    read = await api.owner.get(f"{api.base}/billing/invoices/{number}")
    invoice = read.json()
    assert (invoice["subtotal"], invoice["tax"], invoice["total"]) == (euros("15.00"), euros("2.55"), euros("17.55"))
    assert invoice["lines"][0]["project"] == api.world.project.slug
    assert (await api.owner.get(read.url, headers={"If-None-Match": read.headers["etag"]})).status_code == 304
    printed = await api.owner.get(f"{api.base}/billing/invoices/{number}", headers={"Accept": "application/pdf"})
    assert printed.headers["content-type"] == "application/pdf"
    assert printed.headers["content-disposition"] == f'inline; filename="{number}.pdf"'
    again = await api.owner.get(f"{api.base}/billing/invoices/{number}", params={"format": "pdf"})
    assert again.content == printed.content
    pdf = pdfium.PdfDocument(printed.content)
    assert number in pdf[0].get_textpage().get_text_range()
    pdf.close()
    problem(await api.owner.get(f"{api.base}/billing/invoices/INV-2026-999999"), 404, "not_found")


async def test_an_invoice_is_written_as_e_invoice_or_says_what_it_lacks(api: Api, admin: httpx.AsyncClient) -> None:
    facts = {"buyer_reference": "04011000-12345-34", "electronic_address": "EM:ap@example.com"}
    accounts = f"/v1/billing/accounts/{api.world.project.id}"
    changed = await admin.patch(accounts, json={"e_invoice": facts})
    assert changed.json()["e_invoice"] == facts
    more = await admin.patch(accounts, json={"e_invoice": {"purchase_order": "PO-7"}})
    assert more.json()["e_invoice"] == facts | {"purchase_order": "PO-7"}
    wrong = await admin.patch("/v1/billing/seller", json={"e_invoice": {"iban": "LU280019400644750001"}})
    assert problem(wrong, 422, "validation_failed")["errors"][0]["pointer"] == "/e_invoice/iban"
    for path in (accounts, "/v1/billing/seller"):
        unknown = await admin.patch(path, json={"e_invoice": {"electronic_address": "1234:5"}})
        [error] = problem(unknown, 422, "validation_failed")["errors"]
        assert (error["pointer"], error["code"]) == ("/e_invoice/electronic_address", "unknown_scheme")
        assert "1234 is not in the Electronic Address Scheme list" in error["detail"]
    early = await issued(api)
    path = f"{api.base}/billing/invoices/{early}"
    refused = problem(await api.owner.get(path, params={"format": "peppol"}), 409, "state_conflict")
    assert "seller.tax_id, seller.e_invoice.electronic_address" in refused["detail"]
    problem(await api.owner.get(f"{api.base}/billing/invoices/draft", params={"format": "ubl"}), 409, "state_conflict")


async def test_what_the_seller_says_is_in_e_invoices_of_accounts(api: Api, admin: httpx.AsyncClient) -> None:
    seller = {"tax_id": "LU12345678", "e_invoice": {"iban": "LU280019400644750000", "city": "Windhof"}}
    assert (await admin.patch("/v1/billing/seller", json=seller)).status_code == 200
    number = await issued(api)
    path = f"/v1/billing/invoices/{number}"
    e_invoice = await admin.get(path, params={"format": "cii"})
    assert e_invoice.headers["content-type"] == "application/xml"
    assert e_invoice.headers["content-disposition"] == f'inline; filename="{number}.xml"'
    assert b"LU280019400644750000" in e_invoice.content
    printed = await admin.get(path, params={"format": "factur-x"})
    assert printed.headers["content-type"] == "application/pdf"


async def test_an_invoice_has_a_proof_once_its_month_is_signed(api: Api, database: Scratch) -> None:
    number, admin = await issued(api), await api.caller(Role.ADMIN)
    path, of_account = f"{api.base}/billing/invoices/{number}/proof", f"/v1/billing/invoices/{number}/proof"
    refused = problem(await api.owner.get(path), 409, "state_conflict")
    assert "April 2026 is not signed yet" in refused["detail"]
    problem(await api.owner.get(f"{api.base}/billing/invoices/INV-2026-999999/proof"), 404, "not_found")
    note = await admin.post(
        f"/v1/billing/invoices/{number}:credit-note", json={"net": "1.00", "reason": "x"}, headers=key()
    )
    answer = await api.owner.get(f"{api.base}/billing/invoices/{note.json()['number']}/proof")
    refused = problem(answer, 409, "state_conflict")
    assert "follows from no usage" in refused["detail"]
    unused = {"current": True, "first_month": None, "last_month": None}
    [key_of_now] = await items(api.owner, "/v1/billing/proof-keys")
    assert key_of_now == {"public_key": signer_of(read_keys(SECRETS_KEY)).public_key} | unused
    # The month is one of the tests: its charge is of no interval, so it proves nothing, and says so.
    with psycopg.connect(database.superuser_url) as connection:
        connection.execute("UPDATE hour_closes SET verified_at = closed_at")
        connection.execute("UPDATE billing_months SET sealed_at = app_now() WHERE month = '2026-04-01'")
        connection.execute(
            "INSERT INTO billed_facts SELECT '2026-04-01', account_id, currency, 'price|x' FROM invoices"
        )
    await sign_months(api.world.database, read_keys(SECRETS_KEY))
    proof = await api.owner.get(path)
    assert proof.status_code == 200, proof.text
    assert proof.headers["content-disposition"] == f'attachment; filename="{number}.proof"'
    assert json.loads(json.loads(proof.content)["invoice"]["document"])["number"] == number
    assert (await admin.get(of_account)).content == proof.content
    listed = await api.owner.get("/v1/billing/proof-keys")
    assert listed.json()["items"] == [key_of_now | {"first_month": "2026-04", "last_month": "2026-04"}]
    assert json.loads(proof.content)["month"]["public_key"] == key_of_now["public_key"]
    with pytest.raises(NotProven):
        verify(proof.content)


async def test_a_payment_and_a_credit_note_settle_an_invoice(api: Api) -> None:
    admin, number = await api.caller(Role.ADMIN), await issued(api)
    account = f"/v1/billing/accounts/{api.world.project.id}"
    body = {"amount": euros("10.00"), "reference": "statement 7", "invoice": number}
    paid = await admin.post(f"{account}/payments", json=body, headers=key())
    assert (paid.status_code, paid.json()["state"], paid.json()["invoice"]) == (201, "done", number), paid.text
    again = await admin.post(f"{account}/payments", json=body, headers=key())
    assert again.json() == paid.json()
    refused = await admin.post(f"{account}/payments", json=body | {"amount": euros("9.00")}, headers=key())
    problem(refused, 409, "state_conflict")
    [row] = await items(api.owner, f"{api.base}/billing/invoices")
    assert row["outstanding"] == euros("7.55")
    path = f"/v1/billing/invoices/{number}:credit-note"
    problem(await admin.post(path, json={"net": "15.01", "reason": "x"}, headers=key()), 422, "validation_failed")
    note = (await admin.post(path, json={"net": "10.00", "reason": "a rack lost power"}, headers=key())).json()
    assert (note["number"], note["invoice"], note["tax"]) == ("CN-2026-000001", number, euros("1.70"))
    assert (note["total"], note["to_wallet"]) == (euros("11.70"), euros("4.15"))
    rest = (await admin.post(path, json={"reason": "all of it"}, headers=key())).json()
    assert (rest["net"], rest["tax"], rest["to_wallet"]) == (euros("5.00"), euros("0.85"), euros("5.85"))
    problem(await admin.post(path, json={"reason": "more"}, headers=key()), 409, "state_conflict")
    listed = await items(api.owner, f"{api.base}/billing/invoices", order="created_at")
    assert [each["kind"] for each in listed] == ["invoice", "credit_note", "credit_note"]
    assert {each["outstanding"]["amount"] for each in listed} == {"0.00"}
    assert standing(await api.owner.get(f"{api.base}/billing/balance"))["wallet"] == "10.00"
    printed = await api.owner.get(f"{api.base}/billing/invoices/{note['number']}", params={"format": "pdf"})
    assert printed.content.startswith(b"%PDF")
    assert len(await items(admin, f"{account}/payments")) == 1
    assert len(await items(admin, f"{account}/invoices", limit=2)) == 2


async def test_what_the_provider_took_back_is_reversed_by_its_id(api: Api, admin: httpx.AsyncClient) -> None:
    account = f"/v1/billing/accounts/{api.world.project.id}"
    body = {"amount": euros("40.00"), "reference": "TOP-1"}
    paid = ok(await admin.post(f"{account}/payments", json=body, headers=key()), 201)
    path = f"{account}/payments/{paid['id']}/reversals"
    unknown = problem(await admin.post(path, json={"reference": "du_1"}, headers=key()), 409, "state_conflict")
    assert "give the amount" in unknown["detail"]
    await api.world.execute(
        "INSERT INTO found_reversals (id, payment_id, amount, status, taken)"
        " VALUES ('du_1', :payment, 30, 'lost', true), ('du_2', :payment, 5, 'won', false)",
        payment=UUID(paid["id"]),
    )
    for reference, amount, why in (("du_1", "29.00", "reverse that amount"), ("du_2", "5.00", "Reverse nothing")):
        order = {"reference": reference, "amount": euros(amount)}
        assert why in problem(await admin.post(path, json=order, headers=key()), 409, "state_conflict")["detail"]
    done = ok(await admin.post(path, json={"reference": "du_1"}, headers=key()), 201)
    assert (done["direction"], done["reverses"], done["to_wallet"]) == ("out", paid["id"], euros("-30.00"))
    assert ok(await admin.post(path, json={"reference": "du_1"}, headers=key()), 201) == done
    other = {"reference": "du_3", "amount": euros("1.00")}
    problem(
        await admin.post(f"{account}/payments/{UUID(int=1)}/reversals", json=other, headers=key()), 404, "not_found"
    )
    problem(await api.owner.post(path, json=other, headers=key()), 403, "permission_denied")
    assert standing(await api.owner.get(f"{api.base}/billing/balance"))["wallet"] == "10.00"


async def test_a_wallet_is_filled_and_paid_back(api: Api, admin: httpx.AsyncClient) -> None:
    account = f"/v1/billing/accounts/{api.world.project.id}"
    expected = (
        await api.owner.post(f"{api.base}/billing/top-ups", json={"amount": euros("50.00")}, headers=key())
    ).json()
    assert (expected["state"], expected["to_wallet"]) == ("pending", None)
    body = {"amount": euros("40.00"), "reference": expected["reference"]}
    came = (await admin.post(f"{account}/payments", json=body, headers=key())).json()
    assert (came["id"], came["state"], came["to_wallet"]) == (expected["id"], "done", euros("40.00"))
    refund = {"amount": euros("30.00"), "reference": "back 1"}
    assert (await admin.post(f"{account}/refunds", json=refund, headers=key())).json()["to_wallet"] == euros("-30.00")
    assert (await admin.post(f"{account}/refunds", json=refund, headers=key())).status_code == 201
    refused = await admin.post(f"{account}/refunds", json=refund | {"reference": "back 2"}, headers=key())
    problem(refused, 409, "state_conflict")
    welcome = {"amount": euros("5.00"), "reason": "welcome", "expires_at": NEVER}
    granted = ok(await admin.post(f"{account}/credits", json=welcome, headers=key()), 201)
    assert granted["remaining"] == euros("5.00")
    assert await items(api.owner, f"{api.base}/billing/credits") == [granted]
    left = {"unbilled": "0.00", "outstanding": "0.00", "wallet": "10.00", "credit": "5.00"}
    assert standing(await api.owner.get(f"{api.base}/billing/balance")) == left
    for wrong in ("0.00", "-1.00", "0.001"):
        bad = {"amount": euros(wrong), "reference": "wrong"}
        problem(await admin.post(f"{account}/payments", json=bad, headers=key()), 422, "validation_failed")


async def test_only_who_pays_sees_other_projects_lines(api: Api, admin: httpx.AsyncClient) -> None:
    """The account of one project pays for both: its people see the bill, the other's see nothing of it."""
    async with api.world.database.begin() as connection:
        other = await make_project(connection)
        await add_tax_rate(connection)
        payer = api.world.project.id
        for project in (payer, other.id):
            await charge(connection, project, account_id=payer)
        await post_usage(connection, HOUR, 0, [Posted(payer, "EUR", Decimal("30"), 1)])
        number = await invoice_of(connection, payer)
    await admin.put(f"/v1/projects/{other.slug}/billing/account", json={"account_id": str(payer)})
    assert len((await api.owner.get(f"{api.base}/billing/invoices/{number}")).json()["lines"]) == 2
    neighbour = api.client(other.token.secret)
    assert await items(neighbour, f"/v1/projects/{other.slug}/billing/invoices") == []
    problem(await neighbour.get(f"/v1/projects/{other.slug}/billing/invoices/{number}"), 404, "not_found")
    support = await api.caller(Role.SUPPORT)
    assert (await support.get(f"/v1/projects/{other.slug}/billing/invoices/{number}")).status_code == 200
    draft = await api.owner.get(f"{api.base}/billing/invoices/draft")
    assert (draft.json()["kind"], draft.json()["total"]) == ("draft", euros("0.00"))


async def test_a_month_has_a_draft_until_its_invoices_are_issued(api: Api) -> None:
    address = f"{api.base}/billing/invoices/draft"
    now = datetime.now(UTC)
    last = now.replace(day=1) - timedelta(days=1)
    draft = (await api.owner.get(address, params={"month": f"{last:%Y-%m}"})).json()
    assert (draft["kind"], draft["period"]["since"]) == ("draft", f"{last:%Y-%m}-01")
    assert (await api.owner.get(address)).json()["period"]["since"] == f"{now:%Y-%m}-01"
    for month in ("2099-01", "2026-13", "now"):
        problem(await api.owner.get(address, params={"month": month}), 422, "validation_failed")
    first = last.replace(day=1).date()
    await api.world.execute("SELECT open_billing_month(:month)", month=first)
    await api.world.execute("INSERT INTO invoiced_months (month) VALUES (:month)", month=first)
    problem(await api.owner.get(address, params={"month": f"{last:%Y-%m}"}), 409, "state_conflict")


async def test_seller_and_tax_rates_are_set_by_operators(api: Api, admin: httpx.AsyncClient) -> None:
    read = await admin.get("/v1/billing/seller")
    seller, version = {"legal_name": "Nordwind", "tax_id": "LU1"}, {"If-Match": read.headers["etag"]}
    changed = ok(await admin.patch("/v1/billing/seller", json=seller, headers=version))
    assert (changed["legal_name"], changed["country"]) == ("Nordwind", "LU")
    problem(await admin.patch("/v1/billing/seller", json={}, headers=version), 412, "precondition_failed")
    rate = {"country": "LU", "rate": "0.17", "valid_from": "2026-01-01", "source": "law"}
    assert len((await admin.post("/v1/billing/tax-rates", json=rate)).json()["items"]) == 1
    assert len((await admin.post("/v1/billing/tax-rates", json=rate)).json()["items"]) == 1
    late = await admin.post("/v1/billing/tax-rates", json=rate | {"rate": "0.18", "valid_from": "2026-02-01"})
    problem(late, 422, "validation_failed")
    follows = {"rate": "0.16", "valid_from": "2126-01-01"}
    first, second = (await admin.post("/v1/billing/tax-rates", json=rate | follows)).json()["items"]
    assert (first["valid_to"], second["valid_to"], second["rate"]) == ("2126-01-01", None, "0.16")
    problem(await admin.post("/v1/billing/tax-rates", json=rate | {"rate": "1.5"}), 422, "validation_failed")
    draft = (await api.owner.get(f"{api.base}/billing/invoices/draft")).json()
    assert draft["seller"]["legal_name"] == "Nordwind"
    unknown = UUID(int=5)
    problem(await admin.get(f"/v1/billing/accounts/{unknown}/credits"), 404, "not_found")


async def test_a_pdf_waits_for_its_turn_and_a_document_in_json_does_not(api: Api) -> None:
    number = await issued(api)
    path, services = f"{api.base}/billing/invoices/{number}", api.services
    api.app.state.services = replace(services, drawing=Turns(1, 0.01, late=late_drawing))
    async with api.services.drawing.turn():
        assert "PDF" in problem(await api.owner.get(path, params={"format": "pdf"}), 503, "unavailable")["detail"]
        assert (await api.owner.get(path)).status_code == 200
    assert (await api.owner.get(path, params={"format": "pdf"})).status_code == 200
