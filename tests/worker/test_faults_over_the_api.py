"""What customers read of hardware that fails in use: each fault is made at the site, observed, and read over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from ipucloud.wire.faults import FaultAction
from tests.api.support import Api, running
from tests.support.postgres import TestServer
from tests.support.site import RunningSite
from tests.support.waiting import until
from tests.support.world import SiteWorld, open_site_world
from tests.support.world.clock import shift_clock, start_clock
from tests.worker.test_observation import observe

pytestmark = pytest.mark.anyio

SITE = {"machines": 16}

GOOD_AGAIN = 3
"""Good readings after which a report ends."""


@dataclass
class RunningCluster:
    """A cluster in use, built by a worker that has stopped; each test observes, and leaves everything good.

    `behind`: how far the database's clock is behind the time.
    """

    world: SiteWorld
    api: Api
    owner_url: str
    id: UUID
    machine: str
    host: str
    name: str
    behind: timedelta

    def wait(self, time: timedelta) -> None:
        """Let the database's clock go on by as much at once."""
        self.behind -= time
        assert self.behind > timedelta()
        shift_clock(self.owner_url, f"-{self.behind.total_seconds()} seconds")

    async def read(self) -> dict[str, Any]:
        """The cluster, as its owner reads it."""
        answer = await self.api.owner.get(f"{self.api.base}/clusters/{self.id}")
        document: dict[str, Any] = answer.raise_for_status().json()
        return document

    async def observe(self, times: int) -> dict[str, Any]:
        """The cluster after so many readings."""
        for _ in range(times):
            await observe(self.world)
        return await self.read()

    async def good_again(self) -> None:
        document = await self.observe(GOOD_AGAIN)
        assert (document["state"], document["faults"], document["state_reason"]) == ("active", [], None)
        assert document["billing"]["credited_machines"] == 0
        assert {each["health"] for each in (*document["machines"], *document["poplar_servers"])} == {"ok"}

    def reset_machine(self, how: str) -> None:
        path = f"/redfish/v1/Systems/{self.machine}/Actions/ComputerSystem.Reset"
        self.world.http.post(path, json={"ResetType": how}).raise_for_status()

    def switch_server(self, action: str) -> None:
        body = {"action": action, "server": f"{self.name}-p0"}
        self.world.http.post(f"/v1/hosts/{self.host}/power", json=body).raise_for_status()

    async def server_is(self, state: str) -> None:
        async def is_so() -> bool:
            return bool(self.world.http.get(f"/v1/hosts/{self.host}").json()["state"] == state)

        await until(is_so, f"the server is {state}")

    def silence(self, call: str, target: str) -> None:
        self.world.fault(call=call, target=target, action=FaultAction.STATUS)


@pytest.fixture(scope="module")
async def used(postgres: TestServer, site: RunningSite) -> AsyncIterator[RunningCluster]:
    with postgres.fresh_database() as scratch:
        behind = timedelta(hours=3)
        shift_clock(scratch.owner_url, f"-{behind.total_seconds()} seconds")
        async with open_site_world(scratch, site) as world, running(world, scratch.app_url) as api:
            async with world.worker():
                cluster = await world.build()
            held = "SELECT o.name FROM {0}s o JOIN allocations a ON a.{0}_id = o.id"
            machine, host = [await world.value(held.format(kind)) for kind in ("machine", "host")]
            name = await world.external_name(cluster)
            yield RunningCluster(world, api, scratch.owner_url, cluster, machine, host, name, behind)
            start_clock(scratch.owner_url)
            async with world.worker():
                await world.delete_all()


def faults(cluster: dict[str, Any]) -> list[tuple[str, str, bool]]:
    return [(fault["kind"], fault["code"], fault["credited"]) for fault in cluster["faults"]]


def shown(cluster: dict[str, Any], what: str) -> Sequence[tuple[str, list[str]]]:
    """Health and faults of each machine or server."""
    return [(each["health"], [fault["code"] for fault in each["faults"]]) for each in cluster[what]]


CASES: dict[str, tuple[Callable[[RunningCluster], object], tuple[str, str, bool], str]] = {
    "a machine that is switched off": (
        lambda used: used.reset_machine("ForceOff"),
        ("machine", "powered_off", True),
        "{machine}",
    ),
    "a machine whose V-IPU agent is silent": (
        lambda used: used.silence("agents.answer", used.machine),
        ("machine", "agent_unreachable", True),
        "{machine}",
    ),
    "a server that its customer may have switched off": (
        lambda used: used.switch_server("off"),
        ("poplar_server", "server_off", False),
        "Minutes are billed as before.",
    ),
    "a server that does not answer on its SSH port": (
        lambda used: used.silence("ssh.connect", used.host),
        ("poplar_server", "ssh_unreachable", False),
        "Minutes are billed as before.",
    ),
}


