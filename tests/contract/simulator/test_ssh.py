"""Poplar servers through the ordinary OpenSSH client, as a customer uses them, behind each wall."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from ipucloud.wire.site import HostState
from tests.contract.simulator.outcomes import output
from tests.support.machine import WALLS, Need, need, needs, program
from tests.support.openssh import KeyPair, OpenSsh, make_key
from tests.support.site import RunningSite, running_site
from tests.support.tenant import Tenant
from tests.support.waiting import eventually

pytestmark = needs(Need.OPENSSH)

EVERY_BYTE = bytes(range(256)) * 500


@pytest.fixture(scope="module", params=WALLS)
def tenant(request: pytest.FixtureRequest, folder: Path, key: KeyPair) -> Iterator[Tenant]:
    """A POD16 with its Poplar server, shared by the tests that leave it as it is."""
    need(WALLS[request.param])
    with running_site(folder / request.param, options=["--machines-on", "--wall", request.param]) as site:
        tenant = Tenant(site)
        tenant.build([key.public_line])
        yield tenant


@pytest.fixture(scope="module")
def login(tenant: Tenant, folder: Path, key: KeyPair) -> OpenSsh:
    return OpenSsh(tenant.ssh(), key, folder / "known_hosts")


@pytest.fixture(scope="module")
def root(login: OpenSsh) -> str:
    """Where the server's disk is for its programs: nothing where that is the root directory."""
    return output(login, 'echo "$IPUCLOUD_ROOT"').strip()


def test_gc_info_lists_every_ipu_and_every_group_of_them(login: OpenSsh) -> None:
    listing = output(login, "gc-info -l")
    single = re.findall(r"^-\+- Id: \[(\d+)\], target: \[Fabric\]", listing, re.MULTILINE)
    groups = re.findall(r"^-\+- Id: \[(\d+)\], target: \[Multi IPU\]", listing, re.MULTILINE)
    assert single == [str(number) for number in range(16)]
    assert groups == [str(number) for number in range(16, 31)]
    assert listing.startswith("Graphcore device listing:\nPartition: tenant [active]\n-+- Id: [0]")
    assert "-+- Id: [5], target: [Fabric], IPU-M host: [10.5.1.2], IPU#: [2]" in listing


def test_vipu_shows_no_partition_of_another_tenant(tenant: Tenant, login: OpenSsh) -> None:
    tenant.vipu.allocate("other", tenant.vipu.cluster, [tenant.vipu.pod[8]])
    tenant.vipu.create("other", 4, allocation_id="other")
    assert "other" not in output(login, "vipu list partitions")


def test_the_environment_leads_to_the_controller(tenant: Tenant, login: OpenSsh) -> None:
    endpoint = tenant.site.user_endpoint("tenant")
    assert output(login, 'echo "$IPUOF_VIPU_API_HOST:$IPUOF_VIPU_API_PORT $IPUOF_VIPU_API_PARTITION_ID"') == (
        f"{endpoint.host}:{endpoint.port} tenant\n"
    )


def test_the_ipuof_configuration_lies_where_poplar_reads_it(tenant: Tenant, login: OpenSsh) -> None:
    tenant.observe()
    text = output(login, "cat ~/.ipuof.conf.d/tenant_ipuof.conf")
    assert text.count('"server_port"') == 16
    assert '"GCD Id": "0"' in text


@pytest.mark.parametrize(
    ("environment", "cause"),
    [
        ("IPUOF_VIPU_API_PARTITION_ID=; rm -f ~/.ipuof.conf.d/tenant_ipuof.conf", "no partition"),
        ("IPUOF_VIPU_API_PARTITION_ID=none", "'none' does not exist"),
        ("IPUOF_VIPU_API_PORT=1", "unreachable"),
        ("IPUOF_VIPU_API_HOST=", "no V-IPU controller"),
        ("IPUOF_VIPU_API_GCD_ID=7", "not 7"),
    ],
)
def test_a_failure_names_its_cause(login: OpenSsh, environment: str, cause: str) -> None:
    done = login.ssh(f"export {environment}; gc-info -l")
    assert done.returncode == 1
    assert cause in done.stderr.decode()


@pytest.mark.parametrize("legacy", [False, True], ids=["sftp protocol", "legacy protocol"])
def test_scp_carries_files_both_ways(login: OpenSsh, root: str, tmp_path: Path, legacy: bool) -> None:
    source, back = tmp_path / "up.bin", tmp_path / "down.bin"
    source.write_bytes(EVERY_BYTE)
    assert login.scp(str(source), ":scp.bin", legacy=legacy).returncode == 0
    path = f"{root}/home/ubuntu/scp.bin" if legacy else "/home/ubuntu/scp.bin"
    assert login.scp(f":{path}", str(back), legacy=legacy).returncode == 0
    assert back.read_bytes() == EVERY_BYTE


