"""Programs in container images on a simulated site: from a registry in this process to what the program finds."""

from __future__ import annotations

import io
import json
import secrets
import subprocess
import tarfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ipucloud.laboratory.simulator.images.registry import LONGEST_DOCUMENT
from ipucloud.laboratory.simulator.images.store import MOST_IMAGES
from ipucloud.wire.site import HostState, Job
from tests.support.images import (
    LAYER,
    MANIFEST,
    PYTHON_VARIABLES,
    Registry,
    digest_of,
    layer,
    link,
    python_layer,
    running_registry,
    shell_layer,
)
from tests.support.machine import Need, need, needs, program
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.site import RunningSite, running_site
from tests.support.tenant import Jobs, Tenant, log_of
from tests.support.waiting import PATIENCE, eventually

PASSWORD = "hunter2-of-the-registry"
DISK_MIB = 64
CLOSED = "127.0.0.1:9"
"""Where nothing listens."""


@pytest.fixture(scope="module")
def shared_registry() -> Iterator[Registry]:
    with running_registry() as registry:
        yield registry


@pytest.fixture
def registry(shared_registry: Registry) -> Iterator[Registry]:
    """The registry with the image `tools:1`, open to everyone."""
    shared_registry.push(
        "tools:1",
        [
            shell_layer(),
            layer({"app/hello": "hello from the image", "etc/motd": "old", "etc/passwd": "app:x:7:7::/:\n"}),
        ],
        {"Env": ["GREETING=hi", "HOME=/nowhere", "PATH=/bin"], "WorkingDir": "/app"},
    )
    yield shared_registry
    shared_registry.login = None
    shared_registry.may_answer.set()
    shared_registry.requests.clear()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, shared_registry: Registry) -> Iterator[RunningSite]:
    need(Need.SANDBOX)
    options = ["--machines-on", "--no-engine", "--disk", str(DISK_MIB)]
    options += ["--insecure-registry", shared_registry.host, "--insecure-registry", CLOSED]
    with running_site(tmp_path_factory.mktemp("images") / "site", options=options) as site:
        yield site


@pytest.fixture(scope="module")
def tenant(site: RunningSite, key: KeyPair) -> Tenant:
    tenant = Tenant(site, machines=1)
    tenant.build([key.public_line])
    tenant.wait_for(HostState.RUNNING)
    return tenant


class Runs(Jobs):
    """Programs in images, one after another."""

    def __init__(self, tenant: Tenant, registry: Registry) -> None:
        super().__init__(tenant)
        self._registry = registry

    def run(self, name: str, image: str, *command: str, login: Mapping[str, str] | None = None, **more: Any) -> Job:
        return self.start(name, *command, image={"reference": image} | dict(login or {}), **more)

    def output(self, image: str, script: str, **more: Any) -> str:
        """What a script of the shell writes in an image."""
        name = f"run-{len(self._registry.requests)}-{abs(hash((image, script)))}"
        self.run(name, image, "sh", "-c", script, **more)
        job = self.ended(name)
        assert (job.ended, job.exit_status) == ("exited", 0), (job.detail, log_of(job))
        return log_of(job)

    def problem(self, image: str, **more: Any) -> str:
        """Why an image cannot be had."""
        name = f"refused-{len(self._registry.requests)}-{abs(hash(image))}"
        self.run(name, image, "true", **more)
        job = self.ended(name)
        assert job.ended == "not_started", log_of(job)
        return job.detail or ""


@pytest.fixture
def runs(tenant: Tenant, registry: Registry) -> Runs:
    return Runs(tenant, registry)


