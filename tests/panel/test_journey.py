"""A customer's first cluster, tokens and webhooks, and what finance sees: the panel as the service serves it, under its
policy, in the browser."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable

import asyncssh
from playwright.sync_api import Download, Page, Route, expect

from tests.panel.conftest import READY_MS, flaws, inspect, public_key, screenshot, signed_in, violations
from tests.panel.markup_injection import fields_shown
from tests.panel.money_tests import (  # noqa: F401  # they run here, with this module's system
    test_a_payer_without_a_project_sees_the_money_of_its_account,
    test_finance_keeps_a_budget_tops_the_wallet_up_and_exports_a_month,
    test_finance_sees_what_a_month_cost_and_its_invoice,
)
from tests.support.neighbour import neighbour
from tests.support.processes import Up

UP_OPTIONS = ("--sample",)
PAGES = (
    *("/", "/clusters", "/reservations", "/volumes", "/volumes/snapshots", "/addresses", "/s3-connections"),
    *("/catalogue", "/events", "/quotas"),
    *("/ssh-keys", "/tokens", "/webhooks", "/billing"),
    *(f"/billing/{tab}" for tab in ("budgets", "invoices", "funds", "exports")),
)
FIELDS = 12
"""How many fields of the API's answers are to be seen on the pages, at least."""


