"""A cluster's page in the browser: its partitions, its name and tags, and what does not work."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.panel.address_tests import (  # noqa: F401  # they run here, with this module's system
    test_an_address_is_reserved_attached_and_deleted,
)
from tests.panel.capacity_tests import (  # noqa: F401
    german,
    test_a_flavor_has_facts_price_and_stock_and_opens_the_wizard,
    test_capacity_is_reserved_cancelled_and_used,
    test_consoles_are_followed_and_kept_as_files,
    test_no_text_about_capacity_becomes_markup,
)
from tests.panel.conftest import READY_MS, flaws, inspect, operator_page, public_key, screenshot, signed_in, violations
from tests.panel.markup_injection import fields_shown
from tests.panel.service_tests import test_a_service_is_followed_and_stopped  # noqa: F401
from tests.panel.topology_tests import (  # noqa: F401
    test_a_lost_connection_is_told_and_made_again,
    test_large_clusters_are_drawn_and_used_by_keyboard,
    test_the_rack_lights_up_machine_by_machine_while_a_cluster_is_created,
)
from tests.panel.volume_tests import (  # noqa: F401
    test_a_snapshot_is_taken_becomes_a_volume_and_is_deleted,
    test_a_snapshot_of_a_server_is_the_image_of_a_new_cluster,
    test_a_volume_is_made_attached_grown_and_deleted,
)
from tests.support.processes import Up

TABS = ("overview", "topology", "partitions", "repairs", "schedule", "jobs", "services", "console", "usage", "activity")
PAGES = (
    *("/", "/clusters", "/reservations", "/volumes", "/volumes/snapshots", "/addresses", "/s3-connections"),
    *("/catalogue", "/events", "/quotas"),
    *("/ssh-keys", "/members", "/tokens", "/audit-log"),
)
FIELDS = 40
"""How many fields of the API's answers about a cluster are to be seen, at least."""


@pytest.fixture(scope="module")
def cluster(system: Up) -> dict[str, Any]:
    """An active cluster that the tests of this module share."""
    key = system.data / "laptop.pub"
    key.write_text(public_key())
    system.ipucloud.json("ssh-keys", "add", "laptop", str(key), **system.environment)
    command = ("clusters", "create", "bert", "--flavor", "m2000-pod16", "--ssh-key", "laptop", "--tag", "team=nlp")
    created = system.ipucloud.json(*command, **system.environment)
    document: dict[str, Any] = created["cluster"]
    return document


def test_clusters_are_found_by_their_tags(system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]) -> None:
    page = signed_in(system, open_page, "/clusters")
    link = page.get_by_role("table", name="Clusters").get_by_role("link", name=cluster["name"], exact=True)
    search = page.get_by_role("combobox", name="Filter clusters")
    search.fill("Tag = team=nlp")
    search.press("Enter")
    page.wait_for_url("**/clusters?tag=team%3Dnlp")
    expect(link).to_be_visible()
    page.goto("/clusters?tag=team%3Dvision")
    expect(page.get_by_text("Nothing matches")).to_be_visible()
    expect(link).to_have_count(0)
    assert violations(page) == []


def test_a_terminal_shows_the_ipus(system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]) -> None:
    # The first of its cluster: later ones remove the partition that logins have.
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}")
    page.get_by_role("link", name="Open terminal").click()
    title = "Terminal of bert, server 1"
    expect(page.get_by_role("heading", name=title)).to_be_visible()
    expect(page.get_by_text("Connected", exact=True)).to_be_visible(timeout=READY_MS)
    page.get_by_role("textbox", name=title).press_sequentially("gc-info -l\n")
    written = page.locator(".xterm-rows")
    expect(written).to_contain_text("Id: [15]", timeout=READY_MS)
    inspect(page, "terminal")
    page.keyboard.press("F6")
    expect(page.get_by_role("button", name="New session")).to_be_focused()
    page.get_by_role("textbox", name=title).press_sequentially("exit\n")
    expect(page.get_by_text("The shell has ended.")).to_be_visible()


