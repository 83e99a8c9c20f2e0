"""The pages of services. `test_cluster` has this test among its own, so that it shares their `ipucloud up`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.panel.conftest import READY_MS, fits, inspect, signed_in
from tests.support.processes import Up

PROGRAM = 'echo "<b>listening on $PORT</b>"; exec sleep 600'


def serve(system: Up, *options: str) -> dict[str, Any]:
    """A service of the program, which is running."""
    with system.ipucloud.start("serve", "--json", *options, "--", "sh", "-c", PROGRAM, **system.environment) as process:
        out, err = process.communicate(timeout=READY_MS / 1000)
    assert process.returncode == 0, err
    document: dict[str, Any] = json.loads(out)
    return document


def test_a_service_is_followed_and_stopped(system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}?tab=services")
    expect(page.get_by_text("No services")).to_be_visible()
    expect(page.get_by_text(re.compile("^ipucloud serve --cluster bert --name chat"))).to_be_visible()
    inspect(page, "services-none")

    which = ("--cluster", "bert", "--name", "chat", "--port", "8000")
    service = serve(system, *which, "--env", "MODEL=bert-large", "--health", "/healthz", "--health-interval", "1")
    row = page.get_by_role("table", name="Services").get_by_role("row").filter(has_text="chat")
    expect(row).to_contain_text("Running", timeout=READY_MS)  # it is live
    inspect(page, "services")
    page.goto("/events")
    page.get_by_role("link", name="Service chat").first.click()
    page.wait_for_url(f"**/clusters/{cluster['id']}/services/{service['id']}")
    expect(page.get_by_role("region", name="Output")).to_have_text("<b>listening on 8000</b>", timeout=READY_MS)
    expect(page.get_by_text("MODEL", exact=True)).to_be_visible()
    expect(page.get_by_text("nothing listens on port 8000")).to_be_visible(timeout=READY_MS)
    expect(page.get_by_text(re.compile(r"^http.*/clusters/bert/services/chat/proxy/$"))).to_be_visible()
    expect(page.get_by_text("ipucloud clusters ssh bert --forward 8000")).to_be_visible()
    traffic = page.get_by_role("heading", name="Requests of the last 24 hours")
    traffic.scroll_into_view_if_needed()
    expect(page.get_by_text("No requests").first).to_be_visible()
    inspect(page, "service")

    address = f"/clusters/{cluster['id']}/services/chat"
    german = signed_in(system, open_page, address, locale="de-DE", color_scheme="dark")
    expect(german.get_by_text("Läuft", exact=True)).to_be_visible()
    german.set_viewport_size({"width": 400, "height": 900})
    fits(german)
    inspect(german, "service-de")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Deploy", exact=True).click()
    expect(dialog.get_by_label("Command")).to_have_value(re.compile("^sh -c 'echo "))
    expect(dialog.get_by_label("Port")).to_have_value("8000")
    expect(dialog.get_by_text("Otherwise it keeps MODEL, with their values.")).to_be_visible()
    inspect(page, "service-deploy")
    dialog.get_by_label("Port").fill("80")
    dialog.get_by_label("Command").fill("sh -c 'echo no model; exit 3'")
    dialog.get_by_role("button", name="Deploy", exact=True).click()
    expect(dialog.get_by_label("Port")).to_be_focused()  # it is what was refused
    expect(dialog.get_by_label("Port")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Port").fill("8000")
    dialog.get_by_role("button", name="Deploy", exact=True).click()
    page.wait_for_url("**/services/chat")
    expect(page.get_by_text("The program ended with exit status 3")).to_be_visible(timeout=READY_MS)
    expect(page.locator(".last-lines")).to_have_text("no model", timeout=READY_MS)
    inspect(page, "service-died")
    expect(german.get_by_text("Das Programm endete mit Exit-Status 3")).to_be_visible(timeout=READY_MS)
    fits(german)
    inspect(german, "service-died-de")
    german.get_by_role("button", name="Zurücksetzen").click()
    inspect(german, "service-rollback-de")
    german.get_by_role("dialog").get_by_role("button", name="Zurücksetzen").click()
    expect(german.get_by_text("Läuft", exact=True)).to_be_visible(timeout=READY_MS)
    expect(page.get_by_role("region", name="Output")).to_have_text("<b>listening on 8000</b>", timeout=READY_MS)
    expect(page.locator(".last-lines")).to_have_count(0)

    page.get_by_role("button", name="Stop", exact=True).click()
    expect(dialog.get_by_text("It is not started again.")).to_be_visible()
    inspect(page, "service-stop")
    dialog.get_by_role("button", name="Stop", exact=True).click()
    expect(german.get_by_text("Eine Anforderung")).to_be_visible(timeout=READY_MS)  # it is live
    expect(german.get_by_role("button", name="Beenden")).to_have_count(0)
    expect(page.get_by_text(re.compile("/proxy/"))).to_have_count(0)
    german.get_by_role("link", name="bert").click()
    rows = german.get_by_role("row").filter(has_text="chat")  # one for each release
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("Beendet")
    inspect(german, "services-de")
