"""What customers ask of operators, and their answers: faults and quotas, as commands against a real HTTP server."""

from __future__ import annotations

from tests.support.scripted import Reply, Service
from tests.unit.cli.conftest import Run

FAULT = {"id": "fault-1", "state": "open", "kind": "machine", "name": "m0", "description": "it hangs"}
SEEN_FAULT = FAULT | {"hardware": "m0", "project": "demo", "cluster_name": "bert"}
FAULTS = {"items": [SEEN_FAULT], "next_cursor": None}
ALL_FAULTS = "/v1/operator/fault-reports"
CLUSTER = {"id": "cluster-1", "name": "bert", "poplar_servers": [{"id": "server-1", "name": "bert-p0"}]}


def cluster(service: Service) -> str:
    """The path of a cluster that is listed and read."""
    service.lists("/v1/projects/demo/clusters", [CLUSTER])
    service.gives("/v1/projects/demo/clusters/cluster-1", CLUSTER)
    return "/v1/projects/demo/clusters/cluster-1"


def test_a_machine_or_a_server_is_reported(run: Run, service: Service) -> None:
    path = cluster(service)
    service.on("POST", f"{path}/machines/m0:report-fault", Reply(201, FAULT))
    run("clusters", "report-fault", "bert", "--machine", "m0", "--category", "ipu", "it hangs").shows("fault-1")
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
    service.gives(ALL_FAULTS, FAULTS)
    assert "it hangs" in run("admin", "fault-reports", "list", "--state", "open", "--of", "demo").out
    service.gives(f"{ALL_FAULTS}/fault-1", SEEN_FAULT)
    assert "bert" in run("admin", "fault-reports", "show", "fault-1").out
    service.on("POST", f"{ALL_FAULTS}/fault-1:confirm", Reply(body=SEEN_FAULT))
    command = ("admin", "fault-reports", "confirm", "fault-1", "--answer", "it does")
    assert run(*command, "--code", "link_down", "--observed-at", "2026-05-04T10:05").status == 0
    assert service.requests[-1].body == {
        "answer": "it does",
        "code": "link_down",
        "observed_at": "2026-05-04T10:05:00Z",
    }
    assert run(*command, "--code", "tired").status == 2
    assert run("admin", "fault-reports", "confirm", "fault-1").status == 2
    service.on("POST", f"{ALL_FAULTS}/fault-1:dismiss", Reply(body=SEEN_FAULT))
    assert run("admin", "fault-reports", "dismiss", "fault-1", "--reason", "it works").status == 0
    assert run("admin", "fault-reports", "dismiss", "fault-1").status == 2


def test_operators_see_what_happens_to_the_platform(run: Run, service: Service) -> None:
    event = {"subject_type": "freeze", "subject_id": "freeze-1", "subject_name": None, "data": {"reason": "odd"}}
    service.lists("/v1/operator/events", [event])
    run("admin", "events", "--type", "freeze.started", "--region", "lux-2", "--limit", "5").shows(
        "freeze freeze-1", '{"reason": "odd"}'
    )
    assert run("admin", "events", "--limit", "0").status == 2


QUOTAS = "/v1/projects/demo/quota-requests"
ALL_QUOTAS = "/v1/operator/quota-requests"
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
    service.on("POST", QUOTAS, Reply(201, REQUEST))
    assert "request-1" in run("quotas", "request", "lux-2", "m2000", "128", "May").out
    body = {"region": "lux-2", "machine_type": "m2000", "limit": 128, "reason": "May"}
    assert service.requests[-1].body == body
    service.lists(QUOTAS, [REQUEST | {"state": "granted", "granted_limit": 64}])
    assert "64" in run("quotas", "requests", "--state", "granted").out
    service.on("POST", f"{QUOTAS}/request-1:withdraw", Reply(body=REQUEST | {"state": "withdrawn"}))
    assert "withdrawn" in run("quotas", "withdraw", "request-1").out
    assert run("quotas", "request", "lux-2", "m2000", "0", "May").status == 2
    assert run("quotas", "requests", "--state", "lost").status == 2


def test_an_operator_decides(run: Run, service: Service) -> None:
    service.lists(ALL_QUOTAS, [SEEN])
    assert "May" in run("admin", "quota-requests", "list", "--state", "open", "--of", "demo").out
    service.gives(f"{ALL_QUOTAS}/request-1", SEEN)
    assert "demo" in run("admin", "quota-requests", "show", "request-1").out
    service.on("POST", f"{ALL_QUOTAS}/request-1:grant", Reply(body=SEEN))
    assert run("admin", "quota-requests", "grant", "request-1", "--limit", "64", "--answer", "for now").status == 0
    assert service.requests[-1].body == {"limit": 64, "answer": "for now"}
    service.on("POST", f"{ALL_QUOTAS}/request-1:decline", Reply(body=SEEN))
    assert run("admin", "quota-requests", "decline", "request-1", "--reason", "no room").status == 0
    assert run("admin", "quota-requests", "decline", "request-1").status == 2