def test_partitions_are_made_where_they_fit_and_removed(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    address = f"/clusters/{cluster['id']}?tab=partitions"
    page = signed_in(system, open_page, address)
    table = page.get_by_role("table", name="Partitions")
    own = table.get_by_role("row").filter(has_text="Partition of the cluster")
    own.get_by_role("radio").check()
    expect(page.locator("[data-machine][aria-pressed=true]")).to_have_count(4)
    page.get_by_role("button", name="Create partition").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio", name="16 IPUs")).to_be_disabled()
    expect(dialog.get_by_text("Does not fit: no IPU is free").first).to_be_visible()
    dialog.get_by_role("button", name="Cancel").click()

    own.get_by_role("button", name="Actions: Partition of the cluster").click()
    page.get_by_role("menuitem", name="Remove").click()
    expect(dialog.get_by_text("16 IPUs become free for other partitions.")).to_be_visible()
    inspect(page, "partition-remove")
    dialog.get_by_role("button", name="Remove").click()
    expect(own).to_have_count(0, timeout=READY_MS)

    for name, size in (("training", 4), ("notebook", 8)):
        page.get_by_role("button", name="Create partition").click()
        dialog.get_by_label("Name").fill(name)
        if name == "notebook":
            expect(dialog.get_by_role("radio", name="16 IPUs")).to_be_disabled()
            expect(dialog.get_by_text("Does not fit: only 12 IPUs are free")).to_be_visible()
            inspect(page, "partition-create")
        dialog.get_by_role("radio", name=re.compile(f"^{size} IPUs")).check()
        dialog.get_by_role("button", name="Create").click()
        row = table.get_by_role("row").filter(has_text=name)
        expect(row).to_contain_text("Active", timeout=READY_MS)

    machine = page.locator("[data-machine]").first
    machine.press("Enter")
    expect(machine).to_have_attribute("aria-pressed", "true")
    expect(table.get_by_role("radio", name="Select training")).to_be_checked()
    inspect(page, "partitions")
    table.get_by_role("button", name="Actions: training").click()
    page.get_by_role("menuitem", name="Reset").click()
    dialog.get_by_role("button", name="Reset").click()
    expect(page.get_by_text("training is being reset.")).to_be_visible()

    german = signed_in(system, open_page, address, locale="de-DE", color_scheme="dark")
    expect(german.get_by_role("row").filter(has_text="notebook")).to_contain_text("Aktiv")
    assert violations(german) == []
    german.set_viewport_size({"width": 400, "height": 900})
    screenshot(german, "partitions-de")


def test_two_people_who_edit_a_cluster_are_told_of_each_other(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}")
    page.get_by_role("button", name="Edit", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Value").fill("vision")
    system.ipucloud.json("clusters", "update", "bert", "--tag", "team=audio", **system.environment)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_text("Somebody else changed this meanwhile")).to_be_visible()
    expect(dialog.get_by_text("Tags: team=audio")).to_be_visible()
    inspect(page, "cluster-conflict")
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("bert was changed.")).to_be_visible()
    expect(page.get_by_text("team=vision")).to_be_visible()

    page.get_by_role("button", name="Edit", exact=True).click()
    dialog.get_by_label("Name").fill("bert-2")
    system.ipucloud.json("clusters", "update", "bert", "--tag", "team=speech", **system.environment)
    dialog.get_by_label("Name").press("Enter")
    expect(page.get_by_role("heading", name="bert-2")).to_be_visible()
    expect(page.get_by_text("team=speech")).to_be_visible()
    system.ipucloud.json("clusters", "update", "bert-2", "--name", "bert", **system.environment)

    lake = ("--endpoint", "https://s3.example.com", "--bucket", "data", "--access-key-id", "key", "--attachable")
    secret = {"IPUCLOUD_S3_SECRET": "secret", **system.environment}
    system.ipucloud.json("s3-connections", "create", "lake", *lake, **secret)
    page.reload()
    page.get_by_role("button", name="Edit", exact=True).click()
    dialog.get_by_role("button", name="S3 connections").click()
    page.get_by_role("option", name="lake").click()
    page.keyboard.press("Escape")
    assert violations(page) == []
    dialog.get_by_role("button", name="Save").click()
    expect(page.get_by_text("bert was changed.")).to_be_visible()
    expect(page.get_by_text("lake", exact=True)).to_be_visible()
    expect(page.get_by_text("requested by").first).to_be_visible()


