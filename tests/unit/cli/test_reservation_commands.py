"""Reservations and preemptible clusters as commands against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, serve_cluster

MINE = "/v1/projects/demo/reservations"
RESERVATION = {
    "id": "reservation-1",
    "name": "may",
    "state": "scheduled",
    "flavor": "m2000-pod64",
    "sku": "ipu-m2000-reserved",
    "cancel_until": "2026-05-10T08:00:00Z",
}
ESTIMATE = {"cost": {"amount": "4608.00", "currency": "EUR"}, "capacity": {"available": True}}
WANTED = ("may", "--region", "lux-2", "--flavor", "m2000-pod64", "--count", "2")
TIMES = ("--starts-at", "2026-05-11T08:00:30", "--ends-at", "2026-05-13T08:00")


def test_a_project_estimates_reserves_reads_and_cancels(run: Run, service: Service) -> None:
    service.on("POST", f"{MINE}:estimate", Reply(body=ESTIMATE))
    run("reservations", "create", *WANTED, *TIMES, "--estimate").shows("4608.00")
    service.on("POST", MINE, Reply(201, RESERVATION))
    assert "reservation-1" in run("reservations", "create", *WANTED, *TIMES).out
    assert service.requests[-1].body == {
        "name": "may",
        "region": "lux-2",
        "flavor": "m2000-pod64",
        "count": 2,
        "starts_at": "2026-05-11T08:00:00+00:00",
        "ends_at": "2026-05-13T08:00:00+00:00",
    }
    service.lists(MINE, [RESERVATION])
    assert "m2000-pod64" in run("reservations", "list", "--state", "scheduled").out
    service.gives(f"{MINE}/reservation-1", RESERVATION)
    assert "ipu-m2000-reserved" in run("reservations", "show", "reservation-1").out
    service.on("POST", f"{MINE}/reservation-1:cancel", Reply(body=RESERVATION | {"state": "cancelled"}))
    assert "cancelled" in run("reservations", "cancel", "reservation-1").out
    assert run("reservations", "create", *WANTED, "--starts-at", "soon", "--ends-at", "2d").status == 2


PROJECT = "/v1/projects/demo"
PREEMPTIBLE = (
    *("--flavor", "m2000-pod16", "--region", "lux-2", "--image"),
    *("ubuntu", "--ssh-key", "laptop", "--preemptible"),
)
WHY = {"reason": "capacity", "detail": "The region is full.", "numbers": {}}
OF_PREEMPTIBLE = {"capacity": {"available": False, "why_not": WHY, "preemption_minutes": 10}}


def test_it_is_asked_for_and_the_estimate_says_when_there_would_be_room(run: Run, service: Service) -> None:
    service.on("POST", f"{PROJECT}/clusters:estimate", Reply(body=OF_PREEMPTIBLE))
    run("clusters", "estimate", *PREEMPTIBLE).shows("make room within 10 min")
    bodies = [each.body for each in service.requests if each.method == "POST"]
    assert [each["preemptible"] for each in bodies] == [True]


def test_a_notice_is_shown(run: Run, service: Service) -> None:
    serve_cluster(service, CLUSTER | {"preemptible": True, "preempt_at": "2030-05-04T13:15:00Z"})
    assert "2030-05-04 13:15:00Z" in run("clusters", "show", "bert").out
    listed = run("clusters", "list").out
    assert ("PREEMPTIBLE" in listed, "2030-05-04 13:15:00Z" in listed) == (True, True)
