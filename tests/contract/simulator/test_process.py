"""The process itself: how it starts, refuses to start, and ends."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ipucloud.laboratory.simulator.clock import WallClock
from ipucloud.laboratory.simulator.durations import Durations
from ipucloud.laboratory.simulator.main import TOKEN_VARIABLE, main
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.simulator.site import Site, SizeMismatch, prepare_folder
from tests.support.machine import Need, needs
from tests.support.site import RunningSite, running_site
from tests.support.waiting import eventually

SECONDS = 60.0
COMMAND = (sys.executable, "-m", "ipucloud.laboratory.simulator.main", "--token", "t")


@pytest.fixture(scope="module")
def odd_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    """A site with every option that others do not use."""
    folder = tmp_path_factory.mktemp("odd")
    everywhere = ".".join("0000")
    options = ["--pod-size", "16", "--hosts", "3", "--bind", everywhere, "--advertise", "127.0.0.1"]
    with running_site(
        folder / "site", machines=40, time_scale=45, options=[*options, "--ready-file", str(folder / "ready.json")]
    ) as site:
        yield site


def test_the_ready_line_is_written_where_it_is_wanted(odd_site: RunningSite) -> None:
    ready = json.loads((odd_site.data.parent / "ready.json").read_text())
    assert (ready["ready"], ready["url"]) == (True, odd_site.url)
    assert set(ready["regions"]) == {"luxembourg-2", "amsterdam-2", "lab-1"}
    assert odd_site.url.startswith("http://127.0.0.1:"), "the advertised address"
    assert {region.vipu.host for region in odd_site.inventory().regions if region.vipu} == {"127.0.0.1"}
    assert odd_site.data.stat().st_mode & 0o067 == 0, "closed to others, but its servers' users may pass it"


def test_a_site_of_any_size_is_whole(odd_site: RunningSite) -> None:
    region = odd_site.region()
    assert [len(pod.machines) for pod in region.pods] == [16, 16, 8]
    assert [pod.topology for pod in region.pods] == ["torus", "torus", "mesh"]
    assert len(region.hosts) == 3


_CREATING = ("NETWORK", "IPU_SERVERS", "VIPU_CONTROLLER", "POPLAR_SERVERS", "POST_DEPLOY_SETUP")


def test_stages_sum_to_about_fifteen_minutes_and_follow_the_time_scale(odd_site: RunningSite) -> None:
    typical = odd_site.region().typical_seconds
    creating = sum(typical[stage] for stage in _CREATING)
    assert creating * 45 == pytest.approx(900, rel=0.1)
    assert set(Durations(0).typical_seconds().values()) == {0.0}


def test_it_keeps_its_ports_and_stops_on_request_with_status_0(odd_site: RunningSite) -> None:
    url, endpoints = odd_site.url, [region.vipu for region in odd_site.inventory().regions]
    assert odd_site.stop() == 0
    assert odd_site.log.read_text() == ""
    odd_site.start()
    assert odd_site.url == url
    assert [region.vipu for region in odd_site.inventory().regions] == endpoints


def test_two_sites_cannot_share_a_folder(odd_site: RunningSite) -> None:
    ended = started("--data", str(odd_site.data), "--machines", "40", "--hosts", "3")
    assert ended.returncode == 1
    assert "another simulated site" in json.loads(ended.stderr)["event"]


def test_it_stops_although_callers_wait(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        http = site.http()
        http.post("/v1/faults", json={"call": "*", "action": "stall"}).raise_for_status()
        with socket.create_connection((http.base_url.host, http.base_url.port or 80)) as waiting:
            request = f"GET /v1/inventory HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {site.token}\r\n\r\n"
            waiting.sendall(request.encode())
            eventually(lambda: http.get("/v1/faults").json()["faults"][0]["hits"] == 1, "the call stalls")
            assert site.stop() == 0


def test_it_wants_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(TOKEN_VARIABLE, raising=False)
    with pytest.raises(SystemExit) as caught:
        main(["--data", str(tmp_path)])
    assert caught.value.code == 2
    assert TOKEN_VARIABLE in capsys.readouterr().err


@pytest.mark.parametrize(
    "option",
    [
        *(("--time-scale", "-1"), ("--time-scale", "nan"), ("--machines", "0"), ("--pod-size", "17")),
        *(("--http-port", "70000"), ("--region", "frankfurt-1"), ("--region", "lab-1:m2000")),
        *(("--region", "frankfurt-1:IPU M2000"), ("--bind", "no-such-address.invalid"), ("--log-format", "xml")),
    ],
)
def test_it_refuses_wrong_options(tmp_path: Path, capsys: pytest.CaptureFixture[str], option: tuple[str, str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--data", str(tmp_path), "--token", "t", *option])
    assert caught.value.code == 2
    assert option[0] in capsys.readouterr().err


def test_a_taken_port_is_reported(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        ended = started("--data", str(tmp_path), "--http-port", str(port))
    assert ended.returncode == 1
    assert f"port {port} " in json.loads(ended.stderr)["event"]


def test_a_folder_that_is_none_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    ended = started("--data", str(tmp_path / "file"))
    assert ended.returncode == 1
    assert json.loads(ended.stderr)["event"].startswith(f"ipucloud-sim: {tmp_path / 'file'} ")


def started(*options: str) -> subprocess.CompletedProcess[str]:
    """A site that cannot start, once it has ended."""
    return subprocess.run([*COMMAND, *options], capture_output=True, text=True, check=False, timeout=SECONDS)


def test_a_site_may_grow_but_not_shrink(tmp_path: Path) -> None:
    prepare_folder(tmp_path)

    def site(machines: int, hosts: int = 16, pod_size: int = 16) -> Site:
        settings = Settings(data=tmp_path, token="t", machines=machines, hosts=hosts, pod_size=pod_size, fsync=False)
        return Site(settings, WallClock())

    first = site(16)
    asyncio.run(first.settled())
    grown = site(32)
    assert grown.regions["luxembourg-2"].pods[0] == first.regions["luxembourg-2"].pods[0]
    for machines, hosts, pod_size in ((8, 16, 16), (16, 1, 16), (16, 16, 8)):
        with pytest.raises(SizeMismatch):
            site(machines, hosts, pod_size)


@needs(Need.LINUX)  # only Linux signals the parent's death
def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    command = [*COMMAND, "--data", str(tmp_path / "site")]
    parent = (
        "import subprocess, sys, os\n"
        "child = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, text=True)\n"
        "print(child.stdout.readline(), flush=True)\n"
        "os.kill(os.getpid(), 9)\n"
    )
    arguments = [sys.executable, "-c", parent, *command, "--die-with-parent"]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=SECONDS, check=False)
    url = json.loads(done.stdout)["url"]
    eventually(lambda: not answers(url), "the orphan stops listening")


def answers(url: str) -> bool:
    try:
        httpx.get(url, timeout=1)
    except httpx.ConnectError:
        return False
    except httpx.TransportError:
        return True
    return True