def test_a_schedule_is_set_and_taken_away_and_other_keys_may_log_in(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}?tab=schedule")
    tab = page.get_by_role("tabpanel").filter(visible=True)
    dialog = page.get_by_role("dialog")
    tab.get_by_role("button", name="Edit", exact=True).click()
    dialog.get_by_role("radio", name="By a schedule").check()
    dialog.get_by_role("checkbox", name="Suspended when idle").check()
    dialog.get_by_label("Minutes without use").fill("3")
    dialog.get_by_label("From").fill("07:30")
    inspect(page, "schedule-edit")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.get_by_label("Minutes without use")).to_have_attribute("aria-invalid", "true")
    dialog.get_by_label("Minutes without use").fill("600")
    dialog.get_by_role("button", name="Save").click()
    days = "Monday, Tuesday, Wednesday, Thursday and Friday"
    expect(tab.get_by_text(f"{days}, 07:30 to 20:00")).to_be_visible()
    expect(tab.get_by_text("after 600 minutes")).to_be_visible()
    expect(tab.get_by_text(re.compile("^(Suspended|Resumed) at "))).to_be_visible()
    inspect(page, "schedule")

    german = signed_in(
        system, open_page, f"/clusters/{cluster['id']}?tab=schedule", locale="de-DE", color_scheme="dark"
    )
    german.get_by_role("tabpanel").filter(visible=True).get_by_role("button", name="Bearbeiten").click()
    expect(german.get_by_role("button", name="Zeit hinzufügen")).to_be_visible()
    inspect(german, "schedule-edit-de")
    german.get_by_role("button", name="Abbrechen").click()
    tab.get_by_role("button", name="Edit", exact=True).click()
    dialog.get_by_role("radio", name="Always").check()
    dialog.get_by_role("checkbox", name="Suspended when idle").uncheck()
    dialog.get_by_role("button", name="Save").click()
    expect(german.get_by_role("tabpanel").filter(visible=True).get_by_text("Immer")).to_be_visible()  # it is live

    key = system.data / "desktop.pub"
    key.write_text(public_key())
    system.ipucloud.json("ssh-keys", "add", "desktop", str(key), **system.environment)
    page.get_by_role("tab", name="Overview").click()
    page.get_by_role("button", name="Change SSH keys").click()
    dialog.get_by_role("button", name="Delete: laptop").click()
    expect(dialog.get_by_text("At least one key is needed.")).to_be_visible()
    dialog.get_by_role("button", name="Choose SSH keys").click()
    page.get_by_role("option", name=re.compile("^desktop")).click()
    page.keyboard.press("Escape")
    inspect(page, "ssh-keys-change")
    dialog.get_by_role("button", name="Save").click()
    accepted = page.locator("dt:has-text('Accepted SSH keys') + dd")
    expect(accepted).to_contain_text("desktop", timeout=READY_MS)
    expect(accepted).not_to_contain_text("laptop")
    _the_authority_of_certificates_is_rotated(system, page, open_page)


def _the_authority_of_certificates_is_rotated(system: Up, page: Page, open_page: Callable[..., Page]) -> None:
    page.goto("/ssh-keys")
    expect(page.get_by_text("all clusters in use")).to_be_visible(timeout=READY_MS)
    fingerprint = page.locator("dt:has-text('Authority') + dd")
    former = fingerprint.inner_text()
    assert former.startswith("SHA256:")
    page.get_by_role("button", name="Rotate authority").click()
    assert violations(page) == []
    page.get_by_role("dialog").get_by_role("button", name="Rotate", exact=True).click()
    expect(page.get_by_text("The SSH authority is replaced.")).to_be_visible()
    expect(fingerprint).not_to_contain_text(former)
    expect(page.get_by_text("all clusters in use")).to_be_visible(timeout=READY_MS)
    inspect(page, "ssh-keys")
    german(system, open_page, "/ssh-keys", "SSH-Schlüssel", "ssh-keys")


