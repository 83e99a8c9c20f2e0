"""`ipucloud audit-log` against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Service
from tests.unit.cli.conftest import Run

ENTRY = {
    "id": "e1",
    "operation": "deleteCluster",
    "actor": "ann@example.com",
    "status": 409,
    "code": "delete_protected",
    "state": "completed",
    "address": "192.0.2.7",
}


def test_who_asked_for_what_is_shown_with_the_result(run: Run, service: Service) -> None:
    service.lists("/v1/projects/demo/audit-log", [ENTRY, ENTRY | {"status": None, "code": None, "state": "abandoned"}])
    shown = run("audit-log", "--actor", "ann@example.com", "--writes").out
    assert "409 delete_protected" in shown
    assert "abandoned" in shown
    assert (service.requests[-1].query["actor"], service.requests[-1].query["writes"]) == ("ann@example.com", "true")


def test_operators_see_every_project(run: Run, service: Service) -> None:
    service.lists("/v1/operator/audit-log", [ENTRY])
    assert run("audit-log", "--platform", "--of", "lab", "--json").json[0]["operation"] == "deleteCluster"
    assert service.requests[-1].query["project"] == "lab"
    assert run("audit-log", "--of", "lab").status == 2
