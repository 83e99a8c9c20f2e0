"""Poplar servers through an SSH library: what a test sees only from inside a connection, or without OpenSSH."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial

import asyncssh
import httpx
import pytest

from tests.support.site import RunningSite
from tests.support.tenant import Tenant, connect

SECONDS = 120.0


@pytest.fixture
def key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture
def tenant(shared_site: RunningSite, http: httpx.Client, key: asyncssh.SSHKey) -> Tenant:
    tenant = Tenant(shared_site)
    tenant.build([key.export_public_key().decode()])
    return tenant


def fail(tenant: Tenant) -> None:
    tenant.http.post(f"/v1/hosts/{tenant.host}:fail").raise_for_status()


@pytest.mark.anyio
async def test_commands_and_files_need_no_openssh(tenant: Tenant, key: asyncssh.SSHKey) -> None:
    async with await connect(tenant, key) as connection:
        listing = await connection.run("gc-info -l", check=True, timeout=SECONDS)
        assert str(listing.stdout).count("target: [Fabric]") == 16
        async with connection.start_sftp_client() as sftp:
            async with sftp.open("note.txt", "w") as file:
                await file.write("hello")
            path = str(await sftp.realpath("note.txt"))
            assert path.endswith("/home/ubuntu/note.txt"), "in front of it may be where the server's disk is"
        assert (await connection.run("cat note.txt", timeout=SECONDS)).stdout == "hello"


@pytest.mark.anyio
async def test_a_foreign_key_is_refused(tenant: Tenant) -> None:
    with pytest.raises(asyncssh.PermissionDenied):
        await connect(tenant, asyncssh.generate_private_key("ssh-ed25519"))


@pytest.mark.anyio
@pytest.mark.parametrize("end", [Tenant.wipe, partial(Tenant.power, action="off"), fail])
async def test_live_connections_end_with_the_server(
    tenant: Tenant, key: asyncssh.SSHKey, end: Callable[[Tenant], object]
) -> None:
    at = tenant.ssh()
    connection = await connect(tenant, key)
    process = await connection.create_process(term_type="xterm")
    await asyncio.to_thread(end, tenant)
    await asyncio.wait_for(connection.wait_closed(), SECONDS)
    assert process.exit_status is None
    with pytest.raises(ConnectionRefusedError):
        await asyncio.wait_for(asyncio.open_connection(at.host, at.port), SECONDS)


@pytest.mark.anyio
async def test_a_terminal_has_one_screen_and_the_name_of_the_cluster(
    shared_site: RunningSite, http: httpx.Client, key: asyncssh.SSHKey
) -> None:
    tenant = Tenant(shared_site)
    tenant.build([key.export_public_key().decode()], IPUCLOUD_CLUSTER="bert")
    async with await connect(tenant, key) as connection:
        process = await connection.create_process(term_type="xterm")
        assert "ubuntu@bert-h1:~$ " in await process.stdout.readuntil("$ ")
        process.stdin.write("nonsense\n")
        shown = await asyncio.wait_for(process.stdout.readuntil("$ "), SECONDS)
        assert "nonsense: command not found" in shown
        assert "\n" not in shown.replace("\r\n", ""), "every line starts at the left"


async def press(process: asyncssh.SSHClientProcess[str], keys: str, shown: Awaitable[object]) -> None:
    """Press keys until something is shown: bash notes an interrupt between its echo and its next read only at a key."""
    waiting = asyncio.ensure_future(shown)
    while not waiting.done():
        process.stdin.write(keys)
        await asyncio.wait([waiting], timeout=5.0)
    await waiting


@pytest.mark.anyio
async def test_an_interactive_shell_survives_an_interrupt(tenant: Tenant, key: asyncssh.SSHKey) -> None:
    async with await connect(tenant, key) as connection:
        process = await connection.create_process(term_type="xterm")
        await process.stdout.readuntil("$ ")
        process.stdin.write("half a line")
        await asyncio.wait_for(process.stdout.readuntil("half a line"), SECONDS)
        await press(process, "\x03", process.stdout.readuntil("$ "))
        await press(process, "pwd\n", process.stdout.readuntil("/home/ubuntu\r\n"))
        await press(process, "\x04", process.wait_closed())
        assert process.exit_status == 0