def test_repairs_keep_to_a_window_and_a_reported_fault_is_followed_to_its_answer(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}?tab=repairs")
    repairs = page.get_by_role("tabpanel").filter(visible=True)
    repairs.get_by_role("button", name="Edit", exact=True).click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("radio", name="Only in a window").check()
    inspect(page, "repair-window")
    dialog.get_by_role("button", name="Save").click()
    expect(repairs.get_by_text(re.compile("^Saturday and Sunday from 02:00 for 3 hrs"))).to_be_visible()

    page.get_by_role("tab", name="Topology").click()
    machine = page.locator("[data-machine]").first
    machine.press("Enter")
    name = (machine.get_attribute("aria-label") or "").split(",")[0]
    page.get_by_role("button", name="Report a fault").click()
    dialog.get_by_label("What happens").fill("IPU 3 hangs in every run")
    inspect(page, "fault-report")
    dialog.get_by_role("button", name="Send report").click()
    page.get_by_role("tab", name="Repairs").click()
    report = page.get_by_role("table", name="Fault reports").get_by_role("row").filter(has_text=name)
    expect(report).to_contain_text("Open")
    operator = operator_page(system, open_page, "/operator/fault-reports")
    operator.get_by_role("button", name=f"Dismiss: {name}").click()
    operator.get_by_role("dialog").get_by_label("Answer").fill("the IPU passes its test")
    inspect(operator, "operator-fault")
    operator.get_by_role("dialog").get_by_role("button", name="Dismiss").click()
    expect(operator.get_by_role("link", name=name)).to_have_count(0)
    expect(report).to_contain_text("Dismissed")
    expect(report).to_contain_text("the IPU passes its test")
    assert violations(page) == []
    german = signed_in(system, open_page, f"/clusters/{cluster['id']}?tab=repairs", locale="de-DE", color_scheme="dark")
    expect(german.get_by_text(re.compile("^Samstag und Sonntag ab 02:00"))).to_be_visible()
    assert violations(german) == []


def test_a_program_is_run_as_a_job_followed_and_stopped(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}?tab=jobs")
    page.get_by_role("button", name="Run a program").click()
    dialog = page.get_by_role("dialog")
    run = dialog.get_by_role("button", name="Run a program")
    dialog.get_by_label("Command").fill("sh -c 'echo <b>begun</b>")
    expect(dialog.get_by_text("A quote is not closed.")).to_be_visible()
    expect(run).to_be_disabled()
    dialog.get_by_label("Command").fill("sh -c 'echo \"<b>$GREETING</b>\"; exec sleep 600'")
    dialog.get_by_role("button", name="Add variable").click()
    dialog.get_by_role("textbox", name="Variables Name").fill("GREETING")
    dialog.get_by_role("textbox", name="Variables Value").fill("begun")
    dialog.get_by_label("Limit of time, in minutes").fill("0")
    dialog.get_by_label("Limit of cost, in EUR").fill("20")
    dialog.get_by_label("Container image").fill("Example/Train")
    dialog.get_by_label("User at the registry").fill("ci")
    expect(run).to_be_disabled()
    dialog.get_by_label("Password at the registry").fill("hunter2")
    inspect(page, "job-run")
    run.click()
    expect(dialog.get_by_text(re.compile("^Input should be greater than or equal to 1"))).to_be_visible()
    expect(dialog.get_by_text(re.compile("^Send a reference to a container image"))).to_be_visible()
    dialog.get_by_label("Container image").fill("")
    expect(dialog.get_by_label("Password at the registry")).to_have_count(0)
    dialog.get_by_label("Limit of time, in minutes").fill("90")
    run.click()
    page.wait_for_url(re.compile(r"/jobs/1$"))
    expect(page.get_by_role("region", name="Output")).to_have_text("<b>begun</b>", timeout=READY_MS)
    expect(page.get_by_text("Running", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(" of 1 hr 30 mins$|of 1 hr 30 mins"))).to_be_visible()
    expect(page.get_by_text(re.compile("of €20.00$"))).to_be_visible()
    inspect(page, "job")

    german = signed_in(system, open_page, f"/clusters/{cluster['id']}/jobs/1", locale="de-DE", color_scheme="dark")
    expect(german.get_by_text("Läuft", exact=True)).to_be_visible()
    german.set_viewport_size({"width": 400, "height": 900})
    inspect(german, "job-de")
    page.get_by_role("button", name="Stop", exact=True).click()
    dialog.get_by_role("button", name="Stop", exact=True).click()
    expect(german.get_by_text("Eine Anforderung")).to_be_visible(timeout=READY_MS)  # it is live
    expect(german.get_by_role("button", name="Beenden")).to_have_count(0)
    german.get_by_role("link", name="bert").click()
    expect(german.get_by_role("row").filter(has_text="GREETING")).to_contain_text("Beendet")
    assert violations(german) == []

    page.goto(f"/clusters/{cluster['id']}?tab=usage")
    times = page.get_by_role("table", name="Times in use").get_by_role("row")
    expect(times.filter(has_text="m2000-pod16").first).to_contain_text("€")
    expect(page.get_by_role("application", name="In use per day")).to_be_visible()
    inspect(page, "usage")


