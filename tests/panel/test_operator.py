"""An operator's look at a region in the browser: what breaks and what is drained shows in its racks."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.panel.conftest import flaws, inspect, operator_page, screenshot, violations
from tests.support.processes import Up

FOUND_MS = 180_000
"""How long the observation of a simulated region may take to find a fault on a busy machine."""


def administrator(system: Up) -> dict[str, str]:
    return {**system.environment, "IPUCLOUD_TOKEN": system.facts["admin_token"]}


def other_firmware_is_expected(system: Up, machine: str) -> None:
    """All else is expected as the region's site shows it. Other firmware takes no machine away from new clusters."""
    shown = ("admin", "machines", "show", machine)
    region = system.ipucloud.json(*shown, **administrator(system))["region"]
    accept = ("admin", "inventory", "accept", region, "--everything", "--reason", "as it was delivered")
    system.ipucloud.json(*accept, **administrator(system))
    expected = system.ipucloud.json("admin", "inventory", "show", region, **administrator(system))
    for row in expected:
        if row["name"] == machine:
            row["firmware"] = "9.9.9"
    file = system.data / "inventory.json"
    file.write_text(json.dumps(expected))
    system.ipucloud.json("admin", "inventory", "import", region, str(file), **administrator(system))


def order(page: Page, machine: str, action: str, reason: str) -> None:
    """Finds a machine by its POD in the list of machines, and orders an action for it."""
    page.goto("/operator/machines")
    search = page.get_by_role("combobox", name="Filter machines")
    search.fill(f"POD = {machine.rsplit('-', 1)[0]}")
    search.press("Enter")
    page.get_by_role("checkbox", name=f"Select {machine}").check()
    assert violations(page) == []
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name=action).click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("button", name=action)).to_be_disabled()
    dialog.get_by_label("Reason").fill(reason)
    screenshot(page, "operator-order")
    dialog.get_by_role("button", name=action).click()
    expect(page.get_by_role("row").filter(has=page.get_by_role("link", name=machine))).to_contain_text("drain")


def test_what_breaks_is_seen_in_the_racks_and_what_is_drained_leaves_the_room(
    system: Up, open_page: Callable[..., Page]
) -> None:
    page = operator_page(system, open_page, "/operator/capacity")
    machines = page.locator("[data-machine]")
    expect(machines.first).to_be_visible()
    broken, drained = (str(machines.nth(index).get_attribute("data-machine")) for index in (0, 2))
    assert machines.nth(0).get_attribute("tabindex") == "0"  # the only stop for Tab
    assert page.locator("[data-machine][tabindex='0']").count() == 1

    machines.nth(0).press("ArrowUp")
    expect(machines.nth(1)).to_be_focused()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    expect(machines.nth(2)).to_have_attribute("aria-pressed", "true")
    expect(page.get_by_text("In service", exact=True)).to_be_visible()
    assert violations(page) == []

    machines.nth(0).press("Enter")
    page.get_by_role("button", name=f"Trouble: {broken}").click()
    page.get_by_role("menuitem", name="Let it fail").click()
    expect(page.get_by_text(f"The site is asked to break {broken}.")).to_be_visible()
    page.get_by_role("tab", name="Trouble").click()
    trouble = page.get_by_role("table", name="Trouble").get_by_role("row").filter(has_text=broken)
    expect(trouble).to_contain_text("Broken")
    page.get_by_role("button", name="Break something").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="V-IPU controllers answer late").check()
    inspect(page, "trouble-break")
    dialog.get_by_role("button", name="Break something").click()
    slow = page.get_by_role("row").filter(has_text="All controllers")
    expect(slow).to_contain_text("Broken")
    slow.get_by_role("button", name="Repair: All controllers").click()
    expect(slow).to_have_count(0)
    inspect(page, "trouble-tab")
    order(page, drained, "Drain", reason="fan")
    page.goto("/operator/capacity")
    expect(page.get_by_role("button", name=re.compile(f"^{broken}, .*Failed$"))).to_be_visible(timeout=FOUND_MS)
    screenshot(page, "operator-health")
    page.get_by_role("button", name="Maintenance", exact=True).click()
    expect(page.get_by_role("button", name=re.compile(f"^{drained}, .*In maintenance$"))).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text=re.compile("^.?In maintenance: 1$"))).to_be_visible()
    page.get_by_role("button", name="Use", exact=True).click()
    inspect(page, "operator-use")
    page.get_by_role("button", name="Fragmentation", exact=True).click()
    expect(page.get_by_role("button", name=re.compile(f"^{broken}, .*Not available$"))).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("Free alone$")).first).to_be_visible()
    inspect(page, "operator-fragmentation")

    page.get_by_role("tab", name="Machines").click()
    expect(page.get_by_role("row").filter(has_text=drained)).to_contain_text("drain")
    page.get_by_role("tab", name="PODs").click()
    expect(page.get_by_role("table", name="PODs").get_by_role("row").nth(1)).to_contain_text("Failed: 1")
    inspect(page, "operator-pods")

    page.goto(f"/operator/machines/{drained}")
    expect(page.get_by_role("table", name="Health reports").get_by_role("row").nth(1)).to_contain_text("fan")
    inspect(page, "operator-machine")
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Return to service").click()
    page.get_by_role("dialog").get_by_role("button", name="Return to service").click()
    expect(page.get_by_text("In service", exact=True)).to_be_visible()

    page.goto("/operator/events")
    search = page.get_by_role("combobox", name="Filter events")
    search.fill("Event = Hardware drained")
    search.press("Enter")
    expect(page.get_by_role("row").filter(has_text="Hardware drained").first).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="Hardware returned to service")).to_have_count(0)
    inspect(page, "operator-events")

    page.goto("/operator/stuck")
    expect(page.get_by_text("Nothing is stuck", exact=True)).to_be_visible()
    assert violations(page) == []

    page.goto("/operator/differences")
    expect(page.get_by_text("No differences", exact=True)).to_have_count(2)
    other_firmware_is_expected(system, broken)
    page.goto("/operator/differences")
    differs = page.get_by_role("table", name="Hardware").get_by_role("row").filter(has_text=broken)
    expect(differs).to_contain_text("Another firmware")
    expect(differs).to_contain_text("9.9.9")
    inspect(page, "operator-differences")

    page.goto("/operator/audit-log")
    expect(page.get_by_role("row").filter(has_text="drainHardware").first).to_contain_text("200")
    inspect(page, "operator-audit-log")

    german = operator_page(system, open_page, "/operator/capacity", locale="de-DE", color_scheme="dark")
    expect(german.get_by_role("button", name=re.compile(f"^{broken}, .*Ausgefallen$"))).to_be_visible()
    german.set_viewport_size({"width": 400, "height": 900})
    host = system.ipucloud.json("admin", "hosts", "list", **administrator(system))[0]["name"]
    pages = [
        "machines",
        f"machines/{broken}",
        "quota-requests",
        "fault-reports",
        "events",
        "audit-log",
        "stuck",
        "differences",
    ]
    pages += ["hosts", f"hosts/{host}", "projects", "projects/demo", "prices"]
    assert flaws(german, [f"/operator/{each}" for each in (*pages, "capacity")]) == {}
    german.evaluate("document.body.classList.toggle('awsui-dark-mode')")
    expect(german.get_by_role("button", name=re.compile(f"^{broken}, .*Ausgefallen$"))).to_be_visible()
    screenshot(german, "operator-capacity-de")


