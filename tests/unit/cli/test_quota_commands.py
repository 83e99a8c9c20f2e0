"""Requests for higher quotas, and the operator's decisions, as commands against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

MINE = "/v1/projects/demo/quota-requests"
ALL = "/v1/operator/quota-requests"
REQUEST = {
    "id": "request-1",
    "state": "open",
    "region": "lux-2",
    "machine_type": "m2000",
    "limit": 128,
    "reason": "May",
}
SEEN = REQUEST | {"project": "demo", "present_limit": 16, "used": 4}


def test_a_project_asks_reads_and_withdraws(run: Run, service: Service) -> None:
    service.on("POST", MINE, Reply(201, REQUEST))
    assert "request-1" in run("quotas", "request", "lux-2", "m2000", "128", "May").out
    body = {"region": "lux-2", "machine_type": "m2000", "limit": 128, "reason": "May"}
    assert service.requests[-1].body == body
    service.lists(MINE, [REQUEST | {"state": "granted", "granted_limit": 64}])
    assert "64" in run("quotas", "requests", "--state", "granted").out
    service.on("POST", f"{MINE}/request-1:withdraw", Reply(body=REQUEST | {"state": "withdrawn"}))
    assert "withdrawn" in run("quotas", "withdraw", "request-1").out
    assert run("quotas", "request", "lux-2", "m2000", "0", "May").status == 2
    assert run("quotas", "requests", "--state", "lost").status == 2


def test_an_operator_decides(run: Run, service: Service) -> None:
    service.lists(ALL, [SEEN])
    assert "May" in run("admin", "quota-requests", "list", "--state", "open", "--of", "demo").out
    service.gives(f"{ALL}/request-1", SEEN)
    assert "demo" in run("admin", "quota-requests", "show", "request-1").out
    service.on("POST", f"{ALL}/request-1:grant", Reply(body=SEEN))
    assert run("admin", "quota-requests", "grant", "request-1", "--limit", "64", "--answer", "for now").status == 0
    assert service.requests[-1].body == {"limit": 64, "answer": "for now"}
    service.on("POST", f"{ALL}/request-1:decline", Reply(body=SEEN))
    assert run("admin", "quota-requests", "decline", "request-1", "--reason", "no room").status == 0
    assert run("admin", "quota-requests", "decline", "request-1").status == 2
