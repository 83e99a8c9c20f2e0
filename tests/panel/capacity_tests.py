"""Pages about capacity and servers: the catalogue, reservations, consoles.

`test_cluster` has these tests among its own, in the order of their names: so they share its `ipucloud up`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, expect

from tests.panel.conftest import READY_MS, fits, inspect, operator_page, screenshot, signed_in
from tests.panel.markup_injection import fields_shown
from tests.support.processes import Up
from tests.support.waiting import eventually

FLAVOR, REGION, SKU = "m2000-pod16", "luxembourg-2", "ipu-m2000-reserved"
NEAR, FAR = ("--starts-at", "1m", "--ends-at", "2h"), ("--starts-at", "3d", "--ends-at", "4d")
FIELDS = 18
"""How many fields of the API's answers are to be seen on these pages, at least."""


def german(system: Up, open_page: Callable[..., Page], address: str, heading: str, picture: str) -> Page:
    """The page as somebody has it who prefers German, darkness and their phone."""
    page = signed_in(system, open_page, address, locale="de-DE", color_scheme="dark")
    expect(page.get_by_role("heading", name=heading).first).to_be_visible()
    page.get_by_text("Wird geladen", exact=True).first.wait_for(state="detached")
    screenshot(page, f"{picture}-de")
    page.set_viewport_size({"width": 400, "height": 900})
    fits(page)
    inspect(page, f"{picture}-phone")
    return page


def offer(system: Up) -> None:
    """Have the operator offer reservations: prices begin in the future, so it takes seconds until they are in force."""
    if in_force(system):
        return
    begins = (datetime.now(UTC) + timedelta(seconds=10)).isoformat(timespec="seconds")
    price = (SKU, REGION, "0.05", "--currency", "EUR", "--source", "reserved capacity")
    system.ipucloud.json("prices", "create", *price, "--from", begins, **administrator(system))
    eventually(lambda: in_force(system))


def administrator(system: Up) -> dict[str, str]:
    return {**system.environment, "IPUCLOUD_TOKEN": system.facts["admin_token"]}


def in_force(system: Up) -> bool:
    prices = system.ipucloud.json("prices", "list", **administrator(system))
    now = datetime.now(UTC)
    return any(each["sku"] == SKU and datetime.fromisoformat(each["valid_from"]) <= now for each in prices)


def reserve(system: Up, name: str, *when: str) -> str:
    """Id of a reservation of one cluster."""
    command = ("reservations", "create", name, "--region", REGION, "--flavor", FLAVOR, *when)
    reservation_id: str = system.ipucloud.json(*command, **system.environment)["id"]
    return reservation_id


def test_a_flavor_has_facts_price_and_stock_and_opens_the_wizard(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/reservations")
    _nothing_is_offered(page)
    offer(system)
    page.goto("/events")
    page.get_by_role("heading", name="Events").first.wait_for()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Name of a cluster or page").fill("catal")
    page.get_by_role("option", name="Catalogue").wait_for()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url("**/catalogue")
    table = page.get_by_role("table", name="Flavors")
    pod16 = table.get_by_role("row").filter(has_text="m2000-pod16")
    expect(pod16).to_contain_text("€15.00")
    expect(pod16).to_contain_text("Room for")
    inspect(page, "catalogue")
    table.get_by_role("button", name="IPUs").click()
    expect(table.get_by_role("row").nth(1)).to_contain_text("m2000-pod1024")
    page.get_by_role("button", name=re.compile("^Region")).click()
    page.get_by_role("option", name="Amsterdam-2").click()
    expect(table.get_by_role("row").nth(1)).to_contain_text("bow-pod1024")
    page.get_by_role("tab", name="Machine types").click()
    expect(page.get_by_text("2 GW-Links (QSFP28), 100 Gb/s each").first).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("M2000")).first).to_have_attribute("href", re.compile("^https://"))
    inspect(page, "catalogue-machines")
    german(system, open_page, "/catalogue", "Katalog", "catalogue")
    _software_is_listed(page)

    page.goto(f"/catalogue?region={REGION}")
    table.get_by_role("link", name="m2000-pod16").click()
    expect(page.get_by_text("€0.2500")).to_be_visible()
    expect(page.get_by_text("ResNet-50 in MLPerf Training").first).to_be_visible()
    inspect(page, "flavor")
    german(system, open_page, "/catalogue/m2000-pod16", "m2000-pod16", "flavor")
    page.get_by_role("button", name="Create cluster").click()
    expect(page.get_by_role("radio", name="Select m2000-pod16")).to_be_checked()
    page.goto("/catalogue/m2000-pod17")
    expect(page.get_by_text("There is nothing at this address.")).to_be_visible()


