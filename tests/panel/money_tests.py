"""What finance and whoever pays see of the money.

`test_journey` has these tests among its own, so that they share its `ipucloud up` with the sample of a past month.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from typing import Any

from playwright.sync_api import Page, expect

from tests.panel.conftest import arrived, inspect, screenshot, signed_in, violations
from tests.support.processes import Up


def test_finance_sees_what_a_month_cost_and_its_invoice(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/billing", "finance")
    expect(page.get_by_role("button", name="Month")).to_be_visible()
    page.get_by_role("button", name="Month").click()
    newest = date.fromisoformat(f"{system.facts['sample']['months'][-1]}-01")
    page.get_by_role("option", name=f"{newest:%B %Y}", exact=True).click()
    clusters = page.get_by_role("table", name="Clusters")
    expect(clusters.get_by_role("row").filter(has_text="notebooks")).to_be_visible()
    page.get_by_role("radio", name="Added up").or_(page.get_by_role("button", name="Added up")).click()
    expect(page.get_by_role("button", name=re.compile("^Budget ")).first).to_be_visible()
    screenshot(page, "billing")
    page.get_by_role("radio", name="Lines").or_(page.get_by_role("button", name="Lines")).click()
    expect(page.get_by_role("button", name=re.compile("^Budget "))).to_have_count(0)
    expect(page.get_by_role("button", name="notebooks").first).to_be_visible()
    inspect(page, "billing-lines")
    page.get_by_role("tab", name="Invoices").click()
    page.wait_for_url("**/billing/invoices")
    page.get_by_role("link", name=re.compile("^INV-")).first.click()
    page.wait_for_url("**/billing/invoices/INV-*")
    expect(page.get_by_role("heading", name=re.compile("^Invoice INV-"))).to_be_visible()
    expect(page.get_by_role("table", name="Lines").get_by_role("row").nth(1)).to_be_visible()
    inspect(page, "invoice")
    pdf = page.request.get(page.get_by_role("link", name="PDF").get_attribute("href") or "")
    assert (pdf.status, pdf.body()[:5]) == (200, b"%PDF-")
    page.get_by_role("button", name="Electronic invoice").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name=re.compile("^UBL")).click()
    assert b":Invoice-2" in download.value.path().read_bytes()
    page.get_by_role("button", name="Electronic invoice").click()
    page.get_by_role("menuitem", name=re.compile("^Peppol")).click()
    expect(page.get_by_text("was issued without seller.e_invoice.electronic_address")).to_be_visible()
    _what_was_wrong_is_credited(system, page)


def _what_was_wrong_is_credited(system: Up, page: Page) -> None:
    number = page.url.rpartition("/")[2]
    page.goto("/billing/invoices")
    admin = {**system.environment, "IPUCLOUD_TOKEN": system.facts["admin_token"]}
    credit = ("credit-notes", "create", number, "--net", "0.50", "--reason", "a rack lost power")
    note = system.ipucloud.json(*credit, **admin)["number"]
    page.get_by_role("link", name=note, exact=True).click()  # it is live
    expect(page.get_by_role("heading", name=f"Credit note {note}")).to_be_visible()
    expect(page.get_by_text(f"It corrects {number}: a rack lost power")).to_be_visible()
    inspect(page, "credit-note")
    pdf = page.request.get(page.get_by_role("link", name="PDF").get_attribute("href") or "")
    assert (pdf.status, pdf.body()[:5]) == (200, b"%PDF-")


def test_finance_keeps_a_budget_tops_the_wallet_up_and_exports_a_month(
    system: Up, open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, "/billing/budgets", "finance")
    page.get_by_role("button", name="Create budget").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Vision")
    dialog.get_by_label("Amount per month (EUR)").fill("900")
    dialog.get_by_role("radio", name="Clusters with a tag").check()
    dialog.get_by_role("textbox", name="Tag").fill("team")
    dialog.get_by_label("Value").fill("vision")
    inspect(page, "budget-create")
    dialog.get_by_role("button", name="Create").click()
    budget = page.get_by_role("row").filter(has_text="Vision")
    expect(budget).to_contain_text("Clusters with team=vision")
    expect(budget).to_contain_text("€900.00")
    budget.get_by_role("button", name="Edit: Vision").click()
    dialog.get_by_label("Amount per month (EUR)").fill("950.50")
    dialog.get_by_role("button", name="Save").click()
    expect(budget).to_contain_text("€950.50")
    inspect(page, "budgets")
    budget.get_by_role("button", name="Delete: Vision").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(budget).to_have_count(0)

    page.get_by_role("tab", name="Funds").click()
    expect(page.get_by_role("row").filter(has_text="Welcome credit")).to_be_visible()
    inspect(page, "funds")
    page.get_by_role("button", name="Top up").click()
    dialog.get_by_label("Amount (EUR)").fill("250")
    dialog.get_by_label("Amount (EUR)").press("Enter")
    expect(dialog.get_by_text(re.compile("^TOP-"))).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Close").last.click()

    page.get_by_role("tab", name="Exports").click()
    table = page.get_by_role("table", name="Exports")
    files = table.get_by_role("link", name="Download")
    expect(files.first).to_be_visible()
    before = files.count()
    page.get_by_role("button", name="Export costs").click()
    inspect(page, "export-create")
    dialog.get_by_role("button", name="Make file").click()
    expect(files).to_have_count(before + 1)
    file = page.request.get(files.first.get_attribute("href") or "")
    assert (file.status, b"BilledCost" in file.body().splitlines()[0]) == (200, True)
    _connects(page, "lake", offer=True)
    lake = page.get_by_role("table", name="S3 connections").get_by_role("row").filter(has_text="lake")
    expect(lake).to_contain_text("Not tested")
    page.get_by_role("button", name="Actions: lake").click()
    page.get_by_role("menuitem", name="Test").click()
    expect(lake).not_to_contain_text("Not tested")
    page.get_by_role("button", name="Create schedule").click()
    dialog.get_by_role("button", name="Deliver to").click()
    page.get_by_role("option", name="lake").click()
    assert violations(page) == []
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("table", name="Schedules").get_by_role("row").nth(1)).to_contain_text("lake")
    inspect(page, "exports")


def _connects(page: Page, name: str, *, offer: bool = False) -> None:
    """Makes an S3 connection."""
    page.get_by_role("button", name="Create S3 connection").click()
    dialog = page.get_by_role("dialog")
    values = {
        "Name": name,
        "Address of the service": "https://s3.example.com",
        "Bucket": "costs",
        "Access key id": "key",
        "Secret access key": "secret",
    }
    for label, value in values.items():
        dialog.get_by_label(label, exact=True).fill(value)
    offered = dialog.get_by_role("checkbox", name="Offer to clusters")
    if offer:
        offered.check()
    else:
        expect(offered).to_have_count(0)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_have_count(0)


def test_a_payer_without_a_project_sees_the_money_of_its_account(system: Up, open_page: Callable[..., Page]) -> None:
    admin = {**system.environment, "IPUCLOUD_TOKEN": system.facts["admin_token"]}
    payer = system.ipucloud.json("tokens", "create", "accounting", "--account", "sample", **admin)
    phone: dict[str, Any] = {"locale": "de-DE", "color_scheme": "dark", "viewport": {"width": 400, "height": 900}}
    for options in ({}, phone):
        german = bool(options)
        page = arrived(system, open_page, "/billing", payer["token"], **options)
        expect(page.get_by_text("Konto sample" if german else "Account sample")).to_be_visible()
        for tab, shows in (
            ("budgets", "Keine Budgets" if german else "No budgets"),
            ("invoices", "INV-2026-000001"),
            ("funds", "SEPA transfer 4711"),
            ("exports", "Keine Exporte" if german else "No exports"),
            ("events", "Rechnung ausgestellt" if german else "Invoice issued"),
        ):
            page.goto(f"/billing/{tab}")
            expect(page.get_by_text(shows).first).to_be_visible()
            screenshot(page, f"payer-{tab}{'-de' if german else ''}")
            assert german or violations(page) == []
        page.goto("/billing/invoices/INV-2026-000001")
        expect(page.get_by_role("heading", name="INV-2026-000001")).to_be_visible()
        pdf = page.request.get(page.get_by_role("link", name="PDF").get_attribute("href") or "")
        assert (pdf.status, pdf.body()[:5]) == (200, b"%PDF-")
    _exports_what_it_pays(arrived(system, open_page, "/billing/exports", payer["token"]))


def _exports_what_it_pays(page: Page) -> None:
    dialog = page.get_by_role("dialog")
    expect(page.get_by_text("0 of 10 were requested in the last 24 hours.")).to_be_visible()
    page.get_by_role("button", name="Export costs").click()
    dialog.get_by_role("button", name="Make file").click()
    download = page.get_by_role("table", name="Exports").get_by_role("link", name="Download")
    expect(download).to_have_count(1)
    expect(page.get_by_text("1 of 10 were requested in the last 24 hours.")).to_be_visible()
    file = page.request.get(download.get_attribute("href") or "")
    assert (file.status, b"BilledCost" in file.body().splitlines()[0]) == (200, True)
    _connects(page, "vault")
    page.get_by_role("button", name="Create schedule").click()
    dialog.get_by_role("button", name="Deliver to").click()
    page.get_by_role("option", name="vault").click()
    dialog.get_by_role("button", name="Create").click()
    schedules = page.get_by_role("table", name="Schedules").get_by_role("row")
    expect(schedules.nth(1)).to_contain_text("vault")
    inspect(page, "payer-exports")
    schedules.nth(1).get_by_role("button").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No schedules")).to_be_visible()
