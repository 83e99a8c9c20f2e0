"""What one customer can take of the site by SSH: who asks for everything gets an end, others answers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator

import asyncssh
import pytest

from ipucloud.laboratory.simulator.ssh.sshd import MAX_CONNECTIONS
from tests.support.machine import Need, need
from tests.support.site import RunningSite, running_site
from tests.support.tenant import Tenant, connect

pytestmark = pytest.mark.anyio

SECONDS = 120.0


@pytest.fixture(scope="module")
def key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    need(Need.WALL)
    with running_site(tmp_path_factory.mktemp("site"), options=["--machines-on"]) as site:
        yield site


@pytest.fixture(scope="module")
def tenant(site: RunningSite, key: asyncssh.SSHKey) -> Tenant:
    tenant = Tenant(site)
    tenant.build([key.export_public_key().decode()])
    return tenant


@pytest.fixture(scope="module")
def neighbour(tenant: Tenant, key: asyncssh.SSHKey) -> Tenant:
    """Another server of the same site, with a network of its own."""
    neighbour = Tenant(tenant.site, name="neighbour", machines=0, host="lux2-h002")
    neighbour.deploy([key.export_public_key().decode()])
    return neighbour


@pytest.fixture
async def login(tenant: Tenant, key: asyncssh.SSHKey) -> AsyncIterator[asyncssh.SSHClientConnection]:
    async with await connect(tenant, key) as connection:
        yield connection


async def outcome(
    connection: asyncssh.SSHClientConnection, command: str, stdin: str = "", *, check: bool = True
) -> tuple[int | None, str]:
    """The exit status of a command, and all that it says."""
    done = await connection.run(command, input=stdin, check=check, timeout=SECONDS)
    return done.exit_status, f"{done.stdout!s}{done.stderr!s}"


async def check_others(tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey) -> None:
    """Another login of the same server, another server, the controller and the site's HTTP all answer."""
    for each in (tenant, neighbour):
        async with await connect(each, key) as connection:
            assert await outcome(connection, "echo alive") == (0, "alive\n")
    assert "tenant" in await asyncio.to_thread(tenant.vipu.partitions)
    assert (await asyncio.to_thread(tenant.observe)).ipus_visible == 16


@pytest.mark.parametrize("content", ["1", "[]", "null", '{"devices": 1}', "[" * 1_000_000, "x" * 2_000_000])
async def test_a_configuration_file_that_is_none_is_reported(login: asyncssh.SSHClientConnection, content: str) -> None:
    command = "cat > big; export IPUOF_CONFIG_PATH=~/big; gc-info -l"
    status, text = await outcome(login, command, content, check=False)
    assert status == 1
    assert "IPUoF configuration file" in text


async def test_a_server_has_so_many_connections(tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey) -> None:
    at = await asyncio.to_thread(tenant.ssh)
    held = [await asyncio.open_connection(at.host, at.port) for _ in range(MAX_CONNECTIONS)]
    for reader, _ in held:
        assert (await reader.readline()).startswith(b"SSH-2.0")
    with pytest.raises((asyncssh.ConnectionLost, ConnectionError)):
        await connect(tenant, key)
    async with await connect(neighbour, key) as other:
        assert await outcome(other, "echo alive") == (0, "alive\n")
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    await check_others(tenant, neighbour, key)


async def test_forwarding_is_refused_however_often_it_is_asked_for(
    tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey, login: asyncssh.SSHClientConnection
) -> None:
    port = int(tenant.site.url.rsplit(":", 1)[1])
    connections = [login.open_connection("127.0.0.1", port) for _ in range(500)]
    answers = await asyncio.gather(*connections, return_exceptions=True)
    assert all(isinstance(answer, asyncssh.ChannelOpenError) for answer in answers)
    for _ in range(20):
        with pytest.raises(asyncssh.ChannelListenError):
            await login.forward_remote_port("127.0.0.1", 0, "127.0.0.1", port)
    await check_others(tenant, neighbour, key)