def test_a_program_has_the_images_files_and_the_servers_home(runs: Runs, registry: Registry, site: RunningSite) -> None:
    assert {region.containers for region in site.inventory().regions} == {True}
    image = registry.reference("tools:1")
    script = 'read -r line < hello; echo "$line"; echo "$PWD $HOME $GREETING $SEED $PATH"; echo kept > ~/kept'
    output = runs.output(image, f"{script}; echo no > /app/new || echo read-only", environment={"SEED": "7"})
    lines = output.splitlines()
    assert lines[:2] == ["hello from the image", "/app /home/ubuntu hi 7 /run/ipucloud-bin:/bin"]
    assert lines[-1] == "read-only"
    again = runs.output(image, "read -r line < kept; echo $line; echo /usr/* /etc/* /*", directory="/home/ubuntu")
    assert again.startswith("kept\n")
    assert "python" not in again
    assert "/volumes" in again.split()
    entries = runs.output(image, 'while read -r line; do echo "$line"; done < /etc/passwd')
    assert entries.splitlines()[0] == "ubuntu:x:1000:1000::/home/ubuntu:/bin/sh"
    assert entries.splitlines()[-1] == "app:x:7:7::/:"
    layers = [path for path in registry.requests if "/blobs/" in path]
    assert len(layers) == len(set(layers)) == 3, "an image is fetched once"


def test_layers_hide_and_replace_what_is_below(runs: Runs, registry: Registry) -> None:
    first = layer({"a/one": "1", "a/two": "2", "b/three": "3", "c": "4", "real/x": "5"})
    second = layer({
        "a/.wh.one": "",
        "b/.wh..wh..opq": "",
        "b/new": "6",
        "c": link("/etc/motd"),
        "alias": link("real"),
        "alias/y": "7",
        "hard": link("real/x", tarfile.LNKTYPE),
        "dev/null": link("", tarfile.CHRTYPE),
        "pipe": link("", tarfile.FIFOTYPE),
        "etc/motd": "8",
    })  # fmt: skip
    registry.push("layers:1", [shell_layer(), first, second])
    output = runs.output(
        registry.reference("layers:1"),
        "cd /; echo a/* b/* real/* pipe*; for each in c hard alias/x; do read -r line < $each; echo $line; done",
    )
    assert output.splitlines() == ["a/two b/new real/x real/y pipe*", "8", "5", "5"]


def test_an_image_of_a_closed_registry_needs_its_login(runs: Runs, registry: Registry, site: RunningSite) -> None:
    registry.login = ("ci", PASSWORD)
    image = registry.reference("tools:1")
    nobody = runs.problem(image)
    assert nobody == (
        f"the image {image} could not be fetched: tools at {registry.host} is not public, or not there: give a user"
        " name and a password for the registry"
    )
    wrong = runs.problem(image, login={"username": "ci", "password": "wrong"})
    assert wrong.endswith(f"the user name and password are not accepted for tools at {registry.host}")
    assert runs.output(image, "echo in", login={"username": "ci", "password": PASSWORD}) == "in\n"
    # What another has fetched is nobody else's to run.
    assert "is not public" in runs.problem(image)
    kept = [path for path in site.data.rglob("*") if path.is_file() and PASSWORD.encode() in path.read_bytes()]
    assert kept == []


def test_an_image_can_be_named_by_its_digest(runs: Runs, registry: Registry) -> None:
    digest = registry.push("pinned:1", [shell_layer()])
    assert runs.output(registry.reference(f"pinned@{digest}"), "echo pinned") == "pinned\n"
    registry.manifests[f"pinned:{digest}"] = (MANIFEST, b"{}")
    assert "has another digest" in runs.problem(registry.reference(f"pinned:1@{digest}"))


