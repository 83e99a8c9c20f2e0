"""The page of addresses. `test_cluster` has these tests among its own, so that they share their `ipucloud up`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.panel.conftest import READY_MS, ask, choose, fits, inspect, signed_in, violations
from tests.support.processes import Up


def test_an_address_is_reserved_attached_and_deleted(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, "/addresses")
    expect(page.get_by_text("No addresses yet")).to_be_visible()
    inspect(page, "addresses-none")
    row = page.get_by_role("table", name="Addresses").get_by_role("row").filter(has_text="frontdoor")
    page.get_by_role("button", name="Reserve address").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Not a name!")
    choose(page, dialog, "Region", "Luxembourg-2")
    expect(dialog.get_by_text(re.compile("for 30 days at the present price"))).to_be_visible()
    dialog.get_by_role("button", name="Reserve address").click()
    expect(dialog.get_by_text("Request id:")).to_be_visible()  # refused, with what is wrong
    dialog.get_by_label("Name").fill("frontdoor")
    inspect(page, "address-create")
    dialog.get_by_role("button", name="Reserve address").click()
    expect(row).to_contain_text("Available", timeout=READY_MS)  # it is live
    shown = system.ipucloud.json("addresses", "show", "frontdoor", **system.environment)
    expect(row).to_contain_text(shown["ip"])
    expect(row).to_contain_text(str(shown["port"]))
    page.get_by_role("button", name="Actions for frontdoor").click()
    expect(page.get_by_role("menuitem", name="Detach")).to_have_attribute("aria-disabled", "true")
    page.keyboard.press("Escape")

    ask(page, "Attach", "frontdoor")
    expect(dialog.get_by_role("button", name="Attach", exact=True)).to_be_disabled()
    choose(page, dialog, "Cluster", "bert")
    inspect(page, "address-attach")
    dialog.get_by_role("button", name="Attach", exact=True).click()
    expect(row).to_contain_text("Attached", timeout=READY_MS)
    command = system.ipucloud.json("addresses", "show", "frontdoor", **system.environment)["command"]
    expect(row).to_contain_text(command)
    expect(row.get_by_role("link", name="bert")).to_have_attribute("href", f"/p/demo/clusters/{cluster['id']}")
    inspect(page, "addresses")

    overview = signed_in(system, open_page, f"/clusters/{cluster['id']}")
    its = overview.locator("dt:has-text('Addresses') + dd")
    expect(its).to_contain_text(command)
    expect(its.get_by_role("link", name="frontdoor")).to_have_attribute("href", "/p/demo/addresses")
    assert violations(overview) == []
    german = signed_in(system, open_page, "/addresses", locale="de-DE", color_scheme="dark")
    expect(german.get_by_role("row").filter(has_text="frontdoor")).to_contain_text("Angehängt")
    german.set_viewport_size({"width": 400, "height": 900})
    fits(german)
    assert violations(german) == []

    page.get_by_role("button", name="Actions for frontdoor").click()
    expect(page.get_by_role("menuitem", name="Delete")).to_have_attribute("aria-disabled", "true")  # detach it first
    page.keyboard.press("Escape")
    ask(page, "Detach", "frontdoor")
    expect(dialog.get_by_text("Logins through it end.", exact=False)).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Detach", exact=True).click()
    expect(row).to_contain_text("Available", timeout=READY_MS)
    expect(row).to_contain_text(shown["ip"])  # it is the same further on
    expect(its).to_have_count(0)  # it is live

    ask(page, "Delete", "frontdoor")
    expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    dialog.get_by_label("Enter frontdoor to confirm").fill("frontdoor")
    inspect(page, "address-delete")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(german.get_by_role("row").filter(has_text="frontdoor")).to_have_count(0, timeout=READY_MS)  # it is live
    page.get_by_role("button", name=re.compile("^Shown")).click()
    page.get_by_role("option", name="Deleted").click()
    expect(row).to_contain_text("Deleted")