def test_sftp_starts_at_home_and_carries_files_both_ways(login: OpenSsh, tmp_path: Path) -> None:
    source, back = tmp_path / "up.bin", tmp_path / "down.bin"
    source.write_bytes(EVERY_BYTE)
    done = login.sftp(f"pwd\nmkdir work\ncd work\nput {source} data.bin\nls\nget data.bin {back}\nrm data.bin\n")
    assert done.returncode == 0, done.stderr
    assert b"/home/ubuntu" in done.stdout
    assert back.read_bytes() == EVERY_BYTE


def test_bytes_pass_unchanged_and_lines_run_as_a_script(login: OpenSsh, root: str) -> None:
    done = login.ssh("cat > piped.bin && cat piped.bin && rm piped.bin", stdin=EVERY_BYTE)
    assert done.stdout == EVERY_BYTE
    done = login.ssh(stdin=b'cd "$IPUCLOUD_ROOT/data"\npwd\nfalse\n')
    assert (done.stdout.decode(), done.returncode) == (f"{root}/data\n", 1)


def test_a_terminal_gets_a_prompt_and_the_exit_status(login: OpenSsh) -> None:
    done = login.ssh(flags=["-tt"], stdin=b"whoami\nexit 3\n")
    assert done.returncode == 3
    assert b"ubuntu@tenant-h1:~$ " in done.stdout
    assert re.search(rb"(\r|\n|\$ )ubuntu\r?\n", done.stdout)


def test_foreign_keys_other_users_and_passwords_are_refused(login: OpenSsh, folder: Path, tmp_path: Path) -> None:
    foreign = OpenSsh(login.at, make_key(tmp_path, "foreign"), folder / "known_hosts")
    assert foreign.ssh("true").returncode == 255
    assert login.ssh("true", user="root").returncode == 255
    offered = login.ssh("true", flags=["-o", "PubkeyAuthentication=no"])
    assert offered.returncode == 255
    assert b"Permission denied (publickey)" in offered.stderr


def test_every_server_has_its_own_host_key_and_disk(tenant: Tenant, login: OpenSsh, key: KeyPair, folder: Path) -> None:
    second = Tenant(tenant.site, name="second", host="lux2-h002", machines=0)
    second.deploy([key.public_line])
    neighbour = OpenSsh(second.ssh(), key, folder / "known_hosts_2")
    assert neighbour.at.host_key != login.at.host_key
    assert neighbour.at.port != login.at.port
    output(login, "echo mine > secret.txt")
    assert neighbour.ssh("cat secret.txt").returncode == 1


def test_a_wiped_server_is_gone_with_its_data(shared_site: RunningSite, http: httpx.Client, tmp_path: Path) -> None:
    key = make_key(tmp_path)
    tenant = Tenant(shared_site)
    tenant.deploy([key.public_line])
    login = OpenSsh(tenant.ssh(), key, tmp_path / "known_hosts")
    output(login, "echo treasure > treasure.txt")
    http.delete(f"/v1/hosts/{tenant.host}/server").raise_for_status()
    assert login.ssh("true").returncode == 255
    assert not (tenant.site.data / "hosts" / tenant.host).exists()
    tenant.put_server([key.public_line]).raise_for_status()
    again = OpenSsh(tenant.wait_for(HostState.RUNNING).ssh or login.at, key, tmp_path / "known_hosts")
    assert again.at.host_key != login.at.host_key
    assert again.ssh("cat treasure.txt").returncode == 1


def test_a_host_shows_who_is_logged_in_and_how_long_nobody_was(tenant: Tenant, login: OpenSsh) -> None:
    """Connections that prove nothing, such as those that read the host key, are no use."""
    output(login, "true")
    eventually(lambda: tenant.observe().sessions == 0, "the login ends")
    shown = tenant.observe()
    assert (shown.attached_ipus, shown.idle_seconds is not None and shown.idle_seconds >= 0) == (0, True)
    with socket.create_connection((tenant.ssh().host, tenant.ssh().port)) as stranger:
        stranger.recv(64)
        assert tenant.observe().sessions == 0
    arguments = [program("ssh"), *login.options, "-p", str(login.at.port), login.target]
    with subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as conversation:
        eventually(lambda: tenant.observe().sessions == 1, "the login is counted")
        assert tenant.observe().idle_seconds == 0
        conversation.communicate()
    eventually(lambda: tenant.observe().sessions == 0, "the login ends")