def test_what_a_registry_gives_is_not_trusted(runs: Runs, registry: Registry) -> None:
    def refused(image: str) -> str:
        problem = runs.problem(registry.reference(image))
        start = f"the image {registry.reference(image)} could not be fetched: "
        assert problem.startswith(start)
        return problem.removeprefix(start)

    assert refused("nobody:7") == f"the registry {registry.host} has no image nobody:7"
    registry.push("forged:1", [layer({"a": "forged"})])
    digest = digest_of(layer({"a": "forged"}))
    registry.blobs[digest] = layer({"a": "FORGED"})
    assert refused("forged:1") == f"what the registry gave for {digest} has another digest"
    del registry.blobs[digest]
    assert refused("forged:1") == f"the registry {registry.host} has no part {digest} of the image"
    for name, pushed, problem in (
        ("climbs", layer({"../../etc/cron.d/x": "x"}), "its entry '../../etc/cron.d/x' leads out of the image"),
        ("absolute", layer({"/etc/cron.d/x": "x"}), "its entry '/etc/cron.d/x' leads out of the image"),
        ("noise", b"no archive", "one of its layers is no tar archive, or a damaged one"),
        ("large", layer({"zeros": bytes((DISK_MIB + 1) << 20)}), "it is larger than the disk of a server"),
    ):
        registry.push(f"{name}:1", [pushed])
        assert refused(f"{name}:1") == problem
    registry.push("packed:1", [b"x"], kind=LAYER.replace("gzip", "zstd"))
    assert refused("packed:1") == "its layers are compressed with zstd; only gzip is supported"
    huge = {"config": {"digest": digest_of(b""), "size": 0}, "layers": [{"digest": digest_of(b""), "size": 1 << 40}]}
    for number, (manifest, problem) in enumerate((
        (b"[]", "the registry's answer is no JSON object"),
        (json.dumps({"layers": [{"digest": "md5:1"}]}).encode(), "its manifest cannot be read"),
        (b" " * (LONGEST_DOCUMENT + 1), "the registry's answer is too long"),
        (json.dumps(huge).encode(), f"it has {1 << 40:,} bytes, and {DISK_MIB << 20:,} are the most"),
    )):  # fmt: skip
        registry.manifests[f"odd:{number}"] = (MANIFEST, manifest)
        assert refused(f"odd:{number}") == problem


def test_links_of_an_image_lead_nowhere(runs: Runs, registry: Registry, site: RunningSite, tmp_path: Path) -> None:
    target = tmp_path / "outside"
    target.mkdir()
    up = "/".join([".."] * 20)
    registry.push(
        "links:1",
        [shell_layer(), layer({"a": link(str(target)), "b": link(f"{up}{target}"), "a/x": "1", "b/y": "2"})],
    )
    runs.output(registry.reference("links:1"), "echo")
    registry.push("steals:1", [layer({"a": link("/etc"), "a/stolen": link("/etc/passwd", tarfile.LNKTYPE)})])
    assert "leads out of the image" in runs.problem(registry.reference("steals:1"))
    assert list(target.iterdir()) == []
    assert not list((site.data / "images").glob(".new-*"))


def test_only_public_addresses_and_listed_registries_are_asked(runs: Runs, registry: Registry) -> None:
    forbidden = "is, or refers to, an address that is not public"
    for image in ("localhost:1/a", "127.0.0.1:1/a", "192.168.0.1/a", registry.reference("moved/https/x")):
        assert forbidden in runs.problem(image)
    assert "is not reached" in runs.problem(f"{CLOSED}/a")
    assert runs.problem(registry.reference("moved/http/x")).endswith("refers to plain HTTP, at localhost")
    assert "Send a reference to a container image" in runs.problem("[::1]/a")
    assert registry.requests == ["/v2/moved/https/x/manifests/latest", "/v2/moved/http/x/manifests/latest"]


def test_a_site_without_namespaces_asks_no_registry(tmp_path: Path, key: KeyPair, registry: Registry) -> None:
    options = ["--machines-on", "--wall", "none", "--no-engine", "--insecure-registry", registry.host]
    with running_site(tmp_path / "site", options=options) as site:
        assert {region.containers for region in site.inventory().regions} == {False}
        tenant = Tenant(site, machines=1)
        tenant.build([key.public_line])
        tenant.wait_for(HostState.RUNNING)
        refused = Runs(tenant, registry).problem(registry.reference("tools:1"))
    assert refused == "this site runs no container images: they take a wall of user namespaces"
    assert registry.requests == []


def test_a_program_that_is_stopped_while_its_image_is_fetched_does_not_begin(runs: Runs, registry: Registry) -> None:
    registry.push("slow:1", [layer({"a": "slow"})])
    registry.may_answer.clear()
    runs.run("slow", registry.reference("slow:1"), "sh", "-c", "echo begun")
    eventually(lambda: any("/slow/blobs/" in path for path in registry.requests), "the image is being fetched")
    assert runs.get("slow").ended is None
    runs.stop("slow")
    job = runs.ended("slow")
    assert (job.ended, job.exit_status, log_of(job)) == ("stopped", None, "")


