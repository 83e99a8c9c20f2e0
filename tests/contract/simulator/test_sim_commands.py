"""`ipucloud sim`: faults of a simulated site by name, and answers to names that do not exist."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from ipucloud.cli.main import cli
from ipucloud.cli.service.connections import CONNECTIONS
from ipucloud.cli.service.sim import OF_CALLS, OF_HARDWARE
from ipucloud.cli.service.simulated_site import CALLS
from ipucloud.laboratory.simulator.http import addresses as site_addresses
from ipucloud.laboratory.simulator.http import app as site_app
from ipucloud.laboratory.simulator.http import storage as site_storage
from ipucloud.wire.faults import FaultAction
from tests.support.site import RunningSite, running_site

PAGE = (Path(__file__).parents[3] / "docs" / "simulator.md").read_text()
MACHINE = "p001-m07"


@dataclass(frozen=True)
class Ended:
    status: int
    out: str
    err: str


Run = Callable[..., Ended]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), machines=16) as running:
        yield running


@pytest.fixture
def run(
    site: RunningSite, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Run `ipucloud sim`, which finds the site by the data directory of a running `up`; all is well afterwards."""
    connections = {"database_url": "postgresql://unused", "site_url": site.url, "site_token": site.token}
    (tmp_path / CONNECTIONS).write_text(json.dumps(connections))
    monkeypatch.setenv("IPUCLOUD_DATA_DIR", str(tmp_path))

    def run(*arguments: str) -> Ended:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli(["sim", *arguments], prog_name="ipucloud")
        return Ended(int(ended.value.code or 0), *capfd.readouterr())

    yield run
    assert run("clear", "--repair").status == 0


def shown(run: Run) -> Any:
    return json.loads(run("show", "--json").out)


def test_a_machine_breaks_and_is_repaired_by_a_part_of_its_name(run: Run) -> None:
    ended = run("fail-machine", MACHINE)
    assert ended.status == 1  # both regions have one
    assert "2 machines end with p001-m07" in ended.err
    whole = re.findall(r"[\w-]+-p001-m07", ended.err)[0]
    ended = run("fail-machine", whole)
    assert ended.status == 0
    assert f"ipucloud sim repair-machine {whole}" in ended.out
    assert shown(run)["machines"] == [whole]
    assert run("repair-machine", whole).status == 0
    assert shown(run)["machines"] == []


def test_an_unknown_machine_is_answered_with_the_nearest(run: Run, site: RunningSite) -> None:
    known = [machine.name for machine in site.region().pods[0].machines]
    ended = run("fail-machine", known[0] + "x")
    assert ended.status == 1
    assert f"There is no machine {known[0]}x. Nearest first: {known[0]}, " in ended.err
    assert shown(run)["machines"] == []


def test_a_host_breaks_and_clear_repairs_it(run: Run, site: RunningSite) -> None:
    host = site.region().hosts[0].name
    assert run("fail-host", host).status == 0
    assert shown(run)["hosts"] == [host]
    assert run("clear").status == 0
    assert shown(run)["hosts"] == [host]
    assert run("clear", "--repair").status == 0
    assert shown(run)["hosts"] == []


def test_a_machine_can_break_later_and_for_a_time(run: Run, site: RunningSite) -> None:
    name = site.region().pods[0].machines[0].name
    assert run("fail-machine", name, "--after", "3600", "--for", "60").status == 0
    assert [(rule["call"], rule["machine"]) for rule in shown(run)["faults"]] == [("clock", name)]
    assert "fail-machine" in run("show").out


def test_links_break_are_listed_and_clear_repairs_them(run: Run, site: RunningSite) -> None:
    name, other = (machine.name for machine in site.region().pods[0].machines[:2])
    assert run("fail-link", name, "next", "--degraded").status == 0
    assert run("fail-link", other, "internal").status == 0
    assert shown(run)["links"] == [
        {"machine": name, "kind": "next", "state": "degraded"},
        {"machine": other, "kind": "internal", "state": "down"},
    ]
    assert f"{name}/next (degraded), {other}/internal (down)" in run("show").out
    assert run("repair-link", name, "next").status == 0
    assert run("clear").status == 0
    assert [each["machine"] for each in shown(run)["links"]] == [other]
    site.restart()
    assert run("clear", "--repair").status == 0
    assert shown(run)["links"] == []


def test_clear_repairs_what_does_not_show_as_broken(run: Run, site: RunningSite) -> None:
    hangs, warm, hidden = (machine.name for machine in site.region().pods[0].machines[:3])
    host = site.region().hosts[0].name
    assert site.http().post(f"/v1/machines/{hangs}:hang").is_success
    assert run("set-sensor", warm, "die_temperature", "41").status == 0  # within its limits
    assert run("fail-machine", hidden).status == run("hide", hidden).status == 0
    assert run("fail-host", host).status == run("hide", host).status == 0
    faults = shown(run)
    assert (sorted(faults["machines"]), faults["hosts"]) == (sorted([hangs, warm, hidden]), [host])
    assert run("clear", "--repair").status == 0
    faults = shown(run)
    assert faults["machines"] == faults["hosts"] == faults["links"] == faults["changed"] == []
    health = site.http().get(f"/redfish/v1/Systems/{hidden}").json()["Status"]["Health"]
    assert health == "OK"


