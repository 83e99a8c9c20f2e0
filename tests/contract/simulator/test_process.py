"""The process itself: how it starts, refuses to start, and ends."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.support.site import running_site
from tests.support.waiting import eventually

SECONDS = 30.0


def run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the program to its end; it must end by itself."""
    command = [sys.executable, "-m", "ipucloud.simulator.main", *arguments]
    env = {name: value for name, value in os.environ.items() if name != "IPUCLOUD_SITE_TOKEN"} | environment
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, env=env, check=False)


def test_it_wants_a_token(tmp_path: Path) -> None:
    done = run("--data", str(tmp_path))
    assert done.returncode == 2
    assert "IPUCLOUD_SITE_TOKEN" in done.stderr


@pytest.mark.parametrize("option", [("--time-scale", "-1"), ("--machines", "0"), ("--pod-size", "17")])
def test_it_refuses_senseless_options(tmp_path: Path, option: tuple[str, str]) -> None:
    done = run("--data", str(tmp_path), "--token", "t", *option)
    assert done.returncode == 2
    assert option[0] in done.stderr


def test_it_stops_on_request_with_status_0(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        assert site.stop() == 0
        assert site.log.read_text() == ""


def test_it_stops_although_callers_wait(tmp_path: Path) -> None:
    with running_site(tmp_path) as site, httpx.Client(base_url=site.url, timeout=0.3) as client:
        client.headers["Authorization"] = f"Bearer {site.token}"
        client.post("/v1/faults", json={"call": "*", "action": "stall"}).raise_for_status()
        with socket.create_connection((client.base_url.host, client.base_url.port or 80)) as waiting:
            request = f"GET /v1/inventory HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {site.token}\r\n\r\n"
            waiting.sendall(request.encode())
            eventually(lambda: client.get("/v1/faults").json()["faults"][0]["hits"] == 1, "the call stalls")
            assert site.stop() == 0


def test_two_sites_cannot_share_a_folder(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        done = run("--data", str(site.data), "--token", "t")
        assert done.returncode == 1
        assert "another simulated site" in done.stderr


def test_a_taken_port_is_told(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run("--data", str(tmp_path), "--token", "t", "--http-port", str(port))
    assert done.returncode == 1
    assert str(port) in done.stderr


def test_a_site_keeps_its_ports(tmp_path: Path) -> None:
    with running_site(tmp_path) as site:
        url, endpoints = site.url, [region.vipu for region in site.inventory().regions]
        site.restart()
        assert site.url == url
        assert [region.vipu for region in site.inventory().regions] == endpoints


def test_the_ready_line_is_written_where_it_is_wanted(tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    with running_site(tmp_path / "site", options=["--ready-file", str(ready)]) as site:
        told = json.loads(ready.read_text())
        assert (told["ready"], told["url"]) == (True, site.url)
        assert set(told["regions"]) == {"luxembourg-2", "amsterdam-2"}


def test_its_folder_is_closed_to_others(tmp_path: Path) -> None:
    with running_site(tmp_path / "site") as site:
        assert site.data.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(sys.platform != "linux", reason="the parent's death is told by Linux only")
def test_it_ends_with_its_parent(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "ipucloud.simulator.main", "--data", str(tmp_path / "site"), "--token", "t"]
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
    except httpx.TransportError:
        return False
    return True


def test_a_site_of_any_size_is_whole(tmp_path: Path) -> None:
    with running_site(tmp_path, machines=40, options=["--pod-size", "16", "--hosts", "3"]) as site:
        region = site.region()
        assert [len(pod.machines) for pod in region.pods] == [16, 16, 8]
        assert [pod.topology for pod in region.pods] == ["torus", "torus", "mesh"]
        assert len(region.hosts) == 3


def test_stages_sum_to_about_fifteen_minutes_and_follow_the_time_scale(tmp_path: Path) -> None:
    with running_site(tmp_path, time_scale=1) as site:
        typical = site.region().typical_seconds
        creating = sum(seconds for stage, seconds in typical.items() if stage != "CLUSTER_CLEAN_UP")
        assert creating == pytest.approx(900, rel=0.1)
        site.restart("--time-scale", "45")
        scaled = site.region().typical_seconds
        assert scaled == pytest.approx({stage: seconds / 45 for stage, seconds in typical.items()})
