"""Addresses as the command line shows them, against a real HTTP server."""

from __future__ import annotations

import pytest

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, CLUSTER_ID, serve_cluster

_PATH = "/v1/projects/demo/addresses"
_ONE = f"{_PATH}/01900000-0000-7000-8000-000000000071"
COMMAND = "ssh -p 22 ipuuser@203.0.113.17"
ADDRESS = {
    "id": "01900000-0000-7000-8000-000000000071",
    "name": "frontdoor",
    "region": "luxembourg-2",
    "ip": "203.0.113.17",
    "port": 22,
    "observed_at": "2026-05-04T09:29:59Z",
    "state": "attached",
    "cluster": CLUSTER_ID,
    "cluster_name": "bert",
    "poplar_server": f"{CLUSTER_ID}-1-p0",
    "command": COMMAND,
    "sku": "address",
}
FREE = ADDRESS | {"state": "available"}


@pytest.fixture(autouse=True)
def served(service: Service) -> None:
    service.lists(_PATH, [ADDRESS])
    service.gives(_ONE, ADDRESS)
    service.gives(f"{_PATH}/frontdoor", ADDRESS)
    service.on("POST", _PATH, Reply(202, FREE))
    service.on("POST", f"{_ONE}:attach", Reply(202, ADDRESS))
    service.on("POST", f"{_ONE}:detach", Reply(202, FREE))
    service.on("DELETE", _ONE, Reply(202, ADDRESS | {"state": "deleting"}))


def test_the_list_has_the_ip_and_the_cluster_of_each_address(run: Run) -> None:
    head, line = run("addresses", "list").out.splitlines()[:2]
    assert "IP" in head.split()
    assert {"frontdoor", "attached", "203.0.113.17", "22", "bert"} <= set(line.split())
    shown = run("addresses", "show", "frontdoor").out
    assert ["command", *COMMAND.split()] in [line.split() for line in shown.splitlines()], "the command that logs in"


def test_an_address_is_reserved_attached_by_names_and_detached(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER)
    assert run("addresses", "create", "frontdoor", "--region", "luxembourg-2", "--tag", "team=nlp").status == 0
    assert service.bodies("POST")[-1] == {"name": "frontdoor", "region": "luxembourg-2", "tags": {"team": "nlp"}}
    assert run("addresses", "attach", "frontdoor", "bert").status == 0
    assert service.bodies("POST")[-1] == {"cluster": CLUSTER_ID}
    assert run("addresses", "detach", "frontdoor").status == 0


def test_a_deletion_is_confirmed_first(run: Run, service: Service) -> None:
    assert run("addresses", "delete", "frontdoor").status == 2
    assert "DELETE" not in [each.method for each in service.requests]
    assert "deleting" in run("addresses", "delete", "frontdoor", "--yes", "--no-wait").out


def test_a_cluster_shows_how_to_log_in_at_its_addresses(run: Run, service: Service) -> None:
    address = {name: ADDRESS[name] for name in ("id", "name", "state", "ip", "port", "poplar_server", "command")}
    serve_cluster(service, CLUSTER | {"addresses": [address]})
    shown = run("clusters", "show", "bert").out
    assert any(line.startswith("log in at frontdoor") and COMMAND in line for line in shown.splitlines())
