"""The picture of large clusters, and what a page does whose connection is lost.

`test_cluster` has these tests among its own, so that they share its `ipucloud up`. The topologies of large clusters are
answers of the API's shape: simulating 64 machines would show the browser nothing else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import urlsplit

from playwright.sync_api import Page, Route, expect

from tests.panel.conftest import arrived, fits, public_key, signed_in, violations
from tests.support.faultproxy import proxy
from tests.support.processes import Up

RACK, IPUS = 16, 4
"""Machines of a rack, and IPUs of a machine."""
SEEN = "2026-05-04T13:10:00Z"
DEAD = {"code": "bmc_critical", "credited": True, "kind": "machine", "name": "m003", "since": SEEN}
DEAD["message"] = "The machine has failed."


def topology(ipus: int) -> dict[str, Any]:
    """A cluster of full racks in a torus, with two partitions, a dead machine, and a link that is down."""
    count = ipus // IPUS
    names = [f"m{index:03}" for index in range(count)]
    half = count // 2
    machines: list[dict[str, Any]] = [
        {
            "name": name,
            "rack": f"r{index // RACK}",
            "slot": index % RACK + 1,
            "health": "failed" if index == 3 else "ok",
            "faults": [DEAD] if index == 3 else [],
            "observed_at": SEEN,
            "ipus": [{"ipu": ipu, "partition": "training" if index < half else "serving"} for ipu in range(IPUS)],
        }
        for index, name in enumerate(names)
    ]
    machines[-1]["ipus"] = [{"ipu": ipu, "partition": None} for ipu in range(IPUS)]
    ends = [(index, index + 1 if (index + 1) % RACK else index + 1 - RACK) for index in range(count)]
    links = [{"kind": "ipu-link", "ends": [names[one], names[other]], "state": "up"} for one, other in ends]
    links += [
        {"kind": "gw-link", "ends": [names[index], names[index + RACK]], "state": "up"} for index in range(count - RACK)
    ]
    links[5]["state"] = "down"
    partitions = [
        {"partition_id": name, "name": name, "ipus": half * IPUS, "origin": "customer", "state": "active"}
        for name in ("training", "serving")
    ]
    return {
        "observed_at": SEEN,
        "racks": [{"name": f"r{number}"} for number in range((count + RACK - 1) // RACK)],
        "machines": machines,
        "links": [{**link, "observed_at": SEEN} for link in links],
        "partitions": partitions,
        "free_ipus": IPUS,
        "largest_partition": IPUS,
        "partition_sizes": [],
    }


def test_large_clusters_are_drawn_and_used_by_keyboard(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    page = signed_in(system, open_page, "/clusters")
    for ipus in (64, 128, 256):
        page.route("**/topology", partial(_answer, topology(ipus)))
        page.goto(f"/clusters/{cluster['id']}?tab=topology")
        _is_drawn(page, ipus)
    assert violations(page) == []
    page.evaluate("document.body.classList.toggle('awsui-dark-mode')")
    assert violations(page, "color-contrast") == []
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page)  # the picture scrolls, not the page


def _answer(document: dict[str, Any], route: Route) -> None:
    route.fulfill(json=document)


def _is_drawn(page: Page, ipus: int) -> None:
    machines = page.locator("[data-machine]")
    expect(machines).to_have_count(ipus // IPUS)
    expect(page.locator(".topology-rack")).to_have_count(ipus // IPUS // RACK)
    assert page.locator("[data-machine][tabindex='0']").count() == 1  # the only stop for Tab
    machines.nth(0).press("ArrowUp")
    expect(machines.nth(1)).to_be_focused()
    for _ in range(RACK - 1):
        page.keyboard.press("ArrowRight")
    across = machines.nth(RACK if ipus > RACK * IPUS else RACK - 1)  # to the next rack, or to the end of the only one
    expect(across).to_be_focused()
    page.keyboard.press("Enter")
    expect(across).to_have_attribute("aria-pressed", "true")
    expect(machines.nth(0)).to_have_attribute("aria-label", re.compile("training"))
    expect(page.locator(".topology-ipu.is-partition-0")).to_have_count(ipus // 2)
    expect(page.locator(".topology-ipu.is-partition-1")).to_have_count(ipus // 2 - IPUS)
    expect(page.locator(".topology-ipu.is-free")).to_have_count(IPUS)
    expect(page.locator(".topology-link.is-down")).to_have_count(1)
    expect(page.get_by_text("The link between m005 and m006 is not up.")).to_be_visible()
    dead = page.locator(".topology-machine.is-failed")
    expect(dead).to_have_attribute("aria-label", re.compile("^m003.*Failed"))
    dead.click()
    expect(page.get_by_text("The machine has failed.")).to_be_visible()
    expect(page.get_by_role("table", name="Machines").get_by_role("row")).to_have_count(ipus // IPUS + 1)


def test_the_rack_lights_up_machine_by_machine_while_a_cluster_is_created(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    """Each reading of the API's has one machine more that was observed, as at a site that takes its time."""
    page = signed_in(system, open_page, "/clusters")
    lit = 0

    def partly(route: Route) -> None:
        nonlocal lit
        document = topology(64)
        for index, machine in enumerate(document["machines"]):
            if index >= lit:
                machine.update(health="unknown", faults=[], observed_at=None)
                machine["ipus"] = [{**ipu, "partition": None} for ipu in machine["ipus"]]
        lit += 1
        route.fulfill(json=document)

    def creating(route: Route) -> None:
        answer = route.fetch()
        working = {"id": cluster["id"], "kind": "cluster.create", "state": "running", "done": False, "progress": 40}
        body = answer.json()
        operation = {**(body["operation"] or {}), **working, "stage": "partition", "expected_at": None}
        route.fulfill(response=answer, json={**body, "state": "creating", "operation": operation})

    page.route("**/topology", partly)
    page.route(re.compile(rf"/clusters/{cluster['id']}$"), creating)
    page.goto(f"/clusters/{cluster['id']}?tab=topology")
    expect(page.locator("[data-machine]")).to_have_count(16)
    lights = page.locator(".topology-machine.is-ok")
    for count in (1, 2, 3):  # it is read again while the operation runs
        expect(lights).to_have_count(count)
        expect(page.locator(".topology-ipu.is-partition-0")).to_have_count(count * IPUS)


def test_a_lost_connection_is_told_and_made_again(
    system: Up, cluster: dict[str, Any], open_page: Callable[..., Page]
) -> None:
    address = urlsplit(system.facts["url"])
    with proxy((str(address.hostname), int(address.port or 80))) as line:
        page = arrived(system, open_page, "/ssh-keys", system.facts["token"], base=f"http://127.0.0.1:{line.port}")
        live = page.get_by_role("button", name=re.compile("^Live"))
        expect(live).to_be_visible()
        line.refuse = True
        line.cut()
        expect(page.get_by_role("button", name=re.compile("^Disconnected"))).to_be_visible()
        key = system.data / "meanwhile.pub"
        key.write_text(public_key())
        system.ipucloud.json("ssh-keys", "add", "meanwhile", str(key), **system.environment)
        expect(page.get_by_role("row").filter(has_text="meanwhile")).to_have_count(0)
        line.refuse = False
        expect(live).to_be_visible()
        expect(page.get_by_role("row").filter(has_text="meanwhile")).to_be_visible()  # what was missed is read
    system.ipucloud.json("ssh-keys", "delete", "meanwhile", **system.environment)