def test_a_customer_creates_a_cluster_watches_it_and_deletes_it(system: Up, page: Page) -> None:
    page.goto(system.facts["panel"])
    expect(page.get_by_text("Start here")).to_be_visible()
    screenshot(page, "first-visit")

    page.goto("/ssh-keys")
    page.get_by_role("button", name="Add SSH key").first.click()
    page.get_by_role("textbox", name="Name").fill("laptop")
    with page.expect_download() as kept:
        page.get_by_role("button", name="Generate").click()
    assert kept.value.suggested_filename == "laptop"
    generated = asyncssh.read_private_key(kept.value.path())
    written = page.get_by_role("textbox", name="Public key").input_value()
    assert asyncssh.import_public_key(written) == generated.convert_to_public()
    expect(page.get_by_text("chmod 600 laptop")).to_be_visible()
    inspect(page, "ssh-key-generated")
    page.get_by_role("dialog").get_by_role("button", name="Add SSH key").click()
    expect(page.get_by_text("laptop was added.")).to_be_visible()

    system.ipucloud.json("budgets", "create", "small", "0.50", **system.environment)
    page.goto("/clusters/create")
    page.get_by_text("m2000-pod16: 16 IPUs").click()
    inspect(page, "create-size")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Choose SSH keys").click()
    page.get_by_role("option").first.click()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Next").click()
    page.get_by_role("textbox", name="Name").fill("Bert")
    expect(page.get_by_text("This name does not work").first).to_be_visible()
    page.get_by_role("textbox", name="Name").fill("bert ")
    expect(page.get_by_text("This name does not work")).to_have_count(0)
    page.get_by_placeholder("YYYY/MM/DD").fill("2030/01/31")
    page.get_by_placeholder("hh:mm").fill("08:00")
    summary = page.get_by_role("region", name="Summary")
    expect(summary).to_contain_text("€360.00")
    expect(summary).to_contain_text("Budget small")
    inspect(page, "create-name")
    page.reload()
    expect(page.get_by_role("textbox", name="Name")).to_have_value("bert ")
    page.go_back()
    expect(page.get_by_role("textbox", name="Name")).to_have_count(0)
    page.go_forward()
    expect(page.get_by_placeholder("YYYY/MM/DD")).to_have_value("2030/01/31")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("clusters create bert")).to_be_visible()
    expect(page.get_by_text(re.compile("--expires-at 2030-01-31T"))).to_be_visible()
    expect(page.get_by_text("€15.00")).to_be_visible()
    expect(page.get_by_text(re.compile("^Forecast €.*with this cluster until the month ends €"))).to_be_visible()
    expect(page.get_by_text("it takes the forecast beyond budget small.")).to_be_visible()
    inspect(page, "create-review")
    page.route("**/clusters:estimate", _without_room)
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("textbox", name="Name").fill("ernie")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_text("nowhere 4 side by side")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^m2000-pod8, "))).to_be_visible()
    inspect(page, "create-alternatives")
    page.get_by_role("checkbox", name="Wait for capacity").check()
    expect(page.get_by_text("--wait-for-capacity")).to_be_visible()
    page.get_by_role("checkbox", name="Wait for capacity").uncheck()
    page.get_by_role("button", name=re.compile("^m2000-pod8, ")).click()
    expect(page.get_by_text("€7.50")).to_be_visible()
    page.unroute_all(behavior="wait")
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("textbox", name="Name").fill("bert")
    page.get_by_role("button", name="Previous").click()
    page.get_by_role("button", name="Previous").click()
    page.get_by_text("m2000-pod16: 16 IPUs").click()
    for _ in range(3):
        page.get_by_role("button", name="Next").click()
    page.get_by_role("button", name="Create cluster").last.click()

    page.wait_for_url(re.compile(r"/clusters/[0-9a-f-]{36}"))
    expect(page.get_by_text(re.compile("^expected to end at ")).first).to_be_visible()
    expect(page.get_by_role("progressbar").first).not_to_have_attribute("aria-valuenow", "0")  # it moves
    expect(page.get_by_text("Active", exact=True).first).to_be_visible(timeout=READY_MS)
    expect(page.get_by_text(re.compile("^ssh .+@")).first).to_be_visible()
    expect(page.get_by_role("button", name="Copy: Host", exact=True)).to_be_visible()
    inspect(page, "cluster")
    page.get_by_role("tab", name="Topology").click()
    machines = page.locator("[data-machine]")
    expect(machines).to_have_count(4)
    machines.first.press("Enter")
    expect(machines.first).to_have_attribute("aria-pressed", "true")
    inspect(page, "topology")

    page.goto("/events")
    page.get_by_role("heading", name="Events").first.wait_for()
    page.keyboard.press("Control+k")
    page.get_by_placeholder("Name of a cluster or page").fill("bert")
    expect(page.get_by_role("option", name="bert")).to_be_visible()
    inspect(page, "go-to")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/clusters/[0-9a-f-]{36}"))

    page.get_by_role("button", name="Restart", exact=True).click()
    page.get_by_role("menuitem", name="Reboot", exact=True).click()
    inspect(page, "reboot")
    page.get_by_role("dialog").get_by_role("button", name="Reboot", exact=True).click()
    expect(page.get_by_text("The servers of bert are being rebooted.")).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()

    restart = page.get_by_role("button", name="Restart", exact=True)
    expect(restart).to_be_enabled(timeout=READY_MS)
    restart.click()
    page.get_by_role("menuitem", name="Rebuild…", exact=True).click()
    rebuild = page.get_by_role("dialog").get_by_role("button", name="Rebuild", exact=True)
    expect(rebuild).to_be_disabled()
    page.get_by_role("radio", name="Keep /home").check()
    page.get_by_role("button", name="Image, SSH keys and user data").click()
    page.get_by_role("radio", name="Other user data").check()
    expect(rebuild).to_be_disabled()
    page.get_by_role("textbox", name="Other user data").fill("#!/bin/sh\necho ready > /home/ubuntu/ready\n")
    inspect(page, "rebuild")
    rebuild.click()
    expect(page.get_by_text("The servers of bert are being rebuilt.")).to_be_visible()
    expect(page.get_by_text(re.compile("^Rebuilding")).first).to_be_visible()
    expect(page.get_by_role("dialog")).to_be_hidden()

    _resize(page)
    page.get_by_role("button", name="Delete").first.click()
    confirmed = page.get_by_role("dialog").get_by_role("button", name="Delete")
    expect(confirmed).to_be_disabled()
    page.get_by_role("dialog").get_by_role("textbox").fill("bert")
    confirmed.click()
    expect(page.get_by_text("bert is being deleted.")).to_be_visible()


def test_a_create_is_cancelled_while_it_runs(system: Up, open_page: Callable[..., Page]) -> None:
    key = system.data / "mistake.pub"
    key.write_text(public_key())
    system.ipucloud.json("ssh-keys", "add", "mistake", str(key), **system.environment)
    command = ("clusters", "create", "mistake", "--flavor", "m2000-pod4", "--ssh-key", "mistake", "--no-wait")
    cluster = system.ipucloud.json(*command, **system.environment)["cluster"]
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}")
    page.get_by_role("button", name="Cancel operation").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_text("completed steps are undone")).to_be_visible()
    assert violations(page) == []
    dialog.get_by_role("button", name="Cancel operation").click()
    expect(page.get_by_text("creation was cancelled")).to_be_visible(timeout=READY_MS)
    expect(page.get_by_text("This cluster no longer has servers.")).to_be_visible()


