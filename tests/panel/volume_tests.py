"""The page of volumes. `test_cluster` has these tests among its own, so that they share their `ipucloud up`."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from playwright.sync_api import Page, expect

from tests.panel.conftest import READY_MS, ask, choose, fits, inspect, screenshot, signed_in, violations
from tests.support.processes import Up


def test_a_volume_is_made_attached_grown_and_deleted(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, "/volumes")
    expect(page.get_by_text("No volumes yet")).to_be_visible()
    inspect(page, "volumes-none")
    row = page.get_by_role("table", name="Volumes").get_by_role("row").filter(has_text="checkpoints")
    page.get_by_role("button", name="Create volume").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Not a name!")
    dialog.get_by_label("Size in GiB").fill("10")
    choose(page, dialog, "Region", "Luxembourg-2")
    expect(dialog.get_by_text(re.compile("for 30 days at the present price"))).to_be_visible()
    dialog.get_by_role("button", name="Create volume").click()
    expect(dialog.get_by_text("Request id:")).to_be_visible()  # refused, with what is wrong
    dialog.get_by_label("Name").fill("checkpoints")
    inspect(page, "volume-create")
    dialog.get_by_role("button", name="Create volume").click()
    expect(row).to_contain_text("Available", timeout=READY_MS)  # it is live
    expect(row).to_contain_text("10 GiB")

    ask(page, "Attach", "checkpoints")
    choose(page, dialog, "Cluster", "bert")
    assert violations(page) == []
    dialog.get_by_role("button", name="Attach", exact=True).click()
    expect(row).to_contain_text("/volumes/checkpoints", timeout=READY_MS)
    expect(row.get_by_role("link", name="bert")).to_have_attribute("href", f"/p/demo/clusters/{cluster['id']}")
    overview = signed_in(system, open_page, f"/clusters/{cluster['id']}")
    expect(overview.locator("dt:has-text('Volumes') + dd")).to_contain_text("/volumes/checkpoints")
    assert violations(overview) == []
    ask(page, "Grow", "checkpoints")
    dialog.get_by_label("Size in GiB").fill("5")
    expect(dialog.get_by_role("button", name="Grow", exact=True)).to_be_disabled()
    dialog.get_by_label("Size in GiB").fill("25")
    dialog.get_by_role("button", name="Grow", exact=True).click()
    expect(row).to_contain_text("25 GiB", timeout=READY_MS)
    expect(row).to_contain_text("Attached", timeout=READY_MS)
    inspect(page, "volumes")

    german = signed_in(system, open_page, "/volumes", locale="de-DE", color_scheme="dark")
    expect(german.get_by_role("row").filter(has_text="checkpoints")).to_contain_text("Angehängt")
    german.set_viewport_size({"width": 400, "height": 900})
    fits(german)
    assert violations(german) == []
    ask(page, "Detach", "checkpoints")
    dialog.get_by_role("button", name="Detach", exact=True).click()
    expect(row).to_contain_text("Available", timeout=READY_MS)
    ask(page, "Delete", "checkpoints")
    expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    dialog.get_by_label("Enter checkpoints to confirm").fill("checkpoints")
    screenshot(page, "volume-delete")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(german.get_by_role("row").filter(has_text="checkpoints")).to_have_count(0, timeout=READY_MS)  # it is live


def test_a_snapshot_is_taken_becomes_a_volume_and_is_deleted(system: Up, open_page: Callable[..., Page]) -> None:
    origin = ("volumes", "create", "origin", "--region", "luxembourg-2", "--size", "10")
    system.ipucloud.json(*origin, **system.environment)
    page = signed_in(system, open_page, "/volumes")
    row = page.get_by_role("row").filter(has_text="origin")
    dialog = page.get_by_role("dialog")
    expect(row).to_contain_text("Available", timeout=READY_MS)
    ask(page, "Take snapshot", "origin")
    expect(dialog.get_by_text(re.compile("for 30 days at the present price"))).to_be_visible()
    dialog.get_by_label("Name").fill("before-tuning")
    inspect(page, "snapshot-take")
    dialog.get_by_role("button", name="Take snapshot", exact=True).click()
    page.get_by_role("tab", name="Snapshots").click()
    snapshot = page.get_by_role("table", name="Snapshots").get_by_role("row").filter(has_text="before-tuning")
    expect(snapshot).to_contain_text("Available", timeout=READY_MS)  # it is live
    expect(snapshot).to_contain_text("origin")
    expect(snapshot).to_contain_text("10 GiB")
    inspect(page, "snapshots")

    page.get_by_role("button", name="Take snapshot").click()
    choose(page, dialog, "Copy of", "origin")
    dialog.get_by_label("Name").fill("before-tuning")
    dialog.get_by_role("button", name="Take snapshot", exact=True).click()
    expect(dialog.get_by_text("Request id:")).to_be_visible()  # the name is taken
    dialog.get_by_role("button", name="Cancel").click()

    ask(page, "Create volume from it", "before-tuning")
    dialog.get_by_label("Name").fill("tuned")
    dialog.get_by_label("Size in GiB").fill("5")
    expect(dialog.get_by_role("button", name="Create volume", exact=True)).to_be_disabled()
    dialog.get_by_label("Size in GiB").fill("20")
    assert violations(page) == []
    dialog.get_by_role("button", name="Create volume", exact=True).click()
    page.get_by_role("tab", name="Volumes").click()
    volume_row = page.get_by_role("table", name="Volumes").get_by_role("row").filter(has_text="tuned")
    expect(volume_row).to_contain_text("Available", timeout=READY_MS)
    expect(volume_row).to_contain_text("20 GiB")
    system.ipucloud.json("volumes", "create", "copied", "--snapshot", "before-tuning", **system.environment)
    copied = page.get_by_role("table", name="Volumes").get_by_role("row").filter(has_text="copied")
    expect(copied).to_contain_text("Available", timeout=READY_MS)
    expect(copied).to_contain_text("10 GiB")  # as the snapshot has
    expect(copied).to_contain_text("From snapshot before-tuning")

    german = signed_in(system, open_page, "/volumes/snapshots", locale="de-DE", color_scheme="dark")
    expect(german.get_by_role("row").filter(has_text="before-tuning")).to_contain_text("Verfügbar")
    german.set_viewport_size({"width": 400, "height": 900})
    fits(german)
    assert violations(german) == []
    page.get_by_role("tab", name="Snapshots").click()
    ask(page, "Rename", "before-tuning")
    dialog.get_by_label("Name").fill("release-1")
    dialog.get_by_role("button", name="Rename", exact=True).click()
    expect(german.get_by_role("row").filter(has_text="release-1")).to_be_visible(timeout=READY_MS)  # it is live
    ask(page, "Delete", "release-1")
    expect(dialog.get_by_text(re.compile("It costs .* for 30 days"))).to_be_visible()
    expect(dialog.get_by_role("button", name="Delete", exact=True)).to_be_disabled()
    dialog.get_by_label("Enter release-1 to confirm").fill("release-1")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(german.get_by_role("row").filter(has_text="release-1")).to_have_count(0, timeout=READY_MS)
    for volume in ("origin", "tuned", "copied"):  # they stay when the snapshot is deleted
        system.ipucloud.json("volumes", "delete", volume, "--yes", **system.environment)


def test_a_snapshot_of_a_server_is_the_image_of_a_new_cluster(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, f"/clusters/{cluster['id']}")
    dialog = page.get_by_role("dialog")
    page.get_by_role("button", name="Take snapshot").click()
    expect(dialog.get_by_text(re.compile("per GiB for 30 days at the present price"))).to_be_visible()
    dialog.get_by_label("Name").fill("bert-ready")
    inspect(page, "snapshot-of-server")
    dialog.get_by_role("button", name="Take snapshot", exact=True).click()
    expect(dialog).to_have_count(0)

    table = signed_in(system, open_page, "/volumes/snapshots")
    snapshot = table.get_by_role("row").filter(has_text="bert-ready")
    expect(snapshot).to_contain_text("Available", timeout=READY_MS)  # it is live
    expect(snapshot).to_contain_text("1 GiB")
    expect(snapshot.get_by_role("link", name="bert")).to_have_attribute("href", f"/p/demo/clusters/{cluster['id']}")
    assert violations(table) == []
    ask(table, "Create cluster from it", "bert-ready")
    table.wait_for_url(re.compile(r"/clusters/create\?region=luxembourg-2&image=bert-ready$"))
    table.get_by_text(re.compile("^m2000-pod4:")).click()
    table.get_by_role("button", name="Next").click()
    image = table.get_by_role("button", name=re.compile("^Image"))
    expect(image).to_contain_text("bert-ready")
    image.click()
    expect(table.get_by_text("Your snapshots", exact=True)).to_be_visible()
    inspect(table, "create-from-snapshot")

    page.get_by_role("button", name="Restart").click()
    page.get_by_role("menuitem", name="Rebuild…").click()
    dialog.get_by_role("button", name="Image, SSH keys and user data").click()
    choose(page, dialog, "Image (?!, SSH)", "bert-ready")
    expect(dialog.get_by_role("button", name=re.compile("^Image (?!, SSH)"))).to_contain_text("bert-ready")
    assert violations(page) == []
    dialog.get_by_role("button", name="Cancel").click()
    system.ipucloud.json("snapshots", "delete", "bert-ready", "--yes", **system.environment)
