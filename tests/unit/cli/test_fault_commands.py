"""Faults that customers report, and the operator's answers, as commands against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

FAULT = {"id": "fault-1", "state": "open", "kind": "machine", "name": "m0", "description": "it hangs"}
SEEN = FAULT | {"hardware": "m0", "project": "demo", "cluster_name": "bert"}
PAGE = {"items": [SEEN], "next_cursor": None}
ALL = "/v1/operator/fault-reports"
CLUSTER = {"id": "cluster-1", "name": "bert", "poplar_servers": [{"id": "server-1", "name": "bert-p0"}]}


def cluster(service: Service) -> str:
    """The path of a cluster that is listed and read."""
    service.lists("/v1/projects/demo/clusters", [CLUSTER])
    service.gives("/v1/projects/demo/clusters/cluster-1", CLUSTER)
    return "/v1/projects/demo/clusters/cluster-1"


def test_a_machine_or_a_server_is_reported(run: Run, service: Service) -> None:
    path = cluster(service)
    service.on("POST", f"{path}/machines/m0:report-fault", Reply(201, FAULT))
    reported = run("clusters", "report-fault", "bert", "--machine", "m0", "--category", "ipu", "it hangs")
    assert "fault-1" in reported.out
    assert service.requests[-1].body == {"description": "it hangs", "category": "ipu"}
    service.on("POST", f"{path}/poplar-servers/server-1:report-fault", Reply(201, FAULT))
    assert run("clusters", "report-fault", "bert", "--server", "0", "--since", "2h", "its disk is slow").status == 0
    assert service.requests[-1].body.keys() == {"description", "category", "since"}
    for wrong in ((), ("--machine", "m0", "--server", "0"), ("--server", "7"), ("--machine", "m0", "--category", "x")):
        assert run("clusters", "report-fault", "bert", *wrong, "it hangs").status == 2


def test_answers_are_listed(run: Run, service: Service) -> None:
    cluster(service)
    service.lists("/v1/projects/demo/fault-reports", [FAULT | {"answer": "found"}])
    assert "found" in run("clusters", "fault-reports", "bert", "--state", "open").out
    assert "found" in run("clusters", "fault-reports").out
    assert run("clusters", "fault-reports", "--state", "lost").status == 2


def test_operators_answer(run: Run, service: Service) -> None:
    service.gives(ALL, PAGE)
    assert "it hangs" in run("admin", "fault-reports", "list", "--state", "open", "--of", "demo").out
    service.gives(f"{ALL}/fault-1", SEEN)
    assert "bert" in run("admin", "fault-reports", "show", "fault-1").out
    service.on("POST", f"{ALL}/fault-1:confirm", Reply(body=SEEN))
    command = ("admin", "fault-reports", "confirm", "fault-1", "--answer", "it does")
    assert run(*command, "--code", "link_down", "--observed-at", "2026-05-04T10:05").status == 0
    assert service.requests[-1].body == {
        "answer": "it does",
        "code": "link_down",
        "observed_at": "2026-05-04T10:05:00Z",
    }
    assert run(*command, "--code", "tired").status == 2
    assert run("admin", "fault-reports", "confirm", "fault-1").status == 2
    service.on("POST", f"{ALL}/fault-1:dismiss", Reply(body=SEEN))
    assert run("admin", "fault-reports", "dismiss", "fault-1", "--reason", "it works").status == 0
    assert run("admin", "fault-reports", "dismiss", "fault-1").status == 2


def test_operators_see_what_happens_to_the_platform(run: Run, service: Service) -> None:
    event: dict[str, object] = {
        "id": "7-1",
        "at": "2026-05-04T10:05:00Z",
        "type": "freeze.started",
        "region": None,
        "project": None,
    }
    event |= {"subject_type": "freeze", "subject_id": "freeze-1", "subject_name": None, "data": {"reason": "odd"}}
    service.lists("/v1/operator/events", [event])
    shown = run("admin", "events", "--type", "freeze.started", "--region", "lux-2", "--limit", "5").out
    assert "freeze freeze-1" in shown
    assert '{"reason": "odd"}' in shown
    assert run("admin", "events", "--limit", "0").status == 2
