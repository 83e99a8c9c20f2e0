"""Programs that the control plane runs on a server: at most once, whatever is repeated, late, killed or restarted."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from ipucloud.laboratory.simulator.ssh.jobs import LOG_FULL, LOG_LIMIT
from ipucloud.wire.site import HostState
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.site import RunningSite
from tests.support.tenant import Jobs, Tenant, log_of
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def tenant(site: RunningSite, key: KeyPair) -> Tenant:
    tenant = Tenant(site, machines=1)
    tenant.build([key.public_line])
    tenant.wait_for(HostState.RUNNING)
    return tenant


@pytest.fixture(scope="module")
def jobs(tenant: Tenant) -> Jobs:
    return Jobs(tenant)


def test_a_program_runs_once_in_the_environment_of_a_login(jobs: Jobs) -> None:
    script = "echo $IPUOF_VIPU_API_PARTITION_ID $X $IPUCLOUD_JOB; pwd; gc-info --ipu-count; echo once >> ran; exit 3"
    for _ in range(3):
        jobs.start("first-1", "sh", "-c", script, environment={"X": "given"})
    done = jobs.ended("first-1")
    assert (done.ended, done.exit_status) == ("exited", 3)
    assert log_of(done) == "tenant given first-1\n/home/ubuntu\n4\n"
    assert log_of(jobs.get("first-1", log_from=done.log_size - 2)) == "4\n"
    jobs.start("count-1", "cat", "ran")
    assert log_of(jobs.ended("count-1")) == "once\n"
    assert jobs.put("first-1", "true").status_code == 409


def test_how_programs_end_is_told(jobs: Jobs) -> None:
    jobs.start("killed-1", "sh", "-c", "kill -9 $$")
    assert jobs.ended("killed-1").exit_status == 137
    jobs.start("missing-1", "no-such-program")
    assert jobs.ended("missing-1").exit_status == 127
    jobs.start("where-1", "pwd", directory="/srv")
    assert log_of(jobs.ended("where-1")) == "/srv\n"
    jobs.start("nowhere-1", "true", directory="/nowhere")
    assert jobs.ended("nowhere-1").exit_status != 0


ANSWERS = """
import socket, sys
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    connection, _ = listener.accept()
    connection.recv(65536)
    connection.sendall(sys.argv[2].encode().decode("unicode_escape").encode())
    connection.close()
"""


@pytest.mark.parametrize(
    ("answer", "wrong"),
    [
        ("HTTP/1.1 204 No Content\\r\\n\\r\\n", None),
        ("HTTP/1.0 302 Found\\r\\n\\r\\n", None),
        ("HTTP/1.1 503 Busy\\r\\n\\r\\n", "GET /up?deep: status 503"),
        ("SSH-2.0-OpenSSH\\r\\n", "GET /up?deep: the answer is not HTTP/1.1"),
        ("x" * 70_000, "GET /up?deep: the answer is not HTTP/1.1"),
        ("", "GET /up?deep: the answer is not HTTP/1.1"),
    ],
)
def test_a_program_is_checked_by_what_it_answers(jobs: Jobs, answer: str, wrong: str | None) -> None:
    job, port = f"checked-{crc32(answer.encode())}", 20_000 + crc32(answer.encode()) % 20_000
    check = {"port": port, "path": "/up?deep", "interval": 0.05, "timeout": 30.0}
    jobs.start(job, "python3", "-c", ANSWERS, str(port), answer, check=check)

    def checked() -> bool:
        health = jobs.get(job).health
        return health is not None and (health.detail, health.passed) == (wrong, wrong is None)

    eventually(checked, "the check finds it")
    jobs.stop(job)
    assert jobs.ended(job).health is None


def test_checks_that_fail_are_counted_in_a_row(jobs: Jobs) -> None:
    check = {"port": 19_999, "path": "/", "interval": 0.05, "timeout": 30.0}
    jobs.start("deaf-1", "sleep", "100000", check=check)

    def counted() -> bool:
        health = jobs.get("deaf-1").health
        return health is not None and health.failed >= 2 and health.detail == "nothing listens on port 19999"

    eventually(counted, "two checks have failed")
    jobs.stop("deaf-1")
    jobs.ended("deaf-1")


def test_a_job_outlives_logins_and_holds_ipus(jobs: Jobs, tenant: Tenant, key: KeyPair, folder: Path) -> None:
    jobs.start("holds-1", "ipu-run", "--", "sh", "-c", "echo up; exec sleep 100000")
    eventually(lambda: tenant.observe().attached_ipus == 4, "the job holds its IPUs")
    login = OpenSsh(tenant.ssh(), key, folder / "known_hosts")
    assert b'"command": "sh"' in login.ssh("gc-monitor --json").stdout
    assert jobs.get("holds-1").ended is None
    assert jobs.stop("holds-1").ended is None
    done = jobs.ended("holds-1")
    assert (done.ended, done.exit_status, log_of(done)) == ("stopped", 143, "up\n")
    assert jobs.stop("holds-1") == done.model_copy(update={"log": done.log})
    eventually(lambda: tenant.observe().attached_ipus == 0, "its IPUs are free")


def test_a_job_that_was_stopped_before_never_begins(jobs: Jobs) -> None:
    assert jobs.stop("late-1").ended == "stopped"
    assert jobs.start("late-1", "touch", "late").ended == "stopped"
    jobs.start("look-1", "ls", "late")
    assert jobs.ended("look-1").exit_status != 0


def test_a_log_has_a_limit(jobs: Jobs) -> None:
    jobs.start("long-1", "head", "-c", str(LOG_LIMIT + 1_000_000), "/dev/zero")
    done = jobs.ended("long-1")
    assert (done.exit_status, done.log_size) == (0, LOG_LIMIT + len(LOG_FULL))


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"server": "other"}, 409),
        ({"network": "other"}, 409),
        ({"generation": 2}, 409),
        ({"command": []}, 422),
        ({"command": ["a\0b"]}, 422),
    ],
)
def test_what_cannot_run_is_refused(jobs: Jobs, change: dict[str, Any], status: int) -> None:
    assert jobs.put("bad-1", "true", **change).status_code == status
    assert jobs.put("Bad_Name", "true").status_code == 422
    assert jobs.look("bad-1").status_code == 404


def test_a_restart_interrupts_and_starts_nothing_again(jobs: Jobs, tenant: Tenant) -> None:
    jobs.start("cut-1", "sh", "-c", "echo begun >> begun; exec sleep 100000")
    eventually(lambda: jobs.get("cut-1").ended is None, "it runs")
    tenant.power("off")
    assert jobs.put("cut-1", "sh").status_code == 409
    tenant.power("on")
    tenant.wait_for(HostState.RUNNING)
    assert jobs.get("cut-1").ended == "interrupted"
    assert jobs.start("cut-1", "sh", "-c", "echo begun >> begun; exec sleep 100000").ended == "interrupted"


def test_a_site_that_is_killed_starts_nothing_twice(jobs: Jobs, site: RunningSite) -> None:
    script = ("sh", "-c", "echo up; exec sleep 100000")
    jobs.start("lost-1", *script)
    eventually(lambda: jobs.get("lost-1").log_size > 0, "it runs")
    site.revive()
    again = Tenant(site, machines=1)
    again.wait_for(HostState.RUNNING)
    job = Jobs(again).start("lost-1", *script)
    assert (job.ended, Jobs(again).get("lost-1").log_size) == ("interrupted", 3)
