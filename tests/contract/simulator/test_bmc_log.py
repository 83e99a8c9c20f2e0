"""`ipucloud admin bmc-log`: what a machine's BMC has logged, read at the site."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import orjson
import pytest

from ipucloud.cli.main import cli
from tests.support.site import RunningSite, running_site

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[RunningSite]:
    with running_site(tmp_path / "site", machines=4, options=["--machines-on"]) as site:
        yield site


@pytest.fixture
def run(site: RunningSite, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """Run the command in this process; its status, and what it wrote to either stream."""
    monkeypatch.setenv("IPUCLOUD_DATABASE_URL", "postgresql://nobody@127.0.0.1:9/nothing")
    monkeypatch.setenv("IPUCLOUD_SITE_URL", site.url)
    monkeypatch.setenv("IPUCLOUD_SITE_TOKEN", site.token)

    def run(*arguments: str) -> tuple[int, str, str]:
        capfd.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli(["admin", "bmc-log", *arguments], prog_name="ipucloud")
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.mark.acceptance("BFX03-03")
def test_the_log_of_a_machines_bmc_is_shown_and_outlives_its_failure(site: RunningSite, run: Run) -> None:
    machine = site.inventory().regions[0].pods[0].machines[0].name
    assert run(machine, "--json") == (0, "[]\n", "")
    with site.http() as http:
        http.put(f"/v1/machines/{machine}/sensors/die_temperature", json={"reading": 110.0}).raise_for_status()
        http.post(f"/v1/machines/{machine}:fail").raise_for_status()
        http.post(f"/v1/machines/{machine}:repair").raise_for_status()
    site.revive()
    status, out, _ = run(machine, "--json")
    assert status == 0
    entries = orjson.loads(out)
    assert [(each["Id"], each["Severity"]) for each in entries] == [("1", "Critical"), ("2", "Critical"), ("3", "OK")]
    assert entries[0]["Message"] == "Sensor die_temperature reads 110 Cel, beyond its limit."
    status, out, _ = run(machine)
    assert status == 0
    assert "Machine check: the system does not respond." in out


def test_a_machine_that_does_not_exist_is_named(run: Run) -> None:
    status, out, err = run("m-unknown")
    assert (status, out) == (2, "")
    assert "The site has no machine 'm-unknown' whose BMC answers." in err


def test_a_site_that_does_not_answer_is_said(site: RunningSite, run: Run) -> None:
    site.kill()
    status, out, err = run("m0")
    assert (status, out) == (1, "")
    assert err.startswith("ipucloud: GET /redfish/v1/Systems/m0/LogServices/SEL/Entries: ")
