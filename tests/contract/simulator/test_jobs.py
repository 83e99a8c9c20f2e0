"""Programs that the control plane runs on a server: at most once, whatever is repeated, late, killed or restarted."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any
from zlib import crc32

import httpx
import pytest

from ipucloud.laboratory.simulator.ssh.jobs import LOG_FULL, LOG_LIMIT
from ipucloud.wire.site import HostState, Job
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.site import RunningSite
from tests.support.tenant import Tenant
from tests.support.waiting import eventually


@pytest.fixture(scope="module")
def tenant(site: RunningSite, key: KeyPair) -> Tenant:
    tenant = Tenant(site, machines=1)
    tenant.build([key.public_line])
    tenant.wait_for(HostState.RUNNING)
    return tenant


def path(tenant: Tenant, job: str) -> str:
    return f"/v1/hosts/{tenant.host}/server/jobs/{job}"


def put_job(tenant: Tenant, job: str, *command: str, **more: Any) -> httpx.Response:
    of = {"server": f"{tenant.name}-h1", "network": tenant.name, "generation": 1}
    return tenant.http.put(path(tenant, job), json=of | {"command": command} | more)


def started(tenant: Tenant, job: str, *command: str, **more: Any) -> Job:
    return Job.model_validate(put_job(tenant, job, *command, **more).raise_for_status().json())


def get_job(tenant: Tenant, job: str, log_from: int = 0) -> Job:
    of: dict[str, str | int] = {"server": f"{tenant.name}-h1", "network": tenant.name, "log_from": log_from}
    return Job.model_validate(tenant.http.get(path(tenant, job), params=of).raise_for_status().json())


def stopped(tenant: Tenant, job: str) -> Job:
    of = {"server": f"{tenant.name}-h1", "network": tenant.name}
    return Job.model_validate(tenant.http.post(f"{path(tenant, job)}/stop", json=of).raise_for_status().json())


def ended(tenant: Tenant, job: str) -> Job:
    eventually(lambda: get_job(tenant, job).ended is not None, f"job {job} ends")
    return get_job(tenant, job)


def log(job: Job) -> str:
    return base64.b64decode(job.log).decode()


def test_a_program_runs_once_in_the_environment_of_a_login(tenant: Tenant) -> None:
    script = "echo $IPUOF_VIPU_API_PARTITION_ID $X $IPUCLOUD_JOB; pwd; gc-info --ipu-count; echo once >> ran; exit 3"
    for _ in range(3):
        started(tenant, "first-1", "sh", "-c", script, environment={"X": "given"})
    done = ended(tenant, "first-1")
    assert (done.ended, done.exit_status) == ("exited", 3)
    assert log(done) == "tenant given first-1\n/home/ubuntu\n4\n"
    assert log(get_job(tenant, "first-1", log_from=done.log_size - 2)) == "4\n"
    started(tenant, "count-1", "cat", "ran")
    assert log(ended(tenant, "count-1")) == "once\n"
    assert put_job(tenant, "first-1", "true").status_code == 409


def test_how_programs_end_is_told(tenant: Tenant) -> None:
    started(tenant, "killed-1", "sh", "-c", "kill -9 $$")
    assert ended(tenant, "killed-1").exit_status == 137
    started(tenant, "missing-1", "no-such-program")
    assert ended(tenant, "missing-1").exit_status == 127
    started(tenant, "where-1", "pwd", directory="/srv")
    assert log(ended(tenant, "where-1")) == "/srv\n"
    started(tenant, "nowhere-1", "true", directory="/nowhere")
    assert ended(tenant, "nowhere-1").exit_status != 0


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
def test_a_program_is_checked_by_what_it_answers(tenant: Tenant, answer: str, wrong: str | None) -> None:
    job, port = f"checked-{crc32(answer.encode())}", 20_000 + crc32(answer.encode()) % 20_000
    check = {"port": port, "path": "/up?deep", "interval": 0.05, "timeout": 30.0}
    started(tenant, job, "python3", "-c", ANSWERS, str(port), answer, check=check)

    def checked() -> bool:
        health = get_job(tenant, job).health
        return health is not None and (health.detail, health.passed) == (wrong, wrong is None)

    eventually(checked, "the check finds it")
    stopped(tenant, job)
    assert ended(tenant, job).health is None


def test_checks_that_fail_are_counted_in_a_row(tenant: Tenant) -> None:
    check = {"port": 19_999, "path": "/", "interval": 0.05, "timeout": 30.0}
    started(tenant, "deaf-1", "sleep", "100000", check=check)

    def counted() -> bool:
        health = get_job(tenant, "deaf-1").health
        return health is not None and health.failed >= 2 and health.detail == "nothing listens on port 19999"

    eventually(counted, "two checks have failed")
    stopped(tenant, "deaf-1")
    ended(tenant, "deaf-1")


def test_a_job_outlives_logins_and_holds_ipus(tenant: Tenant, key: KeyPair, folder: Path) -> None:
    started(tenant, "holds-1", "ipu-run", "--", "sh", "-c", "echo up; exec sleep 100000")
    eventually(lambda: tenant.observe().attached_ipus == 4, "the job holds its IPUs")
    login = OpenSsh(tenant.ssh(), key, folder / "known_hosts")
    assert b'"command": "sh"' in login.ssh("gc-monitor --json").stdout
    assert get_job(tenant, "holds-1").ended is None
    assert stopped(tenant, "holds-1").ended is None
    done = ended(tenant, "holds-1")
    assert (done.ended, done.exit_status, log(done)) == ("stopped", 143, "up\n")
    assert stopped(tenant, "holds-1") == done.model_copy(update={"log": done.log})
    eventually(lambda: tenant.observe().attached_ipus == 0, "its IPUs are free")


def test_a_job_that_was_stopped_before_never_begins(tenant: Tenant) -> None:
    assert stopped(tenant, "late-1").ended == "stopped"
    assert started(tenant, "late-1", "touch", "late").ended == "stopped"
    started(tenant, "look-1", "ls", "late")
    assert ended(tenant, "look-1").exit_status != 0


def test_a_log_has_a_limit(tenant: Tenant) -> None:
    started(tenant, "long-1", "head", "-c", str(LOG_LIMIT + 1_000_000), "/dev/zero")
    done = ended(tenant, "long-1")
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
def test_what_cannot_run_is_refused(tenant: Tenant, change: dict[str, Any], status: int) -> None:
    of = {"server": f"{tenant.name}-h1", "network": tenant.name, "generation": 1, "command": ["true"]}
    assert tenant.http.put(path(tenant, "bad-1"), json=of | change).status_code == status
    assert tenant.http.put(path(tenant, "Bad_Name"), json=of).status_code == 422
    answer = tenant.http.get(path(tenant, "bad-1"), params={"server": f"{tenant.name}-h1", "network": tenant.name})
    assert answer.status_code == 404


def test_a_restart_interrupts_and_starts_nothing_again(tenant: Tenant) -> None:
    started(tenant, "cut-1", "sh", "-c", "echo begun >> begun; exec sleep 100000")
    eventually(lambda: get_job(tenant, "cut-1").ended is None, "it runs")
    tenant.http.post(f"/v1/hosts/{tenant.host}/power", json={"action": "off"}).raise_for_status()
    assert put_job(tenant, "cut-1", "sh").status_code == 409
    tenant.http.post(f"/v1/hosts/{tenant.host}/power", json={"action": "on"}).raise_for_status()
    tenant.wait_for(HostState.RUNNING)
    assert get_job(tenant, "cut-1").ended == "interrupted"
    script = ("sh", "-c", "echo begun >> begun; exec sleep 100000")
    assert started(tenant, "cut-1", *script).ended == "interrupted"


def test_a_site_that_is_killed_starts_nothing_twice(tenant: Tenant, site: RunningSite) -> None:
    script = ("sh", "-c", "echo up; exec sleep 100000")
    started(tenant, "lost-1", *script)
    eventually(lambda: get_job(tenant, "lost-1").log_size > 0, "it runs")
    site.kill()
    site.start()
    again = Tenant(site, machines=1)
    again.wait_for(HostState.RUNNING)
    job = started(again, "lost-1", *script)
    assert (job.ended, get_job(again, "lost-1").log_size) == ("interrupted", 3)
