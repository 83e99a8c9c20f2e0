"""Servers with IPUs of their own: hosts and machines at once, whose devices `gc-info` shows without V-IPU."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from ipucloud.laboratory.simulator.hardware import SERVERS, Machine, ServerPlan
from ipucloud.laboratory.simulator.ssh.devices import device_groups, of_server
from ipucloud.wire.site import Host, HostState
from tests.contract.simulator.outcomes import output
from tests.support.machine import Need, needs
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.site import RunningSite, running_site
from tests.support.waiting import eventually

LABORATORY = "lab-1"
C600, DSS8440 = SERVERS
needs_ssh = needs(Need.OPENSSH)


def machine_of(plan: ServerPlan) -> Machine:
    return Machine(f"{plan.short}001", plan, "", f"{plan.short}001", 0, 0, "10.6.0.1", (0, 1, 2, 3))


def test_cards_are_singles_pairs_quads_and_the_whole_of_those_that_are_opened() -> None:
    devices = of_server(machine_of(C600), C600, 8)
    assert devices.ids == range(15)
    assert [list(devices.members(n)) for n in (7, 8, 11, 12, 13, 14)] == [
        [7],
        [0, 1],
        [6, 7],
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        list(range(8)),
    ]
    devices = of_server(machine_of(C600), C600, 2)
    assert devices.ids == range(3)


def test_a_dss8440_has_the_published_devices() -> None:
    """Device 25 is IPUs 0 to 3, as the vendor's pages on C2 say."""
    devices = of_server(machine_of(DSS8440), DSS8440, 16)
    assert devices.ids == range(31)
    assert [list(devices.members(n)) for n in (16, 19, 23, 25, 28)] == [
        [5, 7],
        [2, 0],
        [10, 8],
        [3, 1, 2, 0],
        [5, 7, 4, 6, 3, 1, 2, 0],
    ]
    assert sorted(devices.members(30)) == list(range(16))
    shown = devices.ipus[4].attributes
    assert (shown["firmware version"], shown["clock"], shown["pci id"]) == ("1.4.14", "1300MHz", "0000:3d:00.0")
    boards = [ipu.attributes["board serial number"] for ipu in devices.ipus]
    assert [boards.count(board) for board in dict.fromkeys(boards)] == [2] * 8


SAMPLES = {
    "C600": {
        "clock": "20MHz",
        "ipu architecture": "ipu21",
        "hexoatt total size (bytes)": "16911433728",
        "hexopt total size (bytes)": "268435456",
        "parity error count threshold": "4",
        "numa node": "0",
        "pci id": "0000:35:00.0",
        "link speed": "16.0 GT/s",
        "link width": "8",
    },
    "C2": {
        "clock": "1300MHz",
        "ipu architecture": "ipu1",
        "firmware version": "1.4.14",
        "hexopt total size (bytes)": "134217728",
        "link speed": "8 GT/s",
        "link width": "8",
    },
}
"""Of the vendor's samples of cards: what the first IPU of each shows."""


@pytest.mark.parametrize(("plan", "ipus"), [(C600, 8), (DSS8440, 16)])
def test_cards_show_the_attributes_of_their_published_samples(plan: ServerPlan, ipus: int) -> None:
    shown = of_server(machine_of(plan), plan, ipus).ipus[0].attributes
    sample = {"board type": plan.board, "ipu error state": "no errors", **SAMPLES[plan.board]}
    assert {name: shown.get(name) for name in sample} == sample
    assert float(shown["total board power"].removesuffix(" W")) > 0


@pytest.mark.parametrize("count", [1, 2, 4, 8, 16, 64])
def test_n_ipus_give_2n_minus_1_devices(count: int) -> None:
    assert count + len(device_groups(range(count))) == 2 * count - 1


@dataclass
class Server:
    """A server of the laboratory with a customer on it."""

    site: RunningSite
    name: str
    ipus: int

    def put(self, keys: Sequence[str]) -> httpx.Response:
        http = self.site.http()
        spec = {"region": LABORATORY, "machines": [], "hosts": [self.name]}
        http.put(f"/v1/networks/of-{self.name}", json=spec).raise_for_status()
        server = {
            "name": f"{self.name}-p0",
            "image": "ubuntu-20.04-x64-poplar-1.18.0-3.0.0",
            "ssh_authorized_keys": list(keys),
            "environment": {"POPLAR_TARGET_OPTIONS": '{"ipuLinkTopology":"line"}'},
            "network": f"of-{self.name}",
            "ipus": self.ipus,
        }
        return http.put(f"/v1/hosts/{self.name}/server", json=server)

    def observe(self) -> Host:
        return Host.model_validate(self.site.http().get(f"/v1/hosts/{self.name}").raise_for_status().json())

    def power(self) -> str:
        system = self.site.http().get(f"/redfish/v1/Systems/{self.name}").raise_for_status().json()
        return str(system["PowerState"])

    def login(self, key: KeyPair, folder: Path) -> OpenSsh:
        eventually(lambda: self.observe().state is HostState.RUNNING, f"{self.name} runs")
        ssh = self.observe().ssh
        assert ssh is not None
        return OpenSsh(ssh, key, folder / f"known_{self.name}")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("laboratory"), options=["--servers", "3", "--machines", "1"]) as site:
        yield site


