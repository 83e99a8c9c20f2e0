"""Logging in to a Poplar server and carrying files, with OpenSSH or with a library."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Protocol

import asyncssh

from ipucloud.cli import ssh as openssh
from ipucloud.client.models import PoplarServer, Ssh
from ipucloud.laboratory.keeper.finishing import Refused, finished

LOGIN_SECONDS = 30.0


class Login(Protocol):
    """One server, one private key."""

    async def put(self, local: Path, remote: str) -> None:
        """Upload a file by SFTP."""

    async def get(self, remote: str, local: Path) -> None:
        """Download a file by SFTP."""

    async def run(self, command: str) -> str:
        """Log in and run a command; returns its output. Raises Refused, also if the key is refused."""


def login(server: PoplarServer, address: Ssh, key: Path, folder: Path) -> Login:
    """Log in with OpenSSH if it is installed, else with a library."""
    if openssh.installed():
        return OpenSsh(server, address, key, openssh.pin_host_key(folder / "known_hosts", server, address))
    return LibrarySsh(address, key)


class OpenSsh:
    """The programs `ssh` and `sftp`."""

    def __init__(self, server: PoplarServer, address: Ssh, key: Path, known_hosts: Path) -> None:
        self._options = [*openssh.options(server, known_hosts, key), "-o", "BatchMode=yes"]
        self._options += ["-o", f"ConnectTimeout={LOGIN_SECONDS:g}"]
        self._address = address

    async def put(self, local: Path, remote: str) -> None:
        await self._sftp(f'put "{local}" "{remote}"')

    async def get(self, remote: str, local: Path) -> None:
        await self._sftp(f'get "{remote}" "{local}"')

    async def run(self, command: str) -> str:
        return await self._execute("ssh", "-p", str(self._address.port), self._destination, command)

    async def _sftp(self, batch: str) -> None:
        await self._execute("sftp", "-b", "-", "-P", str(self._address.port), self._destination, batch=batch)

    @property
    def _destination(self) -> str:
        return f"{self._address.user}@{self._address.host}"

    async def _execute(self, program: str, *arguments: str, batch: str = "") -> str:
        pipe = asyncio.subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            program, *self._options, *arguments, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
        )
        return await finished(process, program, LOGIN_SECONDS, batch.encode())


class LibrarySsh:
    """The same with asyncssh, for machines without OpenSSH."""

    def __init__(self, address: Ssh, key: Path) -> None:
        self._address = address
        self._key = key

    async def put(self, local: Path, remote: str) -> None:
        async with await self._connect() as connection, connection.start_sftp_client() as sftp:
            await sftp.put(str(local), remote)

    async def get(self, remote: str, local: Path) -> None:
        async with await self._connect() as connection, connection.start_sftp_client() as sftp:
            await sftp.get(remote, str(local))

    async def run(self, command: str) -> str:
        async with await self._connect() as connection:
            done = await connection.run(command)
        if done.exit_status != 0:
            raise Refused(command, f"ended with status {done.exit_status}")
        return str(done.stdout)

    async def _connect(self) -> asyncssh.SSHClientConnection:
        host_key = asyncssh.import_public_key(self._address.host_key or "")
        try:
            return await asyncssh.connect(
                self._address.host,
                self._address.port,
                username=self._address.user,
                client_keys=[str(self._key)],
                agent_path=None,
                known_hosts=([host_key], [], []),
                config=None,
                connect_timeout=LOGIN_SECONDS,
            )
        except (asyncssh.Error, OSError) as error:
            raise Refused("ssh", str(error)) from error


def make_key(path: Path) -> Path:
    """Create an Ed25519 key pair, `path` and `path`.pub; returns the public key."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    path.touch(mode=0o600)
    key.write_private_key(str(path))
    public = path.with_name(path.name + ".pub")
    key.write_public_key(str(public))
    return public