def _software_is_listed(page: Page) -> None:
    page.get_by_role("tab", name="Images").click()
    image = page.get_by_role("table", name="Images").get_by_role("row").filter(has_text="ubuntu-20.04")
    expect(image).to_contain_text("Ubuntu 20.04")
    expect(image).to_contain_text("Amsterdam-2")
    page.get_by_role("tab", name="Tools").click()
    tools = page.get_by_role("table", name="Tools").get_by_role("row")
    expect(tools.filter(has_text="PyTorch")).to_contain_text("Framework")
    page.get_by_role("button", name=re.compile("^Kind")).click()
    page.get_by_role("option", name="Visualisation").click()
    expect(tools.filter(has_text="TensorBoard")).to_be_visible()
    expect(tools.filter(has_text="PyTorch")).to_have_count(0)
    page.get_by_role("tab", name="Models").click()
    vit = page.get_by_role("table", name="Models").get_by_role("row").filter(has_text="ViT")
    expect(vit).to_contain_text("ipucloud recipes run vit --then delete")
    inspect(page, "catalogue-models")


def _nothing_is_offered(page: Page) -> None:
    expect(page.get_by_text("Reservations are not offered")).to_be_visible()
    inspect(page, "reservations-not-offered")


def test_capacity_is_reserved_cancelled_and_used(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    assert cluster["name"] == "bert"  # with an SSH key that other clusters may have
    offer(system)
    page = signed_in(system, open_page, "/reservations")
    page.get_by_role("button", name="Reserve capacity").click()
    dialog = page.get_by_role("dialog")
    submit = dialog.get_by_role("button", name="Reserve capacity")
    dialog.get_by_label("Name").fill("may")
    dialog.get_by_role("button", name="Flavor").click()
    page.get_by_role("option", name=f"{FLAVOR} ").click()
    dialog.get_by_label("Clusters").fill("64")
    expect(dialog.get_by_text("Your quota does not suffice")).to_be_visible()
    expect(submit).to_be_disabled()
    inspect(page, "reserve-too-much")
    dialog.get_by_role("button", name=re.compile("^Reserve [0-9]+ instead")).click()
    expect(submit).to_be_enabled()
    dialog.get_by_label("Clusters").fill("1")
    expect(dialog.get_by_text(re.compile("€288.00 at present prices"))).to_be_visible()
    expect(dialog.get_by_text(re.compile("^It can be cancelled free of charge until"))).to_be_visible()
    inspect(page, "reserve")
    dialog.get_by_placeholder("YYYY/MM/DD").nth(1).fill("2020/01/01")
    expect(dialog.get_by_text(re.compile("[Ee]nd"))).not_to_have_count(0)
    expect(submit).to_be_disabled()
    dialog.get_by_role("button", name="Cancel").click()
    german(system, open_page, f"/reservations?reserve={FLAVOR}", "Kapazität reservieren", "reserve")

    later = reserve(system, "may", *FAR)
    active = reserve(system, "june", *NEAR)
    table = page.get_by_role("table", name="Reservations")
    expect(table.get_by_role("row").filter(has_text="may")).to_contain_text("Scheduled")  # it is live
    page.goto(f"/reservations/{active}")
    never = page.get_by_role("definition").filter(has_text="Not possible: it was made less than 24 hours")
    expect(never).to_be_visible()

    page.goto(f"/reservations/{later}")
    expect(page.get_by_text(re.compile("^Free of charge until"))).to_be_visible()
    screenshot(page, "reservation-scheduled")
    page.get_by_role("button", name="Cancel reservation").click()
    expect(dialog.get_by_text("Nothing is billed.")).to_be_visible()
    inspect(page, "reservation-cancel")
    dialog.get_by_role("button", name="Cancel reservation").click()
    expect(page.get_by_text("may was cancelled.")).to_be_visible()
    expect(page.get_by_text("It was cancelled. Nothing is billed.")).to_be_visible()
    _use(system, page, open_page, active)


def _use(system: Up, page: Page, open_page: Callable[..., Page], reservation: str) -> None:
    """A cluster is created from a reservation once that has begun."""
    page.goto("/reservations")
    row = page.get_by_role("row").filter(has_text="june")
    expect(row).to_contain_text("Active", timeout=READY_MS)  # it is live
    inspect(page, "reservations")
    german(system, open_page, "/reservations", "Reservierungen", "reservations")
    row.get_by_role("link", name="june").click()
    page.get_by_role("button", name="Create cluster from it").click()
    expect(page.get_by_role("button", name=re.compile("^Reservation june"))).to_be_visible()
    inspect(page, "create-reserved")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Choose SSH keys").click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("textbox", name="Name").fill("reserved")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("The cluster is created from reservation june")).to_be_visible()
    expect(page.get_by_text(f"--reservation {reservation}")).to_be_visible()
    inspect(page, "create-reserved-review")
    page.get_by_role("button", name="Create cluster").last.click()
    page.wait_for_url(re.compile(r"/clusters/[0-9a-f-]{36}"))
    page.goto(f"/reservations/{reservation}")
    expect(page.get_by_role("link", name="reserved")).to_be_visible()
    expect(page.get_by_text("0 of 1")).to_be_visible()
    expect(page.get_by_role("button", name="Create cluster from it")).to_be_disabled()
    inspect(page, "reservation")
    german(system, open_page, f"/reservations/{reservation}", "june", "reservation")


def test_consoles_are_followed_and_kept_as_files(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page], tmp_path: Path
) -> None:
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}")
    page.get_by_role("link", name="Show console").click()
    text = page.get_by_role("region", name=re.compile("^Console of bert, server 1, boot 1$"))
    expect(text).to_contain_text("login:", timeout=READY_MS)
    expect(text.locator("pre")).to_have_css("font-family", "monospace")
    expect(page.get_by_text("Read at the site", exact=True)).to_be_visible()
    inspect(page, "console")
    with page.expect_download() as kept:
        page.get_by_role("button", name="Download").click()
    file = tmp_path / kept.value.suggested_filename
    kept.value.save_as(file)
    assert "Linux version" in file.read_text()
    german(system, open_page, f"/clusters/{cluster['id']}?tab=console", "bert", "console")

    system.ipucloud.json("clusters", "reboot", "bert", "--yes", **system.environment)
    second = page.get_by_role("region", name=re.compile("^Console of bert, server 1, boot 2$"))
    expect(second).to_contain_text("login:", timeout=READY_MS)  # it moved on to the new boot, and follows it
    page.get_by_role("button", name=re.compile("^Boot 2")).click()
    page.get_by_role("option", name=re.compile("^1, from")).click()
    expect(text).to_contain_text("reboot: ")
    assert "boot=1" in page.url


def test_no_text_about_capacity_becomes_markup(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    active = system.ipucloud.json("reservations", "list", **system.environment)[0]["id"]
    page = operator_page(system, open_page, "/clusters")
    paths = ["/catalogue", *(f"/catalogue?tab={tab}" for tab in ("machines", "models"))]
    paths += ["/reservations", f"/reservations/{active}", "/clusters/create"]
    shown = fields_shown(page, [*paths, f"/clusters/{cluster['id']}?tab=console"])
    screenshot(page, "hostile-capacity")
    assert len(shown) >= FIELDS, sorted(shown)