def _without_room(route: Route) -> None:
    """There is no room for what the page is about; what it offers instead is estimated as it is."""
    if (route.request.post_data_json or {}).get("flavor") != "m2000-pod16":
        route.continue_()
        return
    answer = route.fetch()
    estimate = answer.json()
    why = {
        "reason": "no_block",
        "detail": "The region has 12 free machines, but nowhere 4 side by side.",
        "numbers": {},
    }
    estimate["capacity"] = {"available": False, "why_not": why}
    route.fulfill(response=answer, json=estimate)


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
    inspect(page, "resize")
    confirmed.click()
    expect(page.get_by_text("bert is being resized.")).to_be_visible()
    expect(page.get_by_text(re.compile("^Resizing")).first).to_be_visible()


def test_the_owner_sees_who_asked_for_what(system: Up, open_page: Callable[..., Page]) -> None:
    key = system.data / "auditor.pub"
    key.write_text(public_key())
    system.ipucloud.json("ssh-keys", "add", "auditor", str(key), **system.environment)
    page = signed_in(system, open_page, "/audit-log")
    table = page.get_by_role("table", name="Audit log")
    expect(table.get_by_role("row").filter(has_text="createSshKey").first).to_contain_text("201")
    expect(table.get_by_role("row").filter(has_text="listAuditLog")).to_have_count(0)
    inspect(page, "audit-log")
    page.get_by_text("Also reads of tokens and money").click()
    expect(table.get_by_role("row").filter(has_text="listAuditLog").first).to_be_visible()
    search = page.get_by_role("combobox", name="Filter entries")
    search.fill("Operation = createSshKey")
    search.press("Enter")
    expect(table.get_by_role("row").filter(has_text="listAuditLog")).to_have_count(0)
    table.get_by_role("button", name=re.compile("^Details: createSshKey")).first.click()
    expect(page.get_by_role("dialog").get_by_text("Request id", exact=True)).to_be_visible()
    inspect(page, "audit-entry")
    page.keyboard.press("Escape")
    with page.expect_download() as kept:
        page.get_by_role("button", name="Download CSV").click()
    assert kept.value.suggested_filename == "audit-log.csv"
    assert {each["operation"] for each in _rows(kept.value)} == {"createSshKey"}
    page.goto("/events")
    page.get_by_role("button", name=re.compile("^About")).click()
    page.get_by_role("option", name="SSH key").click()
    events = page.get_by_role("table", name="Events").get_by_role("row")
    expect(events.filter(has_text="SSH key created").first).to_be_visible()
    expect(events.filter(has_text="Token created")).to_have_count(0)
    inspect(page, "events")
    with page.expect_download() as kept:
        page.get_by_role("button", name="Download CSV").click()
    assert {each["subject_type"] for each in _rows(kept.value)} == {"ssh_key"}
    german = signed_in(system, open_page, "/audit-log", locale="de-DE", color_scheme="dark")
    german.set_viewport_size({"width": 400, "height": 900})
    expect(german.get_by_role("heading", name="Prüfprotokoll").first).to_be_visible()
    expect(german.get_by_role("row").nth(1)).to_be_visible()
    inspect(german, "audit-log-de")


def _rows(file: Download) -> list[dict[str, str]]:
    return [*csv.DictReader(file.path().read_text("utf-8-sig").splitlines())]


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
    other.get_by_role("button", name="Use the token").click()
    expect(other.get_by_text("Request id")).to_be_visible()
    other.get_by_label("API token").fill(system.facts["token"])
    other.get_by_role("button", name="Use the token").click()
    other.wait_for_url("**/clusters?state=active")
    expect(other.get_by_role("table", name="Clusters")).to_be_visible()
    other.context.clear_cookies()  # the session ends while its page is open
    other.get_by_role("link", name="Quotas").click()
    other.wait_for_url("**/sign-in?next=%2Fp%2Fdemo%2Fquotas")
    other.get_by_label("API token").fill(system.facts["token"])
    other.get_by_role("button", name="Use the token").click()
    other.wait_for_url("**/p/demo/quotas")