def test_a_recipe_is_run_from_the_catalogue(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, "/catalogue?tab=models")
    recipe = system.ipucloud.json("recipes", "show", "digits", **system.environment)
    page.get_by_role("link", name=recipe["name"], exact=True).click()
    expect(page.get_by_role("heading", name=recipe["name"])).to_be_visible()
    expect(page.get_by_role("link", name=recipe["flavor"])).to_be_visible()
    expect(page.locator("dt:has-text('Price per hour') + dd")).to_contain_text("€")
    inspect(page, "recipe")
    page.get_by_role("button", name="Run on a cluster").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name=re.compile("^Cluster")).click()
    page.get_by_role("option", name=re.compile("^bert")).click()
    expect(dialog.get_by_text(re.compile("a minute, whether or not a job runs"))).to_be_visible()
    inspect(page, "recipe-run")
    dialog.get_by_role("button", name="Run").click()
    page.wait_for_url(re.compile(rf"/clusters/{cluster['id']}/jobs/\d+$"))

    page.goto("/catalogue/models/digits")
    page.get_by_role("button", name="Run on a new cluster").click()
    page.wait_for_url(f"**/clusters/create?*flavor={recipe['flavor']}&recipe=digits")
    expect(page.get_by_role("radio", name=f"Select {recipe['flavor']}")).to_be_checked()
    page.goto(f"/clusters/{cluster['id']}?recipe=digits")  # where the wizard ends
    page.get_by_role("button", name=f"Run {recipe['name']}").click()
    expect(dialog.get_by_role("button", name="Run")).to_be_enabled()


def test_every_page_about_a_cluster_is_for_everybody_in_both_languages_and_modes(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    own = f"/clusters/{cluster['id']}"
    server = system.ipucloud.json("clusters", "show", "bert", **system.environment)["poplar_servers"][0]["id"]
    paths = [f"{own}?tab={tab}" for tab in TABS]
    paths += [f"{own}/jobs/1", f"{own}/services/chat", f"{own}/terminal/{server}", "/clusters/create"]
    paths += [f"/catalogue?tab={tab}" for tab in ("machines", "images", "tools", "models")]
    paths += [f"/catalogue/{cluster['flavor']}", "/catalogue/models/digits", "/members"]
    rare = ["/notifications", "/device"]
    phone: dict[str, Any] = {"viewport": {"width": 400, "height": 900}, "has_touch": True}
    german = signed_in(system, open_page, own, locale="de-DE", color_scheme="dark", **phone)
    assert flaws(german, paths + rare) == {}
    assert flaws(signed_in(system, open_page, own), [f"{own}?tab=activity", *rare]) == {}


def test_no_text_about_a_cluster_becomes_markup(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, "/clusters")
    own = f"/clusters/{cluster['id']}"
    shown = fields_shown(page, [*PAGES, *(f"{own}?tab={tab}" for tab in TABS), f"{own}/jobs/1", f"{own}/services/chat"])
    screenshot(page, "hostile-cluster")
    assert len(shown) >= FIELDS, sorted(shown)


def test_a_machine_is_made_to_fail_and_the_customer_sees_it(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    address = f"/clusters/{cluster['id']}?tab=topology"
    page = signed_in(system, open_page, address)
    page.locator("[data-machine]").first.press("Enter")
    expect(page.get_by_role("button", name="Report a fault")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Trouble"))).to_have_count(0)
    operator = operator_page(system, open_page, address)
    operator.locator("[data-machine]").first.press("Enter")
    operator.get_by_role("button", name=re.compile("^Trouble: ")).click()
    operator.get_by_role("menuitem", name="Let it fail").click()
    expect(page.get_by_text("Failed", exact=True).first).to_be_visible(timeout=READY_MS)
    inspect(page, "trouble")
    page.get_by_role("tab", name="Overview").click()
    expect(page.get_by_text("Degraded", exact=True).first).to_be_visible(timeout=READY_MS)
    expect(page.get_by_text(re.compile("^Not billed meanwhile: [1-4] of 4 machines."))).to_be_visible()
    expect(page.get_by_text(re.compile("^A repair is scheduled for "))).to_be_visible(timeout=READY_MS)
    inspect(page, "cluster-degraded")
    page.get_by_role("tab", name="Repairs").click()
    expect(page.get_by_role("button", name="Reschedule")).to_be_enabled()
    page.get_by_role("button", name="Repair now").click()
    expect(page.get_by_text(re.compile("Programs on the IPUs end"))).to_be_visible()
    assert violations(page) == []