def test_hosts_quotas_and_payers_are_kept_here(system: Up, open_page: Callable[..., Page]) -> None:
    page = operator_page(system, open_page, "/operator/hosts")
    dialog = page.get_by_role("dialog")
    host = system.ipucloud.json("admin", "hosts", "list", **administrator(system))[1]["name"]
    page.get_by_role("checkbox", name=f"Select {host}").check()
    page.get_by_role("button", name="Actions").click()
    expect(page.get_by_role("menuitem", name="Validate")).to_have_count(0)  # only machines are
    page.get_by_role("menuitem", name="Drain").click()
    dialog.get_by_label("Reason").fill("memory")
    expect(dialog.get_by_text("No new Poplar server is placed on the hosts.", exact=False)).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Drain").click()
    row = page.get_by_role("row").filter(has=page.get_by_role("link", name=host, exact=True))
    expect(row).to_contain_text("In maintenance")
    inspect(page, "operator-hosts")
    row.get_by_role("link").first.click()
    expect(page.get_by_role("table", name="Health reports").get_by_role("row").nth(1)).to_contain_text("memory")
    inspect(page, "operator-host")
    page.get_by_role("button", name="Actions").click()
    page.get_by_role("menuitem", name="Return to service").click()
    dialog.get_by_role("button", name="Return to service").click()
    expect(page.get_by_text("In service", exact=True)).to_be_visible()

    page.goto("/operator/projects")
    page.get_by_role("searchbox").fill("nothing")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    page.get_by_role("searchbox").fill("demo")
    inspect(page, "operator-projects")
    page.get_by_role("table", name="Projects").get_by_role("link").first.click()
    quotas = page.get_by_role("table", name="Quotas")
    addresses = quotas.get_by_role("row").filter(has_text="Addresses")
    expect(addresses.first).to_be_visible()
    page.get_by_role("button", name=re.compile("^Type")).click()
    page.get_by_role("option", name="m2000", exact=True).click()
    expect(addresses).to_have_count(0)
    expect(page).to_have_url(re.compile(r"/operator/projects/demo\?machine_type=m2000$"))
    page.get_by_role("button", name=re.compile("^Set a limit: m2000, luxembourg-2")).click()
    dialog.get_by_label("New limit").fill("7777")
    inspect(page, "operator-limit")
    dialog.get_by_role("button", name="Set a limit").click()
    expect(page.get_by_role("row").filter(has_text="7,777")).to_be_visible()
    page.get_by_role("button", name=re.compile("^Type")).click()
    page.get_by_role("option", name="All", exact=True).click()
    expect(addresses.first).to_be_visible()
    system.ipucloud.json("accounts", "create", "Institute", "--currency", "EUR", **administrator(system))
    page.get_by_role("button", name="Change billing account").click()
    dialog.get_by_role("button", name=re.compile("^Billing account")).click()
    page.get_by_role("option", name=re.compile("^Institute")).click()
    assert violations(page) == []
    dialog.get_by_role("button", name="Change billing account").click()
    expect(page.get_by_text("Institute pays from the next full hour on.")).to_be_visible()
    inspect(page, "operator-project")


