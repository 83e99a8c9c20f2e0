"""`ipucloud jobs` and `ipucloud run` against a real HTTP server that answers what a test says."""

from __future__ import annotations

import io

import pytest

from tests.support.scripted import HANG_UP, Reply, Service, problem
from tests.unit.cli.conftest import Run
from tests.unit.cli.test_commands import CLUSTER, CLUSTER_ID, serve_cluster

ALL = f"/v1/projects/demo/clusters/{CLUSTER_ID}/jobs"
JOB = {
    "id": "0199f2a4-6c1e-7c55-8f0e-0a8a3d1f2b71",
    "number": 3,
    "cluster": CLUSTER_ID,
    "command": ["python3", "train.py"],
    "state": "running",
    "attempt": 1,
    "retries": 0,
}
ENDED = JOB | {"state": "failed", "ended_by": "program", "exit_status": 7, "state_reason": "exit status 7"}


def log(text: str, number: int, *, complete: bool = False) -> Reply:
    items = [{"number": number, "attempt": 1, "text": text, "read_at": "2026-05-04T09:30:04Z"}] if text else []
    return Reply(body={"items": items, "next": number, "complete": complete, "state": "running"})


@pytest.fixture(autouse=True)
def quick(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    serve_cluster(service, CLUSTER | {"poplar_servers": []})
    for name in ("POLL_SECONDS", "LOST_SECONDS"):
        monkeypatch.setattr(f"ipucloud.cli.programs.{name}", 0.0)


def test_jobs_are_listed_shown_and_stopped(run: Run, service: Service) -> None:
    service.lists(ALL, [JOB])
    assert "python3 train.py" in run("jobs", "list", "bert", "--state", "running").out
    assert service.requests[-1].query["state"] == "running"
    service.gives(f"{ALL}/3", ENDED)
    assert "exit status 7" in run("jobs", "show", "bert", "3").out
    service.on("POST", f"{ALL}/3:stop", Reply(body=JOB | {"stop_requested_at": "2026-05-04T09:30:04Z"}))
    assert "stop requested" in run("jobs", "stop", "bert", "3", "--no-wait").out
    assert "exit status 7" in run("jobs", "stop", "bert", "3").out
    assert run("jobs", "wait", "bert", "3").status == 7
    service.on("GET", f"{ALL}/9", problem(404, "not_found", "There is none."))
    assert run("jobs", "show", "bert", "9").status == 3
    assert run("jobs", "list", "bert", "--state", "lost").status == 2


def test_a_program_that_is_not_there_is_said_to_be_missing(run: Run, service: Service) -> None:
    missing = {"command": ["python4", "train.py"], "exit_status": 127, "state_reason": "exit status 127"}
    service.on("POST", ALL, Reply(201, JOB | missing | {"state": "queued"}))
    service.on("GET", f"{ALL}/3/log", log("", 0, complete=True))
    service.gives(f"{ALL}/3", ENDED | missing)
    for words in (("--", "python4", "train.py", "-v"), ("python4", "train.py", "-v")):
        run("run", "--cluster", "bert", *words).fails(127, "exit status 127: python4 was not found on the server")
        [body] = [each.body for each in service.requests if each.method == "POST" and each.path == ALL]
        assert isinstance(body, dict)
        assert body["command"] == ["python4", "train.py", "-v"]
        service.requests.clear()


def test_a_log_is_read_to_its_present_end(run: Run, service: Service) -> None:
    service.gives(f"{ALL}/3", JOB)
    service.on("GET", f"{ALL}/3/log", log("one\n", 1), log("two\n", 2), log("", 2))
    assert run("jobs", "logs", "bert", "3").out == "one\ntwo\n"
    assert [each.query["after"] for each in service.requests if each.path.endswith("/log")] == ["0", "1", "2"]


def test_a_follower_waits_out_a_service_that_does_not_answer(run: Run, service: Service) -> None:
    service.gives(f"{ALL}/3", JOB)
    silent = [HANG_UP] * 7 + [problem(503, "unavailable", "Later.")] * 7
    service.on("GET", f"{ALL}/3/log", log("one\n", 1), log("", 1), *silent, log("two\n", 2, complete=True))
    followed = run("jobs", "logs", "bert", "3", "--follow")
    assert (followed.status, followed.out) == (0, "one\ntwo\n")
    assert "The service does not answer. The job continues" in followed.err


def test_a_run_ends_with_the_status_of_its_program(run: Run, service: Service) -> None:
    service.on("POST", ALL, Reply(201, JOB))
    service.on("GET", f"{ALL}/3/log", log("out\n", 1, complete=True))
    service.gives(f"{ALL}/3", ENDED)
    done = run(
        *("run", "--cluster", "bert", "--env", "A=b=c", "--max-cost", "20.50 EUR", "--max-minutes", "5"),
        *("--retries", "1", "--", "python3", "train.py", "--get", "x"),
    )
    assert (done.status, done.out) == (7, "out\n")
    assert service.bodies("POST")[0] == {
        "command": ["python3", "train.py", "--get", "x"],
        "environment": {"A": "b=c"},
        "retries": 1,
        "max_minutes": 5,
        "max_cost": {"amount": "20.50", "currency": "EUR"},
    }
    for state, ended_by, status in (("succeeded", "program", 0), ("stopped", "cost_limit", 1), ("failed", "server", 1)):
        service.gives(f"{ALL}/3", ENDED | {"state": state, "ended_by": ended_by, "exit_status": None})
        assert run("run", "--cluster", "bert", "--", "true").status == status
    service.on("POST", ALL, problem(409, "state_conflict", "Jobs run on clusters in use."))
    assert run("run", "--cluster", "bert", "--", "true").status == 5


@pytest.mark.parametrize(
    ("amount", "sentence"), [("0", "nothing yet"), ("0.0042", "< 0.01 EUR"), ("585.0643235892", "585.06 EUR")]
)
def test_a_run_says_what_it_cost(run: Run, service: Service, amount: str, sentence: str) -> None:
    ended = ENDED | {"cost": {"amount": amount, "currency": "EUR"}}
    service.on("POST", ALL, Reply(201, JOB))
    service.on("GET", f"{ALL}/3/log", log("", 0, complete=True))
    service.gives(f"{ALL}/3", ended)
    assert f"the cluster cost {sentence}." in run("run", "--cluster", "bert", "--", "true").err
    assert run("jobs", "show", "bert", "3", "--json").json["cost"] == ended["cost"]


def test_an_image_is_run_with_a_login_whose_password_is_no_argument(
    run: Run, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.on("POST", ALL, Reply(201, JOB | {"image": "ghcr.io/me/train:1", "registry_username": "ci"}))
    monkeypatch.setattr("sys.stdin", io.StringIO("hunter2\n"))
    command = ("run", "--cluster", "bert", "--image", "ghcr.io/me/train:1")
    done = run(*command, "--registry-user", "ci", "--detach", "--", "python3", "train.py")
    assert service.bodies("POST")[0] == {
        "command": ["python3", "train.py"],
        "environment": {},
        "retries": 0,
        "image": "ghcr.io/me/train:1",
        "registry": {"username": "ci", "password": "hunter2"},
    }
    assert "ghcr.io/me/train:1" in done.out
    assert "hunter2" not in done.out + done.err
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    run(*command, "--registry-user", "ci", "--", "true").fails(2, "Password of ci at the registry: no value was given.")
    run("run", "--cluster", "bert", "--registry-user", "ci", "--", "true").fails(2, "name it with --image")
    service.on("POST", ALL, problem(409, "no_containers", "The site has no container runtime."))
    run(*command, "--", "true").fails(5, "no container runtime")
