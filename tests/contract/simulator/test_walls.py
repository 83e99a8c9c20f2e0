"""Which wall is put around the programs of servers, and what happens where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ipucloud.laboratory.simulator.ssh.confinement import in_container
from ipucloud.wire.site import HostState
from tests.support.machine import WALLS, Need, need, needs
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.site import RunningSite, running_site
from tests.support.tenant import Jobs, Tenant, log_of
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)

HARDENED = "tests.support.hardened"
"""A site whose machine refuses both walls."""


@pytest.fixture(scope="module")
def hardened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    need(Need.LANDLOCK)
    # A site in a container would go on, as it does with `auto`.
    options = ["--machines-on", "--wall", "landlock"]
    with running_site(tmp_path_factory.mktemp("hardened"), options=options, program=HARDENED) as site:
        yield site


def shown(site: RunningSite) -> dict[str, object]:
    document: dict[str, object] = site.http().get("/v1/confinement").raise_for_status().json()
    return document


@pytest.mark.parametrize("wall", WALLS)
def test_the_site_shows_its_wall_and_in_what_it_is_weaker(tmp_path: Path, wall: str) -> None:
    need(WALLS[wall])
    with running_site(tmp_path, options=["--wall", wall]) as site:
        confinement = shown(site)
    assert (confinement["wall"], confinement["problem"]) == (wall, None)
    assert bool(confinement["weaknesses"]) == (wall == "landlock")


def test_without_a_wall_logins_and_jobs_are_refused(hardened: RunningSite, key: KeyPair, tmp_path: Path) -> None:
    tenant = Tenant(hardened, machines=0)
    tenant.deploy([key.public_line], user_data="#!/bin/sh\ntouch /data/made\n")
    tenant.wait_for(HostState.RUNNING)
    refused = OpenSsh(tenant.ssh(), key, tmp_path / "known_hosts").ssh("touch made")
    sentence = "this machine cannot confine the programs of customers, so that none is run"
    assert refused.returncode == 255
    assert sentence in refused.stderr.decode()
    assert "start the site with --unconfined" in refused.stderr.decode()
    assert OpenSsh(tenant.ssh(), key, tmp_path / "known_hosts").sftp("ls\n").returncode != 0
    eventually(lambda: _user_data(tenant) != "running", "cloud-init is done")
    cloud_init = tenant.observe().cloud_init
    assert cloud_init is not None
    [error] = cloud_init.errors
    assert error.startswith(f"user data was not carried out: {sentence}")
    jobs = Jobs(tenant)
    jobs.start("one", "true")
    job = jobs.ended("one")
    assert (job.ended, sentence in (job.detail or "")) == ("not_started", True)
    assert sentence in str(shown(hardened)["problem"])
    assert not list((hardened.data / "hosts" / tenant.host / "disk").rglob("made"))


def _user_data(tenant: Tenant) -> str | None:
    cloud_init = tenant.observe().cloud_init
    return None if cloud_init is None else cloud_init.status


def test_who_says_so_gets_programs_without_a_wall(key: KeyPair, tmp_path: Path) -> None:
    need(Need.LANDLOCK)
    options = ["--machines-on", "--unconfined"]
    with running_site(tmp_path / "site", options=options, program=HARDENED) as site:
        tenant = Tenant(site, machines=0)
        tenant.deploy([key.public_line])
        done = OpenSsh(tenant.ssh(), key, tmp_path / "known_hosts").ssh('cd && pwd; whoami; echo "$IPUCLOUD_ROOT"')
        disk = site.data / "hosts" / tenant.host / "disk"
        assert done.stdout.decode().splitlines() == [f"{disk}/home/ubuntu", "ubuntu", str(disk)]
        assert shown(site)["wall"] == "none"


@pytest.mark.parametrize("variable", ["KUBERNETES_SERVICE_HOST", "container"])
def test_a_container_is_known_by_what_its_engine_leaves_there(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "docker")
    assert in_container()


def test_behind_landlock_user_data_and_jobs_find_the_paths_of_the_server(key: KeyPair, tmp_path: Path) -> None:
    need(Need.LANDLOCK)
    user_data = """\
#cloud-config
hostname: trainer
write_files:
- {path: /home/ubuntu/train.py, content: "print('trained')"}
runcmd:
- cd && python3 train.py > "$IPUCLOUD_ROOT/data/result"
- [sh, -c, hostname >> "$IPUCLOUD_ROOT/data/result"]
"""
    with running_site(tmp_path / "site", options=["--machines-on", "--wall", "landlock"]) as site:
        tenant = Tenant(site, machines=0)
        tenant.deploy([key.public_line], user_data=user_data)
        tenant.wait_for(HostState.RUNNING)
        eventually(lambda: _user_data(tenant) == "done", "cloud-init is done")
        jobs = Jobs(tenant)
        jobs.start("one", "cat", "result", directory="/data")
        job = jobs.ended("one")
        assert (job.exit_status, log_of(job)) == (0, "trained\ntrainer\n")
        login = OpenSsh(tenant.ssh(), key, tmp_path / "known_hosts")
        output = "/var/log/cloud-init-output.log"
        assert login.sftp(f"get {output} {tmp_path}/log\nget /data/result {tmp_path}/result\n").returncode == 0
        assert (tmp_path / "result").read_text() == "trained\ntrainer\n"
