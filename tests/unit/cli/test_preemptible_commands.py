"""Preemptible clusters as commands against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, serve_cluster

MINE = "/v1/projects/demo"
WANTED = ("--flavor", "m2000-pod16", "--region", "lux-2", "--image", "ubuntu", "--ssh-key", "laptop", "--preemptible")
PRICE = {"amount": "0.08", "currency": "EUR"}
WHY = {"reason": "capacity", "detail": "The region is full.", "numbers": {}}
ESTIMATE = {
    **dict.fromkeys(("price_per_minute", "price_per_hour", "price_per_day", "price_per_month"), PRICE),
    "quota": {"allowed": True, "limit": 64, "used": 0, "needed": 4},
    "capacity": {"available": False, "why_not": WHY, "preemption_minutes": 10},
    "expected_seconds": 900,
}


def test_it_is_asked_for_and_the_estimate_says_when_there_would_be_room(run: Run, service: Service) -> None:
    service.on("POST", f"{MINE}/clusters:estimate", Reply(body=ESTIMATE))
    run("clusters", "estimate", *WANTED).shows("make room within 10 min")
    bodies = [each.body for each in service.requests if each.method == "POST"]
    assert [each["preemptible"] for each in bodies] == [True]


def test_a_notice_is_shown(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER | {"preemptible": True, "preempt_at": "2030-05-04T13:15:00Z"})
    assert "2030-05-04 13:15:00Z" in run("clusters", "show", "bert").out
    listed = run("clusters", "list").out
    assert ("PREEMPTIBLE" in listed, "2030-05-04 13:15:00Z" in listed) == (True, True)
