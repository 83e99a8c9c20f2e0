"""Both ways to log in and carry files, against a real SSH server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncssh
import pytest

from ipucloud.cli import ssh as openssh
from ipucloud.client.models import PoplarServer, Ssh
from ipucloud.laboratory.demo.logins import LibrarySsh, Login, OpenSsh, make_key
from ipucloud.laboratory.keeper.finishing import Refused
from tests.support.machine import Need, needs

WAYS = [
    "library",
    pytest.param("openssh", marks=needs(Need.OPENSSH)),
]


class Files(asyncssh.SFTPServer):
    """Everything in one folder."""

    folder: Path

    def __init__(self, channel: asyncssh.SSHServerChannel[bytes]) -> None:
        super().__init__(channel, chroot=bytes(self.folder))


async def answer(process: asyncssh.SSHServerProcess[str]) -> None:
    process.stdout.write(f"you typed {process.command}\n")
    process.exit(3 if process.command == "fail" else 0)


@asynccontextmanager
async def ssh_server(folder: Path) -> AsyncIterator[Ssh]:
    """A server that lets in the key in `folder`/key alone."""
    files = type("FilesHere", (Files,), {"folder": folder / "disk"})
    (folder / "disk").mkdir()
    host_key = asyncssh.generate_private_key("ssh-ed25519")
    server = await asyncssh.listen(
        "127.0.0.1",
        0,
        server_host_keys=[host_key],
        authorized_client_keys=str(make_key(folder / "key")),
        process_factory=answer,
        sftp_factory=files,
    )
    line = host_key.export_public_key().decode().strip()
    async with server:
        port, fingerprint = server.get_port(), host_key.get_fingerprint()
        command = f"ssh -p {port} ubuntu@127.0.0.1"
        yield Ssh(
            host="127.0.0.1", port=port, user="ubuntu", command=command, host_key=line, host_key_fingerprint=fingerprint
        )


def way_in(way: str, address: Ssh, key: Path) -> Login:
    if way == "library":
        return LibrarySsh(address, key)
    server = PoplarServer(id="server-1", name="p0", state="running", ssh=address)
    return OpenSsh(server, address, key, openssh.pin_host_key(key.parent / "known_hosts", server, address))


@pytest.mark.parametrize("way", WAYS)
def test_a_customer_runs_commands_and_carries_files(way: str, tmp_path: Path) -> None:
    async def go() -> str:
        async with ssh_server(tmp_path) as address:
            server = way_in(way, address, tmp_path / "key")
            await server.put(sent, "data.bin")
            await server.get("data.bin", back)
            return await server.run("gc-info -l")

    sent, back = tmp_path / "sent file", tmp_path / "back"
    sent.write_bytes(b"\x00\xff" * 1000)
    assert asyncio.run(go()) == "you typed gc-info -l\n"
    assert back.read_bytes() == sent.read_bytes()


@pytest.mark.parametrize("way", WAYS)
def test_a_command_that_fails_and_a_key_that_is_refused_are_reported(way: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with ssh_server(tmp_path) as address:
            with pytest.raises(Refused):
                await way_in(way, address, tmp_path / "key").run("fail")
            with pytest.raises(Refused, match=r"[Pp]ermission denied"):
                await way_in(way, address, tmp_path / "stranger").run("true")

    make_key(tmp_path / "stranger")
    asyncio.run(go())


@pytest.mark.parametrize("way", WAYS)
def test_a_server_that_shows_another_host_key_is_not_logged_in_to(way: str, tmp_path: Path) -> None:
    async def go() -> None:
        async with ssh_server(tmp_path) as address:
            posing = address.model_copy(update={"host_key": other})
            with pytest.raises(Refused):
                await way_in(way, posing, tmp_path / "key").run("true")

    other = asyncssh.generate_private_key("ssh-ed25519").export_public_key().decode().strip()
    asyncio.run(go())


def test_a_private_key_is_readable_by_its_owner_alone(tmp_path: Path) -> None:
    public = make_key(tmp_path / "key")
    assert (tmp_path / "key").stat().st_mode & 0o077 == 0
    assert public.read_text().startswith("ssh-ed25519 ")