@pytest.mark.parametrize("what", CASES)
async def test_what_fails_in_use_is_shown_and_credited_if_it_is_ours(used: RunningCluster, what: str) -> None:
    fail, (kind, code, credited), reason = CASES[what]
    fail(used)
    if code == "server_off":
        await used.server_is("off")
    assert (await used.observe(1))["state"] == "active", "one reading is no proof"
    document = await used.observe(1)
    assert (document["state"], faults(document)) == ("degraded", [(kind, code, credited)])
    assert shown(document, f"{kind}s") == [("failed" if credited else "degraded", [code])]
    assert document["billing"]["credited_machines"] == int(credited)
    assert reason.format(machine=used.machine) in document["state_reason"]
    used.world.clear_faults()
    if code == "powered_off":
        used.reset_machine("On")
    if code == "server_off":
        used.switch_server("on")
        await used.server_is("running")
    await used.good_again()


async def test_a_hot_machine_works_and_a_sensor_that_lies_is_no_evidence(used: RunningCluster) -> None:
    sensors = f"/v1/machines/{used.machine}/sensors"
    for reading, expected in ((106.0, [("degraded", ["sensor_critical"])]), (6553.5, [("ok", [])])):
        used.world.http.put(f"{sensors}/die_temperature", json={"reading": reading}).raise_for_status()
        document = await used.observe(GOOD_AGAIN)
        assert shown(document, "machines") == expected
        assert document["billing"]["credited_machines"] == 0
    live = "SELECT detail FROM health_reports WHERE code = 'sensor_warning' AND cleared_at IS NULL"
    assert await used.world.value(live) == "die_temperature 6553.5 Cel, which is not plausible"
    assert await used.world.value("SELECT bool_and(allocatable) FROM machines")
    used.world.http.post(f"/v1/machines/{used.machine}:repair").raise_for_status()
    await used.good_again()


async def test_a_server_that_presents_another_host_key(used: RunningCluster, site: RunningSite, tmp_path: Path) -> None:
    key = site.data / "hosts" / used.host / "host_key"
    kept = key.rename(tmp_path / "host_key")
    used.switch_server("reboot")  # it makes itself a new key
    await used.server_is("running")
    document = await used.observe(2)
    assert (document["state"], faults(document)) == ("degraded", [("poplar_server", "host_key_changed", False)])
    assert "do not log in" in document["faults"][0]["message"]
    kept.replace(key)
    used.switch_server("reboot")
    await used.server_is("running")
    await used.good_again()


async def test_a_machine_that_fails_again_and_again_is_not_trusted_for_an_hour(used: RunningCluster) -> None:
    for time in (1, 2, 3):
        used.wait(timedelta(minutes=10))
        used.world.http.post(f"/v1/machines/{used.machine}:fail").raise_for_status()
        assert (await used.observe(2))["state"] == "degraded"
        used.world.http.post(f"/v1/machines/{used.machine}:repair").raise_for_status()
        document = await used.observe(GOOD_AGAIN)
        assert document["state"] == ("active" if time < 3 else "degraded"), time
    used.wait(timedelta(minutes=58))
    assert faults(await used.observe(1)) == [("machine", "bmc_critical", True)]
    used.wait(timedelta(minutes=2))
    await used.good_again()


async def test_hardware_that_nobody_observed_for_a_minute_is_unknown(used: RunningCluster) -> None:
    before = await used.observe(1)
    assert before["observed_at"] is not None
    for call in ("redfish.list", "hosts.list", "admin.ListAgents"):
        used.world.fault(call=call, action=FaultAction.STATUS)
    try:
        used.wait(timedelta(seconds=61))
        document = await used.observe(2)
    finally:
        used.world.clear_faults()
    assert (document["state"], document["faults"], document["observed_at"]) == ("active", [], before["observed_at"])
    assert shown(document, "machines") == shown(document, "poplar_servers") == [("unknown", [])]
    after = await used.observe(1)
    assert shown(after, "machines") == shown(after, "poplar_servers") == [("ok", [])]
    assert after["observed_at"] > before["observed_at"]
