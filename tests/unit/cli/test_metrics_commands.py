"""`ipucloud clusters metrics` and `clusters console` against a real HTTP server that answers what a test says."""

from __future__ import annotations

import json

import pytest

from tests.support.scripted import Service
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, CLUSTER_ID, serve_cluster

SERVER_ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b33"
ONE = f"/v1/projects/demo/clusters/{CLUSTER_ID}"
CONSOLE = f"{ONE}/poplar-servers/{SERVER_ID}/console"
SERIES = {"cluster": CLUSTER_ID, "since": "2026-05-04T13:14:00Z", "until": "2026-05-04T13:16:00Z", "step": 60}
BOOT = {"number": 2, "bytes": 5, "dropped_bytes": 3}


@pytest.fixture(autouse=True)
def cluster(service: Service) -> None:
    server = {"id": SERVER_ID, "name": "bert-p0", "state": "running", "ssh": None}
    serve_cluster(service, CLUSTER | {"poplar_servers": [server]})


def test_a_gap_is_shown_as_nothing(run: Run, service: Service) -> None:
    observed = {"at": "2026-05-04T13:14:00Z", "observed_at": "2026-05-04T13:14:55Z", "utilisation_percent": 0.0}
    gap = {"at": "2026-05-04T13:15:00Z"}
    service.gives(f"{ONE}/metrics", SERIES | {"points": [observed, gap]})
    shown = run("clusters", "metrics", "bert", "--since", "1h", "--step", "60")
    assert [line for line in shown.out.splitlines() if "0 %" in line] == [
        line for line in shown.out.splitlines() if "13:14" in line
    ]
    assert service.requests[-1].query["step"] == "60"
    assert json.loads(run("clusters", "metrics", "bert", "--json").out)["points"][1]["observed_at"] is None
    service.gives(f"{ONE}/metrics", SERIES | {"points": [gap]})
    assert "Nothing was observed" in run("clusters", "metrics", "bert").err
    assert run("clusters", "metrics", "bert", "--step", "5").status == 2


def test_nothing_on_a_console_controls_the_terminal(run: Run, service: Service) -> None:
    text = "up\r\n\x1b]0;title\x07\u202etxt\n\tdone"
    service.gives(CONSOLE, {"poplar_server": "bert-p0", "boots": [BOOT], "boot": 2, "text": text})
    shown = run("clusters", "console", "bert", "--boot", "-1")
    assert shown.out == "up\n\\x1b]0;title\\x07\\x202etxt\n\tdone\n"
    assert "3 bytes before this are gone" in shown.err
    assert json.loads(run("clusters", "console", "bert", "--json").out)["text"] == text
    assert "2" in run("clusters", "console", "bert", "--list").out


def test_a_boot_or_a_server_that_is_not_there_is_told(run: Run, service: Service) -> None:
    service.gives(CONSOLE, {"poplar_server": "bert-p0", "boots": [BOOT], "boot": None, "text": None})
    run("clusters", "console", "bert", "--boot", "7").fails(2, "there are 2")
    assert run("clusters", "console", "bert", "--server", "1").status == 2
