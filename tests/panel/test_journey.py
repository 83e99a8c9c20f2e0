"""A customer's first cluster, in the browser: the panel as the service serves it, under its policy."""

from __future__ import annotations

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.panel.conftest import READY_MS, public_key, screenshot, signed_in, violations
from tests.support.processes import Up


def test_a_customer_creates_a_cluster_watches_it_and_deletes_it(system: Up, page: Page) -> None:
    page.goto(system.facts["panel"])
    expect(page.get_by_text("Start here")).to_be_visible()
    screenshot(page, "first-visit")

    page.goto("/ssh-keys")
    page.get_by_role("button", name="Add SSH key").first.click()
    page.get_by_role("textbox", name="Name").fill("laptop")
    page.get_by_role("textbox", name="Public key").fill(public_key())
    page.get_by_role("dialog").get_by_role("button", name="Add SSH key").click()
    expect(page.get_by_text("laptop was added.")).to_be_visible()

    page.goto("/clusters/create")
    page.get_by_text("m2000-pod16: 16 IPUs").click()
    screenshot(page, "create-size")
    assert violations(page) == []
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Choose SSH keys").click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("textbox", name="Name").fill("bert")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("clusters create bert")).to_be_visible()
    expect(page.get_by_text("€15.00")).to_be_visible()
    screenshot(page, "create-review")
    page.get_by_role("button", name="Create cluster").last.click()

    page.wait_for_url(re.compile(r"/clusters/[0-9a-f-]{36}"))
    expect(page.get_by_text("Active", exact=True).first).to_be_visible(timeout=READY_MS)
    expect(page.get_by_text(re.compile("^ssh .+@")).first).to_be_visible()
    screenshot(page, "cluster")
    assert violations(page) == []
    page.get_by_role("tab", name="Topology").click()
    machines = page.locator("[data-machine]")
    expect(machines).to_have_count(4)
    machines.first.press("Enter")
    expect(machines.first).to_have_attribute("aria-pressed", "true")
    screenshot(page, "topology")
    assert violations(page) == []

    page.goto("/events")
    page.get_by_role("heading", name="Events").first.wait_for()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Name of a cluster or page").fill("ber")
    expect(page.get_by_role("option", name="bert")).to_be_visible()
    screenshot(page, "go-to")
    assert violations(page) == []
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/clusters/[0-9a-f-]{36}"))

    page.get_by_role("button", name="Restart", exact=True).click()
    page.get_by_role("menuitem", name="Reboot", exact=True).click()
    screenshot(page, "reboot")
    assert violations(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Reboot", exact=True).click()
    expect(page.get_by_text("The servers of bert are being rebooted.")).to_be_visible()

    restart = page.get_by_role("button", name="Restart", exact=True)
    expect(restart).to_be_enabled(timeout=READY_MS)
    restart.click()
    page.get_by_role("menuitem", name="Rebuild…", exact=True).click()
    rebuild = page.get_by_role("dialog").get_by_role("button", name="Rebuild", exact=True)
    expect(rebuild).to_be_disabled()
    page.get_by_role("radio", name="Keep /home").check()
    screenshot(page, "rebuild")
    assert violations(page) == []
    rebuild.click()
    expect(page.get_by_text("The servers of bert are being rebuilt.")).to_be_visible()

    _resize(page)
    page.get_by_role("button", name="Delete").first.click()
    confirmed = page.get_by_role("dialog").get_by_role("button", name="Delete")
    expect(confirmed).to_be_disabled()
    page.get_by_role("dialog").get_by_role("textbox").fill("bert")
    confirmed.click()
    expect(page.get_by_text("bert is being deleted.")).to_be_visible()


def _resize(page: Page) -> None:
    """What a larger size costs is seen before it is asked for."""
    resize = page.get_by_role("button", name="Resize", exact=True)
    expect(resize).to_be_enabled(timeout=READY_MS)
    resize.click()
    dialog = page.get_by_role("dialog")
    confirmed = dialog.get_by_role("button", name="Resize", exact=True)
    expect(confirmed).to_be_disabled()
    dialog.get_by_text("Choose a size").click()
    page.get_by_role("option", name="m2000-pod32").click()
    expect(dialog.get_by_text("€30.00 instead of €15.00")).to_be_visible()
    expect(dialog.get_by_text("It keeps its own")).to_be_visible()
    screenshot(page, "resize")
    assert violations(page) == []
    confirmed.click()
    expect(page.get_by_text("bert is being resized.")).to_be_visible()
    expect(page.get_by_text("Resizing", exact=True).first).to_be_visible()


def test_a_link_works_once_and_a_deep_link_survives_signing_in(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/events", locale="de-DE", color_scheme="dark")
    expect(page.get_by_role("heading", name="Ereignisse").first).to_be_visible()
    assert violations(page) == []
    other = open_page(system.facts["url"])
    other.goto(system.facts["panel"])  # the first test used it, or nobody did
    other.goto(system.facts["panel"])
    other.context.clear_cookies()
    other.goto("/clusters?state=active")
    other.wait_for_url("**/sign-in**")
    other.get_by_label("API token").fill("ipu_wrong")
    other.get_by_role("button", name="Sign in").click()
    expect(other.get_by_text("Request id")).to_be_visible()
    other.get_by_label("API token").fill(system.facts["token"])
    other.get_by_role("button", name="Sign in").click()
    other.wait_for_url("**/clusters?state=active")


def test_finance_sees_what_a_month_cost_and_its_invoice(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/billing", "finance")
    expect(page.get_by_role("button", name="Month")).to_be_visible()
    page.get_by_role("button", name="Month").click()
    page.get_by_role("option").nth(1).click()
    clusters = page.get_by_role("table", name="Clusters")
    expect(clusters.get_by_role("row").filter(has_text="notebooks")).to_be_visible()
    page.get_by_role("radio", name="Added up").or_(page.get_by_role("button", name="Added up")).click()
    expect(page.get_by_role("button", name=re.compile("^Budget ")).first).to_be_visible()
    screenshot(page, "billing")
    assert violations(page) == []
    page.get_by_role("tab", name="Invoices").click()
    page.wait_for_url("**/billing/invoices")
    page.get_by_role("link", name=re.compile("^INV-")).first.click()
    page.wait_for_url("**/billing/invoices/INV-*")
    expect(page.get_by_role("heading", name=re.compile("^Invoice INV-"))).to_be_visible()
    expect(page.get_by_role("table", name="Lines").get_by_role("row").nth(1)).to_be_visible()
    screenshot(page, "invoice")
    assert violations(page) == []
    pdf = page.request.get(page.get_by_role("link", name="PDF").get_attribute("href") or "")
    assert (pdf.status, pdf.body()[:5]) == (200, b"%PDF-")
