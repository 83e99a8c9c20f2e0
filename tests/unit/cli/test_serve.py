"""`ipucloud serve` against a real HTTP server that answers what a test says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.scripted import Reply, Service, problem
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, CLUSTER_ID, serve_cluster

ALL = f"/v1/projects/demo/clusters/{CLUSTER_ID}/services"
ID = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b76"
STARTING = {"id": ID, "name": "app", "cluster": CLUSTER_ID, "command": ["python3", "app.py"], "port": 8000}
STARTING |= {"state": "starting", "attempt": 1, "failures": 0, "max_restarts": 10}
RUNNING = STARTING | {"state": "running"}
STARTED_AGAIN = STARTING | {"failures": 1, "attempt": 2, "state_reason": "exit status 3; start 2 follows"}
FAILED = STARTING | {"failures": 1, "state": "failed", "state_reason": "exit status 3; started 1 time in a row"}
SERVE = ("serve", "--cluster", "bert", "--port", "8000")
PROGRAM = ("--", "python3", "app.py")


@pytest.fixture(autouse=True)
def quick(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_cluster(service, CLUSTER | {"poplar_servers": [], "project": "demo"})
    service.on("GET", f"{ALL}/app", problem(404, "not_found", "There is none."))
    service.on("POST", ALL, Reply(201, STARTING))
    for name in ("commands.serve", "programs"):
        monkeypatch.setattr(f"ipucloud.cli.{name}.POLL_SECONDS", 0.0)


def parts(*texts: str) -> list[Reply]:
    items = [
        [{"number": number, "attempt": 1, "text": text, "read_at": "2026-05-04T09:30:04Z"}]
        for number, text in enumerate(texts, 1)
    ]
    bodies = [{"items": item, "next": number} for number, item in enumerate([*items, []], 1)]
    return [Reply(body=body | {"complete": False, "state": "starting"}) for body in bodies]


def test_a_running_program_is_reached_by_a_command(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ipucloud.cli.commands.serve.SETTLED_SECONDS", 0.0)
    service.on("GET", f"{ALL}/{ID}", Reply(body=STARTING), Reply(body=RUNNING))
    ended = run(*SERVE, *PROGRAM)
    assert ended.status == 0
    assert "ipucloud request /v1/projects/demo/clusters/bert/services/app/proxy/\n" in ended.err


@pytest.mark.parametrize(("end", "again"), [(STARTED_AGAIN, True), (FAILED, False)])
def test_a_program_that_ends_at_once_is_not_said_to_run(
    run: Run, service: Service, end: dict[str, object], again: bool
) -> None:
    service.on("GET", f"{ALL}/{ID}", Reply(body=STARTING), Reply(body=RUNNING), Reply(body=end))
    service.on("GET", f"{ALL}/{ID}/log", *parts("".join(f"{n}\n" for n in range(20)), "no mod", "ule\n"))
    ended = run(*SERVE, *PROGRAM)
    assert ended.status == 1
    assert "exit status 3" in ended.err
    assert ("  11\n" in ended.err, "  10\n" in ended.err, "  no module\n" in ended.err) == (True, False, True)
    assert ("It is started again." in ended.err) == again
    assert "To reach it" not in ended.err


def test_a_name_that_is_taken_is_refused_before_the_upload(run: Run, service: Service, tmp_path: Path) -> None:
    service.gives(f"{ALL}/app", RUNNING)
    run(*SERVE, "--sync", str(tmp_path), *PROGRAM).fails(5, "ipucloud services stop bert app")
    assert f"POST {ALL}" not in service.calls()
    assert run(*SERVE, "--name", "../x", *PROGRAM).status == 2


def test_a_service_that_is_to_stop_is_waited_for(run: Run, service: Service) -> None:
    stopping = RUNNING | {"stop_requested_at": "2026-05-04T09:30:04Z"}
    service.on("GET", f"{ALL}/app", Reply(body=stopping), Reply(body=RUNNING | {"state": "stopped"}))
    assert run(*SERVE, "--detach", *PROGRAM).status == 0
    assert f"POST {ALL}" in service.calls()


@pytest.mark.parametrize("verb", ["deploy", "rollback"])
def test_a_release_is_waited_for(run: Run, service: Service, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    monkeypatch.setattr("ipucloud.cli.commands.serve.SETTLED_SECONDS", 0.0)
    following = "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b99"
    ends, follows = RUNNING | {"successor": following}, RUNNING | {"id": following, "command": ["python3", "b.py"]}
    service.on("GET", f"{ALL}/app", Reply(body=RUNNING), Reply(body=ends), Reply(body=follows))
    service.gives(f"{ALL}/{following}", follows)
    for ref in ("app", ID):
        service.on("POST", f"{ALL}/{ref}:{verb}", Reply(202, ends))
    ended = run("services", verb, "bert", "app", *(("--env", "A=1") if verb == "deploy" else ()))
    assert (ended.status, "python3 b.py" in ended.out) == (0, True), ended.err
    bodies = [each.body for each in service.requests if each.method == "POST"]
    assert bodies == [{"environment": {"A": "1"}} if verb == "deploy" else None]
    assert run("services", "deploy", "bert", "app", "--env", "1=2").status == 2