SERVER = """
import http.server
print("up", flush=True)
http.server.HTTPServer(("127.0.0.1", 8000), http.server.SimpleHTTPRequestHandler).serve_forever()
"""


def test_a_program_in_an_image_is_checked_and_reached_and_holds_ipus(
    runs: Runs, registry: Registry, tenant: Tenant, key: KeyPair, tmp_path: Path
) -> None:
    registry.push("server:1", [shell_layer(), python_layer()], {"Env": PYTHON_VARIABLES})
    check = {"port": 8000, "path": "/", "interval": 0.1, "timeout": 30}
    image = registry.reference("server:1")
    runs.run("serves", image, "ipu-run", "--", "python3", "-c", SERVER, check=check)

    def is_healthy() -> bool:
        job = runs.get("serves")
        assert job.ended is None, (job.detail, log_of(job))
        return job.health is not None and job.health.passed

    eventually(is_healthy, "a check has passed")
    login = OpenSsh(tenant.ssh(), key, tmp_path / "known_hosts")
    answer = login.ssh(stdin=b"GET / HTTP/1.0\r\n\r\n", flags=["-W", "127.0.0.1:8000"])
    assert answer.stdout.startswith(b"HTTP/1.0 200 OK"), answer.stderr
    host = tenant.observe()
    assert (host.attached_ipus, (host.memory_used_bytes or 0) > 0) == (4, True)
    runs.stop("serves")
    assert runs.ended("serves").ended == "stopped"
    eventually(lambda: tenant.observe().attached_ipus == 0, "its IPUs are free")


@needs(Need.ENGINE)
def test_an_image_that_the_engine_has_is_taken_from_there(tmp_path: Path, key: KeyPair, registry: Registry) -> None:
    docker, name = program("docker"), registry.reference(f"engine-{secrets.token_hex(4)}:1")
    variables = ["--change", "ENV WHERE=engine", "--change", "WORKDIR /app"]
    files = layer({"app/hello": "from the engine"})
    built = tmp_path / "image.tar"
    with tarfile.open(built, "w") as archive:
        for each in (shell_layer(), files):
            with tarfile.open(fileobj=io.BytesIO(each)) as packed:
                for entry in packed:
                    archive.addfile(entry, packed.extractfile(entry))
    subprocess.run([docker, "import", *variables, str(built), name], check=True, capture_output=True, timeout=PATIENCE)
    try:
        with running_site(tmp_path / "site", options=["--machines-on"]) as site:
            tenant = Tenant(site, machines=1)
            tenant.build([key.public_line])
            tenant.wait_for(HostState.RUNNING)
            runs = Runs(tenant, registry)
            output = runs.output(name, 'read -r line < hello; echo "$line at $WHERE in $PWD"')
            assert output == "from the engine at engine in /app\n"
            problem = runs.problem(name, login={"username": "ci", "password": PASSWORD})
            assert "from the engine" not in problem, "a login is for a registry"
    finally:
        subprocess.run([docker, "image", "rm", name], check=True, capture_output=True, timeout=PATIENCE)


def test_the_images_that_run_or_were_used_last_are_kept(runs: Runs, registry: Registry, site: RunningSite) -> None:
    first = registry.push("kept:0", [shell_layer(), layer({"number": "0"})])
    runs.run("keeps", registry.reference("kept:0"), "sh", "-c", "echo up; read -r line < /dev/ptmx")
    eventually(lambda: log_of(runs.get("keeps")) == "up\n", "it runs")
    digests = [registry.push(f"kept:{n}", [layer({"number": str(n)})]) for n in range(1, MOST_IMAGES + 2)]
    for number in range(1, MOST_IMAGES + 2):
        runs.run(f"keeps-{number}", registry.reference(f"kept:{number}"), "/none")
        assert runs.ended(f"keeps-{number}").exit_status == 127, "it has no such program"
    kept = {path.name for path in (site.data / "images").iterdir()}
    newest = {each.removeprefix("sha256:") for each in (first, *digests[-MOST_IMAGES + 1 :])}
    assert kept == newest
    runs.stop("keeps")
    assert runs.ended("keeps").ended == "stopped"
