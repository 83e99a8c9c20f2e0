"""What one customer can take of the site by its built-in shell: who asks for everything gets an end, others answers."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import asyncssh
import pytest

from ipucloud.laboratory.simulator.ssh.disk import BLOCK, MAX_DEPTH
from ipucloud.laboratory.simulator.ssh.door import MAX_CONNECTIONS
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.server import PoplarServer
from ipucloud.laboratory.simulator.ssh.surroundings import Surroundings
from ipucloud.vipu_cli.controller import Channels
from ipucloud.wire.site import ServerSpec
from tests.support.site import BUILT_IN, RunningSite, running_site
from tests.support.tenant import Tenant

pytestmark = pytest.mark.anyio

SECONDS = 120.0
DISK = 8 * 1024 * 1024
SPARE = 256 * 1024 * 1024
"""What the site's memory may grow by. What the attacks ask for is several times as much."""


@pytest.fixture(scope="module")
def key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ssh-ed25519")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSite]:
    with running_site(tmp_path_factory.mktemp("site"), options=["--machines-on", "--disk", "8", *BUILT_IN]) as site:
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
    neighbour.attach()
    neighbour.put_server([key.export_public_key().decode()]).raise_for_status()
    return neighbour


async def connected(tenant: Tenant, key: asyncssh.SSHKey) -> asyncssh.SSHClientConnection:
    at = await asyncio.to_thread(tenant.ssh)
    known = asyncssh.import_known_hosts(f"[{at.host}]:{at.port} {at.host_key}\n")
    return await asyncssh.connect(
        at.host, at.port, username=at.user, client_keys=[key], known_hosts=known, config=None, agent_path=None
    )


@pytest.fixture
async def login(tenant: Tenant, key: asyncssh.SSHKey) -> AsyncIterator[asyncssh.SSHClientConnection]:
    async with await connected(tenant, key) as connection:
        yield connection
        await outcome(connection, "rm -rf /data /tmp/a ~/a ~/b ~/big ~/g ~/sink; export", check=False)


async def outcome(
    connection: asyncssh.SSHClientConnection, command: str, stdin: str = "", *, check: bool = True
) -> tuple[int | None, str]:
    """The exit status of a command, and all that it says."""
    done = await connection.run(command, input=stdin, check=check, timeout=SECONDS)
    return done.exit_status, f"{done.stdout!s}{done.stderr!s}"


async def check_others(tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey) -> None:
    """Another login of the same server, another server, the controller and the site's HTTP all answer."""
    for each in (tenant, neighbour):
        async with await connected(each, key) as connection:
            assert await outcome(connection, "echo alive") == (0, "alive\n")
    assert "tenant" in await asyncio.to_thread(tenant.vipu.partitions)
    assert (await asyncio.to_thread(tenant.observe)).ipus_visible == 16