def test_hardware_shows_what_it_was_not_built_with(run: Run, site: RunningSite) -> None:
    first, second = (machine.name for machine in site.region().pods[0].machines[:2])

    def system(name: str) -> Any:
        return site.http().get(f"/redfish/v1/Systems/{name}").json()

    def listed() -> set[str]:
        page = site.http().get("/redfish/v1/Systems", params={"region": "luxembourg-2"}).json()
        return {each["Id"] for each in page["Members"]}

    built = system(first)
    assert "GC-NEW" in run("exchange", first, "--serial", "GC-NEW").out
    assert "ipu-2 of" in run("exchange", first, "--part", "ipu-2", "--serial", "P-NEW").out
    assert run("exchange", first, "--part", "ipu-4").status == 1
    assert run("show-as", first, "--model", "Bow-2000", "--firmware", "2.7.0").status == 0
    now = system(first)
    assert (now["SerialNumber"], now["Model"], now["BiosVersion"]) == ("GC-NEW", "Bow-2000", "2.7.0")
    assert now["Serials"] == built["Serials"] | {"ipu-2": "P-NEW"}
    assert run("show-as", first).status == 1
    assert run("swap-machines", first, second).status == 0
    places = {each["name"]: (each["pod"], each["slot"]) for each in shown(run)["changed"]}
    assert places == {first: ("lux2-p001", 1), second: ("lux2-p001", 0)}
    assert run("hide", second).status == 0
    assert run("add-machine", "luxembourg-2", "lux2-x001").status == 0
    assert listed() == {m.name for m in site.region().pods[0].machines} - {second} | {"lux2-x001"}
    assert run("add-machine", "luxembourg-2", first).status == 1
    assert run("exchange", "lux2-h001", "--serial", "7KQ2X93").status == 0
    [host] = [h for h in site.http().get("/v1/hosts").json()["hosts"] if h["name"] == "lux2-h001"]
    assert host["serial_number"] == "7KQ2X93"
    site.restart()
    assert system(first) == now
    assert run("as-built", first, second, "lux2-x001", "lux2-h001").status == 0
    assert (system(first), shown(run)["changed"]) == (built, [])
    assert run("as-built", first).status == 1


@pytest.mark.parametrize("kind", OF_CALLS, ids=lambda kind: kind.command)
def test_every_fault_of_calls_can_be_injected_and_ended(run: Run, kind: Any) -> None:
    call = [] if kind.call else ["hosts.put_server"]
    ended = run(kind.command, *call, "--times", "2", "--after", "3600")
    assert ended.status == 0, ended.err
    [rule] = shown(run)["faults"]
    assert (rule["action"], rule["times"]) == (kind.action, 2)
    assert run("clear", rule["id"]).status == 0
    assert shown(run)["faults"] == []


def test_a_fault_meets_its_calls(run: Run, site: RunningSite) -> None:
    assert run("refuse", "networks.list", "--times", "1").status == 0
    with httpx.Client(base_url=site.url, headers={"Authorization": f"Bearer {site.token}"}) as caller:
        assert [caller.get("/v1/networks").status_code for _ in range(2)] == [503, 200]
    assert shown(run)["faults"][0]["hits"] == 1


def test_an_unknown_call_is_refused_with_the_nearest(run: Run) -> None:
    ended = run("slow", "host.get", "--seconds", "1")
    assert ended.status == 1
    assert "There is no call host.get. Nearest first: hosts.get" in ended.err
    assert shown(run)["faults"] == []


def test_without_a_running_system_it_says_where_it_looked(run: Run, tmp_path: Path, monkeypatch: Any) -> None:
    with monkeypatch.context() as elsewhere:
        elsewhere.setenv("IPUCLOUD_DATA_DIR", str(tmp_path / "nothing"))
        ended = run("show")
    assert ended.status == 1
    assert str(tmp_path / "nothing") in ended.err


def test_every_action_has_a_command_and_the_page_every_command(run: Run) -> None:
    commands = {kind.action for kind in OF_CALLS} | {action for _, action, _ in OF_HARDWARE if action}
    assert commands == set(FaultAction)
    listed = json.loads(run("faults", "--json").out)
    assert [each["name"] for each in listed["faults"] if f"ipucloud sim {each['name']}" not in PAGE] == []


def test_the_calls_are_those_of_the_site() -> None:
    source = "".join(inspect.getsource(each) for each in (site_app, site_storage, site_addresses))
    names = set(re.findall(r'calls\.route\(\s*"\w+",\s*[^,]+,\s*"([\w.]+)"', source))
    unharmed = {
        name for name in names if name.split(".")[0] in {"faults", "machines", "links", "controllers", "hardware"}
    }
    unharmed |= {"hosts.fail", "hosts.repair", "sensors.put"}
    called = {name for name in CALLS if name.split(".")[0] not in {"vipu", "admin"}}
    assert called == (names - unharmed) | {"redfish.member", "agents.answer", "ssh.connect"}
    assert "vipu.CreatePartition" in CALLS


def test_the_bodies_of_the_page_are_accepted(site: RunningSite, run: Run) -> None:
    bodies = [json.loads(body) for body in re.findall(r"^```json\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)]
    name = site.region().pods[0].machines[0].name
    with httpx.Client(base_url=site.url, headers={"Authorization": f"Bearer {site.token}"}) as caller:
        for body in bodies:
            machine = {"machine": name} if body.get("machine") else {}
            answer = caller.post("/v1/faults", json=body | machine)
            assert answer.status_code == 201, answer.text
            assert {field: answer.json()[field] for field in body} == body | machine
    assert len(shown(run)["faults"]) == len(bodies) > 1
    assert run("clear").status == 0