def test_a_page_at_another_port_gets_nothing_of_a_session(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/quotas")
    expect(page.get_by_role("heading", name="Quotas").first).to_be_visible()
    [cookie] = [each for each in page.context.cookies() if each["name"] == "ipucloud-session"]
    assert re.fullmatch(r"/s/[A-Za-z0-9_-]{22}", cookie["path"])
    with neighbour() as other:
        stranger = page.context.new_page()
        for path in ("/", "/v1/whoami", "/v1/session", "/s/"):
            stranger.goto(f"{other.url}{path}")
            stranger.evaluate("fetch('/v1/whoami', {credentials: 'include'}).then((answer) => answer.text())")
            assert stranger.evaluate("Object.keys(localStorage)") == []
            assert "session" not in stranger.evaluate("document.cookie")
        assert [cookies for _, cookies in other.cookies if "session" in cookies] == []
        assert "neighbour=was-here" in other.cookies[-1][1]
        stranger.close()
    page.reload()
    expect(page.get_by_role("heading", name="Quotas").first).to_be_visible()


def test_a_person_is_invited_joins_signs_in_again_and_is_removed(system: Up, open_page: Callable[..., Page]) -> None:
    owner = signed_in(system, open_page, "/members")
    owner.get_by_role("button", name="Invite").click()
    dialog = owner.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill("ann@example.com")
    dialog.get_by_role("button", name="Invite").click()
    link = owner.get_by_role("dialog").locator("code").inner_text()
    owner.get_by_role("button", name="I have kept it").click()
    expect(owner.get_by_role("table", name="Invitations").get_by_role("row").filter(has_text="Open")).to_be_visible()
    assert violations(owner) == []

    ann = open_page(system.facts["url"])
    ann.goto(link)
    expect(ann.get_by_label("E-mail")).to_have_value("ann@example.com")
    assert "secret" not in ann.url
    ann.get_by_label("Password", exact=True).fill("quiet-harbour-42-lamp")
    ann.get_by_label("Password again").fill("quiet-harbour-42-lamp")
    assert violations(ann) == []
    ann.get_by_role("button", name="Join").click()
    ann.get_by_role("button", name="ann@example.com").click()
    ann.get_by_role("menuitem", name="Sign out").click()
    ann.wait_for_url("**/sign-in**")
    ann.get_by_label("E-mail").fill("ann@example.com")
    ann.get_by_label("Password").fill("not-the-password")
    ann.get_by_role("button", name="Sign in").click()
    expect(ann.get_by_text("The e-mail or the password is wrong.")).to_be_visible()
    ann.get_by_label("Password").fill("quiet-harbour-42-lamp")
    assert violations(ann) == []
    ann.get_by_role("button", name="Sign in").click()
    expect(ann.get_by_role("button", name="ann@example.com")).to_be_visible()

    assert flaws(ann, ["/notifications"]) == {}
    members = owner.get_by_role("table", name="Members")
    expect(members.get_by_role("row").filter(has_text="Operator")).to_be_visible()
    owner.get_by_role("button", name="Actions: ann@example.com").click()
    owner.get_by_role("menuitem", name="Remove").click()
    owner.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(owner.get_by_text("ann@example.com was removed.")).to_be_visible()
    ann.goto("/clusters")
    ann.wait_for_url("**/sign-in**")


def test_a_token_is_shown_once_used_replaced_and_revoked(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/tokens")
    page.get_by_role("button", name="Create token").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("ci")
    dialog.get_by_role("radio", name="Operator").check()
    inspect(page, "token-create")
    dialog.get_by_role("button", name="Create").click()
    secret = dialog.locator("code").inner_text()
    assert violations(page) == []
    assert system.ipucloud.json("whoami", **{**system.environment, "IPUCLOUD_TOKEN": secret})["role"] == "operator"
    dialog.get_by_role("button", name="I have kept it").click()
    expect(page.get_by_text(secret)).to_have_count(0)

    token = page.get_by_role("row").filter(has=page.get_by_role("button", name="Actions: ci"))
    expect(token).to_contain_text("Operator")
    token.get_by_role("button", name="Actions: ci").click()
    page.get_by_role("menuitem", name="Revoke").click()
    assert violations(page) == []
    dialog.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("ci was revoked.")).to_be_visible()
    expect(token).to_have_count(0)
    with system.ipucloud.start("whoami", **{**system.environment, "IPUCLOUD_TOKEN": secret}) as refused:
        refused.communicate(timeout=60)
        assert refused.returncode != 0
    page.get_by_role("button", name=re.compile("^Shown")).click()
    page.get_by_role("option", name="Revoked and expired").click()
    expect(page.get_by_role("row").filter(has_text=re.compile("^ci"))).to_contain_text("Revoked")
    inspect(page, "tokens")
    german = signed_in(system, open_page, "/tokens", locale="de-DE", color_scheme="dark")
    expect(german.get_by_text(re.compile(r"\(hier angemeldet\)$"))).to_be_visible()
    assert violations(german) == []


def test_a_webhook_says_what_became_of_its_messages(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/webhooks")
    expect(page.get_by_text("No webhooks")).to_be_visible()
    page.get_by_role("button", name="Create webhook").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill("http://127.0.0.1/hook")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.get_by_text("Send a URL that begins with https://.")).to_be_visible()  # at its field
    dialog.get_by_label("Address").fill("https://hooks.invalid/ipucloud")
    dialog.get_by_role("radio", name="Only these").check()
    dialog.get_by_role("button", name="Choose events").click()
    page.get_by_role("option", name="Cluster: everything").click()
    page.keyboard.press("Escape")
    inspect(page, "webhook-create")
    dialog.get_by_role("button", name="Create").click()
    expect(dialog.locator("code")).to_have_text(re.compile("^whsec_"))
    dialog.get_by_role("button", name="I have kept it").click()

    page.get_by_role("link", name="https://hooks.invalid/ipucloud").click()
    page.get_by_role("button", name="Send a ping").click()
    ping = page.get_by_role("table", name="Deliveries").get_by_role("row").filter(has_text="Ping")
    expect(ping).to_contain_text("not reachable")
    ping.get_by_role("button", name="Show message: Ping").click()
    expect(dialog.get_by_text('"type": "webhook.ping"')).to_be_visible()
    inspect(page, "webhook-message")
    dialog.get_by_role("contentinfo").or_(dialog).get_by_role("button", name="Close").last.click()
    ping.get_by_role("button", name="Send again: Ping").click()
    expect(page.get_by_text("The message is sent again.")).to_be_visible()
    page.get_by_role("button", name="Actions", exact=True).click()
    page.get_by_role("menuitem", name="Disable").click()
    dialog.get_by_role("button", name="Disable").click()
    expect(page.get_by_text("Disabled here")).to_be_visible()
    inspect(page, "webhook")


def test_no_text_of_the_api_becomes_markup(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/billing", "finance")
    shown = fields_shown(page, PAGES)
    screenshot(page, "hostile")
    assert len(shown) >= FIELDS, sorted(shown)


def test_twenty_tabs_share_one_stream_and_all_of_them_are_live(system: Up, open_page: Callable[..., Page]) -> None:
    first = signed_in(system, open_page, "/ssh-keys")
    tabs = [first, *(first.context.new_page() for _ in range(19))]
    for tab in tabs[1:]:
        tab.goto("/ssh-keys")
    for tab in tabs:
        expect(tab.get_by_role("button", name=re.compile("^Live"))).to_be_visible(timeout=READY_MS)
    key = system.data / "everywhere.pub"
    key.write_text(public_key())
    system.ipucloud.json("ssh-keys", "add", "everywhere", str(key), **system.environment)
    for tab in tabs:
        expect(tab.get_by_role("row").filter(has_text="everywhere")).to_be_visible(timeout=READY_MS)
    first.close()  # it may have been the one that held the stream
    system.ipucloud.json("ssh-keys", "delete", "everywhere", **system.environment)
    for tab in tabs[1:]:
        expect(tab.get_by_role("row").filter(has_text="everywhere")).to_have_count(0, timeout=READY_MS)


def test_a_page_names_the_window_and_gets_the_focus(system: Up, open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/ssh-keys")
    expect(page).to_have_title("SSH keys · IPU Cloud")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_be_focused()
    page.get_by_role("link", name="Webhooks", exact=True).click()
    expect(page).to_have_title("Webhooks · IPU Cloud")
    expect(page.get_by_role("heading", level=1)).to_be_focused()


def test_every_page_is_for_everybody_in_both_languages_and_modes_also_on_a_phone(
    system: Up, open_page: Callable[..., Page]
) -> None:
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    page = signed_in(system, open_page, "/clusters", "finance", **phone)
    assert flaws(page, PAGES, "phone") == {}
    page.get_by_role("button", name="Open navigation").click()
    expect(page.get_by_role("link", name="SSH keys")).to_be_visible()
    screenshot(page, "phone-navigation")
    covered = "page-has-heading-one"  # the open navigation is in front of the page and its heading
    assert [each for each in violations(page) if not each.startswith(covered)] == []
    german = signed_in(system, open_page, "/clusters", "finance", locale="de-DE", color_scheme="dark")
    assert flaws(german, [*PAGES, "/billing/invoices/INV-2026-000001", "/nothing-here"]) == {}
    german.context.clear_cookies()
    assert flaws(german, ["/sign-in"]) == {}
