"""User data on a Poplar server: carried out once, at the first boot, and reported on the server and by the site."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest

from ipucloud.wire.site import CloudInit, HostState
from tests.contract.simulator.outcomes import assert_refused
from tests.support.machine import Need, needs
from tests.support.openssh import KeyPair, OpenSsh, make_key
from tests.support.site import RunningSite
from tests.support.tenant import Tenant
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)

Deploy = Callable[[str], Tenant]


def deploy(site: RunningSite, key: KeyPair, number: int, user_data: str) -> Tenant:
    tenant = Tenant(site, name=f"server{number}", machines=0, host=f"lux2-h{number:03}")
    tenant.deploy([key.public_line], user_data=user_data)
    tenant.wait_for(HostState.RUNNING)
    return tenant


def cloud_init_of(tenant: Tenant) -> CloudInit:
    observed = tenant.observe().cloud_init
    assert observed is not None
    return observed


def finished(tenant: Tenant) -> CloudInit:
    eventually(lambda: cloud_init_of(tenant).status != "running", "cloud-init is done")
    return cloud_init_of(tenant)


def test_a_configuration_is_carried_out_once(site: RunningSite, key: KeyPair, folder: Path) -> None:
    other = make_key(folder, "other")
    text = f"""\
#cloud-config
hostname: trainer
package_update: true
bootcmd:
- echo early > /data/order
write_files:
- path: /etc/app/app.conf
  content: "a: 1\\n"
  permissions: '0600'
- {{path: /data/order, content: "files\\n", append: true}}
runcmd:
- cd /data
- [sh, -c, 'echo "$PWD" >> order']
- echo told; whoami
- echo again >> /data/times
ssh_authorized_keys:
- {other.public_line}
"""
    tenant = deploy(site, key, 1, text)
    assert finished(tenant) == CloudInit(status="done", errors=[])
    server = OpenSsh(tenant.ssh(), other, folder / "known_other")
    assert server.ssh("cat /etc/app/app.conf; stat -c %a /etc/app/app.conf").stdout == b"a: 1\n600\n"
    assert server.ssh("cat /data/order; hostname").stdout == b"early\nfiles\n/data\ntrainer\n"
    log = server.ssh("cat /var/log/cloud-init-output.log").stdout.decode()
    assert log.endswith("told\nubuntu\n")
    assert "package_update: skipped" in log
    assert server.ssh("cloud-init status").stdout == b"status: done\n"
    long = server.ssh("cloud-init status --long --wait").stdout.decode()
    assert "package_update: skipped" in long
    assert long.endswith("errors: []\n")
    tenant.power("reboot")
    tenant.wait_for(HostState.RUNNING)
    assert server.ssh("cat /data/times; hostname").stdout == b"again\ntrainer\n"
    assert cloud_init_of(tenant).status == "done"


def test_a_script_is_run_and_its_failure_is_told(site: RunningSite, key: KeyPair, folder: Path) -> None:
    script = "#!/usr/bin/env python3\nprint('hello'); open('/data/made', 'w').write('x'); raise SystemExit(3)\n"
    tenant = deploy(site, key, 2, script)
    error = "part-001 ended with status 3; its output is in /var/log/cloud-init-output.log"
    assert finished(tenant) == CloudInit(status="error", errors=[error])
    server = tenant.login(key, folder)
    assert server.ssh("cat /data/made; cat /var/log/cloud-init-output.log").stdout == b"xhello\n"
    status = server.ssh("cloud-init status --long")
    assert (status.returncode, error in status.stdout.decode()) == (1, True)
    assert json.loads(server.ssh("cloud-init status --format json").stdout)["errors"] == [error]


def test_each_part_that_fails_is_told_and_the_rest_goes_on(site: RunningSite, key: KeyPair) -> None:
    text = "#cloud-config\nbootcmd: ['kill -9 $$']\nwrite_files: [{path: /usr/x}]\nruncmd: [no-such-command]\n"
    errors = finished(deploy(site, key, 3, text)).errors
    assert [error.split(";")[0] for error in errors] == [
        "bootcmd was ended by SIGKILL",
        "write_files: /usr/x could not be written",
        "runcmd ended with status 127",
    ]


def test_a_boot_that_is_interrupted_is_not_repeated(site: RunningSite, key: KeyPair, folder: Path) -> None:
    tenant = deploy(site, key, 4, "#!/bin/sh\necho begun >> /data/begun\nexec sleep 100000\n")
    server = tenant.login(key, folder)
    eventually(lambda: server.ssh("cat /data/begun").stdout == b"begun\n", "the script has begun")
    assert server.ssh("cloud-init status").stdout == b"status: running\n"
    site.revive()
    tenant = Tenant(site, name=tenant.name, host=tenant.host)
    assert cloud_init_of(tenant) == CloudInit(status="error", errors=["the server went down before it was done"])
    assert tenant.login(key, folder).ssh("cat /data/begun").stdout == b"begun\n"


def test_a_server_without_user_data_is_done(site: RunningSite, key: KeyPair, folder: Path) -> None:
    tenant = deploy(site, key, 5, "")
    assert tenant.observe().cloud_init is None
    server = tenant.login(key, folder)
    assert server.ssh("cloud-init status").stdout == b"status: done\n"
    assert server.ssh("cloud-init clean").returncode == 2


def test_a_site_refuses_what_it_would_not_carry_out(site: RunningSite, key: KeyPair) -> None:
    with pytest.raises(httpx.HTTPStatusError) as refused:
        deploy(site, key, 6, "#cloud-config\npackages: [htop]\n")
    assert_refused(refused.value.response, 422, "key 'packages' is not supported")