def test_prices_are_added_and_withdrawn(system: Up, open_page: Callable[..., Page]) -> None:
    page = operator_page(system, open_page, "/operator/prices")
    dialog = page.get_by_role("dialog")
    table = page.get_by_role("table", name="Prices")
    expect(table.get_by_role("row").filter(has_text="In force").first).to_be_visible()
    page.get_by_role("button", name="Add price").click()
    dialog.get_by_role("button", name=re.compile("^SKU")).click()
    page.get_by_role("option", name="ipu-m2000", exact=True).click()
    dialog.get_by_role("button", name=re.compile("^Region")).click()
    page.get_by_role("option", name="Luxembourg-2").click()
    dialog.get_by_label("Price per minute, in EUR").fill("0.0777")
    dialog.get_by_placeholder("YYYY/MM/DD").first.fill("2030/01/31")
    dialog.get_by_placeholder("hh:mm").first.fill("08:00")
    dialog.get_by_label("Source").fill("price list of January")
    inspect(page, "operator-price-add")
    dialog.get_by_role("button", name="Add price").click()
    added = table.get_by_role("row").filter(has_text="price list of January")
    expect(added).to_contain_text("€0.0777")
    expect(added).to_contain_text("Future")
    page.get_by_role("button", name=re.compile("^Validity")).click()
    page.get_by_role("option", name="Future").click()
    expect(table.get_by_role("row").filter(has_text="In force")).to_have_count(0)
    table.get_by_role("button", name=re.compile("^From")).press("Enter")  # the heading that sticks lies above it
    expect(page).to_have_url(re.compile(r"/operator/prices\?state=future&order=valid_from$"))
    page.reload()
    expect(added).to_be_visible()
    expect(table.get_by_role("row").filter(has_text="In force")).to_have_count(0)
    inspect(page, "operator-prices")
    added.get_by_role("button", name=re.compile("^Withdraw")).click()
    dialog.get_by_role("button", name="Withdraw").click()
    expect(added).to_have_count(0)


def test_a_customer_does_not_see_the_operators_pages(page: Page, system: Up) -> None:
    page.goto(system.facts["panel"])
    expect(page.get_by_role("link", name="SSH keys")).to_be_visible()
    expect(page.get_by_role("link", name="Capacity")).to_have_count(0)
    page.goto("/operator/capacity")
    expect(page.get_by_text("Your token does not have this permission.")).to_be_visible()


def test_a_project_asks_for_more_machines_and_an_operator_grants_some(
    system: Up, open_page: Callable[..., Page]
) -> None:
    page = open_page(system.facts["url"])
    link = system.ipucloud.json("panel", "--no-browser", **system.environment)
    page.goto(link["url"].replace("/sign-in", "/sign-in?next=/quotas"))
    page.get_by_role("button", name="Ask for a higher limit").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Machine type, volumes or addresses").click()
    page.get_by_role("option", name="m2000, luxembourg-2", exact=True).click()
    dialog.get_by_label("New limit").fill("1")
    dialog.get_by_label("Reason").fill("a POD512 in May")
    dialog.get_by_role("button", name="Send request").click()
    expect(dialog.get_by_text(re.compile("^The project's limit is"))).to_be_visible()
    dialog.get_by_label("New limit").fill("9000")
    inspect(page, "quota-ask")
    dialog.get_by_role("button", name="Send request").click()
    request = page.get_by_role("row").filter(has_text="a POD512 in May")
    expect(request).to_contain_text("Open")

    operator = operator_page(system, open_page, "/operator/quota-requests")
    operator.get_by_role("button", name=re.compile("^Grant: ")).click()
    operator.get_by_role("dialog").get_by_label("New limit").fill("8000")
    operator.get_by_role("dialog").get_by_label("Answer").fill("8000 for now")
    inspect(operator, "operator-quota")
    operator.get_by_role("dialog").get_by_role("button", name="Grant").click()
    expect(operator.get_by_text("Nothing to decide")).to_be_visible()
    expect(request).to_contain_text("8000 for now")
    expect(page.get_by_role("row").filter(has_text=re.compile("^luxembourg-2 *m2000"))).to_contain_text("8,000")
    inspect(page, "quotas")
