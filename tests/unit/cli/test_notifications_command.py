"""`ipucloud notifications`, against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

PATH = "/v1/me/notifications"
OTHER = {"project_id": "p2", "project": "lab", "event_types": ["budget.*"]}
OURS = {"project_id": "p1", "project": "demo", "event_types": ["cluster.*"]}
FOUND = {"available": True, "email": "ann@example.com", "language": "de", "subscriptions": [OURS, OTHER]}


def test_choosing_and_stopping_leave_other_projects_alone(run: Run, service: Service) -> None:
    service.on("GET", PATH, Reply(200, FOUND))
    service.on("PUT", PATH, Reply(200, FOUND))
    assert "budget.*" in run("notifications", "show").out
    assert run("notifications", "set", "operation.failed", "--language", "en").status == 0
    kept = {"project": "lab", "event_types": ["budget.*"]}
    added = {"project": "demo", "event_types": ["operation.failed"]}
    assert service.requests[-1].body == {"language": "en", "subscriptions": [kept, added]}
    assert run("notifications", "stop", "--json").json["email"] == "ann@example.com"
    assert service.requests[-1].body == {"language": "de", "subscriptions": [kept]}