async def fill(file: asyncssh.SFTPClientFile) -> None:
    """Write more than the disk holds."""
    for _ in range(2 * DISK // 65536):
        await file.write(bytes(65536))


def memory(site: RunningSite) -> int:
    """The resident memory of the site, in bytes."""
    return int(Path(f"/proc/{site.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def taken(tenant: Tenant) -> int:
    """What the customer's files take of this machine's disk."""
    disk = tenant.site.data / "hosts" / tenant.host / "disk"
    return sum(path.stat().st_size for path in disk.rglob("*") if path.is_file())


async def test_a_file_that_is_appended_to_itself_ends_with_the_disk(
    tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey, login: asyncssh.SSHClientConnection
) -> None:
    filling = asyncio.create_task(outcome(login, f"echo {'seed' * 5000} > g; cat g >> g", check=False))
    await check_others(tenant, neighbour, key)
    assert await filling == (1, "cat: No space left on device\n")
    assert DISK - 64 * 1024 < taken(tenant) <= DISK
    status, said = await outcome(login, f"echo {'more' * 5000} > h", check=False)
    assert (status, said.endswith(": No space left on device\n")) == (1, True)
    assert await outcome(login, "rm g; echo more > h; cat h") == (0, "more\n")


async def test_a_variable_that_multiplies_itself_is_refused(
    tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey, login: asyncssh.SSHClientConnection
) -> None:
    before = memory(tenant.site)
    status, text = await outcome(login, "A=0123456789;" + "A=$A$A$A$A;" * 40, check=False)
    assert status == 2
    assert text.startswith("bash: xrealloc: cannot allocate ")
    assert memory(tenant.site) - before < SPARE
    await check_others(tenant, neighbour, key)


async def test_who_reads_gets_all_that_is_within_the_limits(login: asyncssh.SSHClientConnection) -> None:
    long = "é" * 1000
    status, text = await outcome(login, f"A={long};" + "A=$A$A;" * 8 + "echo $A$A$A > g; echo $A$A$A; cat g")
    assert (status, text == (long * 768 + "\n") * 2) == (0, True)


async def test_a_command_without_end_leaves_the_others_their_turn(
    tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey, login: asyncssh.SSHClientConnection
) -> None:
    endless = "export X='" + 'bash -c "$X";' * 100 + '\'; bash -c "$X"'
    running = [await login.create_process(endless) for _ in range(3)]
    await check_others(tenant, neighbour, key)
    assert [process.exit_status for process in running] == [None] * 3
    for process in running:
        process.close()


async def test_sftp_meets_the_end_of_the_disk_too(login: asyncssh.SSHClientConnection, tenant: Tenant) -> None:
    async with login.start_sftp_client() as sftp:
        async with sftp.open("big", "wb") as file:
            with pytest.raises(asyncssh.SFTPFailure, match="No space left on device"):
                await fill(file)
        assert (await sftp.statvfs(".")).bavail * BLOCK < 65536 + BLOCK
        with pytest.raises(asyncssh.SFTPFailure, match="No space left on device"):
            await sftp.copy("big", "twice", remote_only=True)
        with pytest.raises(asyncssh.SFTPFailure, match="No space left on device"):
            await sftp.truncate("big", 1 << 40)
        assert taken(tenant) <= DISK
        await sftp.truncate("big", 0)
        for name in ("big", "twice"):
            await sftp.remove(name)
        assert (await sftp.statvfs(".")).bavail * BLOCK > DISK - 64 * 1024


async def test_scp_meets_the_end_of_the_disk_too(
    login: asyncssh.SSHClientConnection, tenant: Tenant, tmp_path: Path
) -> None:
    source = tmp_path / "big"
    source.write_bytes(bytes(2 * DISK))
    with pytest.raises(asyncssh.SFTPError, match="No space left on device"):
        await asyncssh.scp(source, (login, "big"))
    assert taken(tenant) <= DISK


async def test_a_removed_file_gives_its_space_back_although_it_is_open(
    login: asyncssh.SSHClientConnection, tenant: Tenant
) -> None:
    before = taken(tenant)
    async with login.start_sftp_client() as sftp:
        for _ in range(4):
            file = await sftp.open("big", "wb")
            await file.write(b"x" * (DISK // 2))
            await sftp.remove("big")
        with pytest.raises(asyncssh.SFTPFailure, match=os.strerror(errno.ESTALE)):
            await file.write(b"more")
    assert taken(tenant) == before


async def test_empty_entries_take_space(login: asyncssh.SSHClientConnection) -> None:
    async with login.start_sftp_client() as sftp:
        await sftp.mkdir("a")
        made = [sftp.mkdir(f"a/{number}") for number in range(DISK // BLOCK)]
        with pytest.raises(asyncssh.SFTPFailure, match="No space left on device"):
            await asyncio.gather(*made)
    assert await outcome(login, "rm -r a; touch a; rm a") == (0, "")


async def test_folders_end_where_they_could_not_be_wiped_any_more(
    login: asyncssh.SSHClientConnection, tenant: Tenant
) -> None:
    deep = "/".join("d" * (MAX_DEPTH // 2))
    assert await outcome(login, f"mkdir -p /data/{deep} /tmp/a/{deep}") == (0, "")
    for command in (f"mv /tmp/a /data/{deep}", f"mkdir -p /data/{deep}/{deep}"):
        assert "File name too long" in (await outcome(login, command, check=False))[1]
    assert await outcome(login, "rm -r /data /tmp/a") == (0, "")


async def test_a_line_has_an_end(login: asyncssh.SSHClientConnection) -> None:
    done = await login.run(input="x" * 10_000_000, timeout=SECONDS)
    assert (done.exit_status, done.stderr) == (2, "bash: the line is too long\n")
    for command in ("wc -w", "grep -c x"):
        assert await outcome(login, command, "x" * 3_000_000, check=False) == (2, "memory exhausted\n")


@pytest.mark.parametrize("content", ["1", "[]", "null", '{"devices": 1}', "[" * 1_000_000, "x" * 2_000_000])
async def test_a_configuration_file_that_is_none_is_reported(login: asyncssh.SSHClientConnection, content: str) -> None:
    command = "cat > big; export IPUOF_CONFIG_PATH=~/big; gc-info -l"
    status, text = await outcome(login, command, content, check=False)
    assert status == 1
    assert "IPUoF configuration file" in text


async def test_what_a_pipe_holds_has_an_end(login: asyncssh.SSHClientConnection) -> None:
    assert await outcome(login, "cat | true", "x\n" * 2_000_000) == (0, "Killed\n")


async def test_a_server_has_so_many_connections(tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey) -> None:
    at = await asyncio.to_thread(tenant.ssh)
    held = [await asyncio.open_connection(at.host, at.port) for _ in range(MAX_CONNECTIONS)]
    for reader, _ in held:
        assert (await reader.readline()).startswith(b"SSH-2.0")
    with pytest.raises((asyncssh.ConnectionLost, ConnectionError)):
        await connected(tenant, key)
    async with await connected(neighbour, key) as other:
        assert await outcome(other, "echo alive") == (0, "alive\n")
    for _, writer in held:
        writer.close()
        await writer.wait_closed()
    await check_others(tenant, neighbour, key)


async def test_forwarding_is_refused_however_often_it_is_asked_for(
    tenant: Tenant, neighbour: Tenant, key: asyncssh.SSHKey, login: asyncssh.SSHClientConnection
) -> None:
    port = int(tenant.site.url.rsplit(":", 1)[1])
    asked = [login.open_connection("127.0.0.1", port) for _ in range(500)]
    answers = await asyncio.gather(*asked, return_exceptions=True)
    assert all(isinstance(answer, asyncssh.ChannelOpenError) for answer in answers)
    for _ in range(20):
        with pytest.raises(asyncssh.ChannelListenError):
            await login.forward_remote_port("127.0.0.1", 0, "127.0.0.1", port)
    await check_others(tenant, neighbour, key)


async def test_a_command_is_killed_when_its_time_is_over(key: asyncssh.SSHKey, tmp_path: Path) -> None:
    fabric = Fabric(Channels(), None, lambda: None, lambda _: None, None, lambda: False, lambda _: {})
    spec = ServerSpec(
        name="s", image="i", ssh_authorized_keys=[key.export_public_key().decode()], environment={}, network="n"
    )
    server = PoplarServer(spec, tmp_path, Surroundings("127.0.0.1", "127.0.0.1", fabric, DISK, command_seconds=0.01))
    port = await server.start(None)
    try:
        async with asyncssh.connect(
            "127.0.0.1", port, username=spec.user, client_keys=[key], known_hosts=None, config=None, agent_path=None
        ) as connection:
            for command in ("sleep 1000", 'bash -c "sleep 1000; echo never"'):
                assert await outcome(connection, command + "; echo never", check=False) == (137, "Killed\n")
    finally:
        await server.stop()