@pytest.fixture(scope="module")
def c600(site: RunningSite, key: KeyPair) -> Server:
    server = Server(site, "lab1-c001", 8)
    server.put([key.public_line]).raise_for_status()
    return server


@pytest.fixture(scope="module")
def login(c600: Server, key: KeyPair, tmp_path_factory: pytest.TempPathFactory) -> OpenSsh:
    return c600.login(key, tmp_path_factory.mktemp("known"))


def test_a_server_counts_its_own_cards_and_is_on_while_it_has_an_image(c600: Server) -> None:
    eventually(lambda: c600.observe().ipus_visible == 8, "the cards are counted")
    assert c600.power() == "On"


@needs_ssh
def test_gc_info_lists_the_cards_and_every_group_of_them(login: OpenSsh) -> None:
    listing = output(login, "gc-info -l")
    assert re.findall(r"^-\+- Id: \[(\d+)\], target: \[PCIe\]", listing, re.MULTILINE) == [str(n) for n in range(8)]
    groups = re.findall(r"^-\+- Id: \[(\d+)\], target: \[Multi IPU\]", listing, re.MULTILINE)
    assert groups == [str(n) for n in range(8, 15)]
    assert "Partition:" not in listing


@needs_ssh
def test_the_tools_show_what_the_cards_are(login: OpenSsh) -> None:
    info = output(login, "gc-info -d 3 --device-info")
    assert info.startswith("Device Info:\n  id: 3\n  target: PCIe\n")
    assert "  board type: C600\n" in info
    assert "  ipu architecture: ipu21\n" in info
    assert "  clock: 20MHz\n" in info
    assert output(login, "gc-info -a").count("Device Info:") == 8
    assert output(login, "gc-inventory | grep 'pci id:'").count("0000:") == 8
    assert "num ipus: 4" in output(login, "gc-info -i -d 12")
    assert output(login, "gc-info --ipu-arch") == "ipu21\n"
    monitor = output(login, "gc-monitor")
    assert "|  gc-monitor   |" in monitor
    assert "C600" not in output(login, "gc-monitor --no-card-info")
    assert [device["id"] for device in json.loads(output(login, "gc-monitor --json"))["devices"]] == list("01234567")


@needs_ssh
def test_there_is_no_controller_to_ask(login: OpenSsh) -> None:
    done = login.ssh("vipu -H 127.0.0.1 list partitions")
    assert (done.returncode, done.stderr) == (
        1,
        b"list partitions: failed: this server has IPUs of its own, and no V-IPU controller.\n",
    )
    assert output(login, "echo $POPLAR_TARGET_OPTIONS") == '{"ipuLinkTopology":"line"}\n'


@needs_ssh
def test_a_dss8440_shows_thirty_one_devices(site: RunningSite, key: KeyPair, tmp_path: Path) -> None:
    server = Server(site, "lab1-d001", 16)
    server.put([key.public_line]).raise_for_status()
    listing = output(server.login(key, tmp_path), "gc-info -l")
    assert listing.count("-+- Id:") == 31
    assert "-+- Id: [30], target: [Multi IPU]" in listing


def test_a_server_has_no_more_ipus_than_it_has(site: RunningSite, key: KeyPair) -> None:
    answer = Server(site, "lab1-c002", 9).put([key.public_line])
    assert (answer.status_code, answer.json()["detail"]) == (422, "host 'lab1-c002' has 8 IPUs of its own, not 9")


def test_a_wiped_server_is_off_and_its_power_is_its_hosts(site: RunningSite, key: KeyPair) -> None:
    server = Server(site, "lab1-c003", 1)
    assert server.power() == "Off"
    server.put([key.public_line]).raise_for_status()
    eventually(lambda: server.observe().ipus_visible == 1, "the card is counted")
    reset = f"/redfish/v1/Systems/{server.name}/Actions/ComputerSystem.Reset"
    refused = site.http().post(reset, json={"ResetType": "ForceOff"})
    assert (refused.status_code, "power actions of its host" in refused.json()["detail"]) == (409, True)
    site.http().delete(f"/v1/hosts/{server.name}/server", params={"name": f"{server.name}-p0"}).raise_for_status()
    eventually(lambda: server.observe().state is HostState.CLEAN, "the server is clean")
    assert server.power() == "Off"


def test_cards_that_fail_are_not_counted(site: RunningSite, key: KeyPair) -> None:
    server = Server(site, "lab1-d002", 16)
    server.put([key.public_line]).raise_for_status()
    eventually(lambda: server.observe().ipus_visible == 16, "the cards are counted")
    site.http().post(f"/v1/machines/{server.name}:fail").raise_for_status()
    assert (server.observe().ipus_visible, server.observe().detail) == (
        None,
        "the IPU cards of this server do not answer",
    )
