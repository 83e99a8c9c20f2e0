"""A customer at a terminal: types `ipucloud` commands, and uses ssh and sftp where they are installed."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import asyncssh

from ipucloud.cli import ssh as openssh
from ipucloud.cli.service.child import end, leashed
from ipucloud.cli.service.errors import CommandError
from ipucloud.cli.service.system import System
from ipucloud.client.models.clusters import PoplarServer, Ssh

COMMAND_SECONDS = 300.0
LOGIN_SECONDS = 30.0


class Refused(CommandError):
    """A command ended with a status other than 0; `reason` is the last thing it said."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(f"`{what}` {reason}")
        self.reason = reason


class Customer:
    """Works in `folder`: its settings, keys and files. `quiet`: nothing is shown of what it types."""

    def __init__(self, system: System, folder: Path, *, quiet: bool) -> None:
        self._system = system
        self._quiet = quiet
        self.folder = folder
        self.token = system.token
        folder.mkdir(mode=0o700)

    async def asks(self, *command: str) -> Any:  # Any: the command's JSON document
        """Type `ipucloud <command> --json` and read its answer. Raises Refused."""
        return json.loads(await self.types(*command, "--json"))

    async def types(self, *command: str) -> str:
        """Type `ipucloud <command>` and read what it prints. Raises Refused."""
        if not self._quiet:
            sys.stderr.write(f"$ ipucloud {shlex.join(command)}\n")
        environment = {
            "IPUCLOUD_URL": self._system.url,
            "IPUCLOUD_TOKEN": self.token,
            "IPUCLOUD_PROJECT": self._system.project,
            "IPUCLOUD_CONFIG_DIR": str(self.folder),
        }
        pipe = asyncio.subprocess.PIPE
        process = await leashed(
            "ipucloud.cli.main", *command, environment=environment, out=pipe, err=pipe if self._quiet else None
        )
        return await _finished(process, f"ipucloud {shlex.join(command)}", COMMAND_SECONDS)


class Login(Protocol):
    """One server, one private key."""

    async def put(self, local: Path, remote: str) -> None:
        """Upload a file by SFTP."""

    async def get(self, remote: str, local: Path) -> None:
        """Download a file by SFTP."""

    async def run(self, command: str) -> str:
        """Log in, run a command, and answer what it prints. Raises Refused, also when the key is refused."""


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
        return await _finished(process, program, LOGIN_SECONDS, batch.encode())


class LibrarySsh:
    """The same by asyncssh, for a machine without OpenSSH."""

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
    """Make an Ed25519 key pair, `path` and `path`.pub; answer the public one."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    path.touch(mode=0o600)
    key.write_private_key(str(path))
    public = path.with_name(path.name + ".pub")
    key.write_public_key(str(public))
    return public


async def _finished(process: asyncio.subprocess.Process, what: str, seconds: float, sent: bytes | None = None) -> str:
    """What the process printed. Raises Refused when it fails or takes too long."""
    try:
        async with asyncio.timeout(seconds):
            out, err = await _talked(process, sent)
    except TimeoutError:
        raise Refused(what, f"took longer than {seconds:g} seconds") from None
    finally:
        if process.returncode is None:
            await end(process)
    if process.returncode != 0:
        words = (err or out).decode(errors="replace").strip().splitlines()
        raise Refused(what, words[-1] if words else f"ended with status {process.returncode}")
    return out.decode(errors="replace")


async def _talked(process: asyncio.subprocess.Process, sent: bytes | None) -> tuple[bytes, bytes]:
    """Its output and errors. Its input stays open until it ends unless something is `sent`: that is its leash."""
    if sent is not None:
        return await process.communicate(sent)
    out, err = await asyncio.gather(_all(process.stdout), _all(process.stderr))
    await process.wait()
    if process.stdin is not None:
        process.stdin.close()
        with suppress(BrokenPipeError, ConnectionResetError):
            await process.stdin.wait_closed()
    return out, err


async def _all(stream: asyncio.StreamReader | None) -> bytes:
    return await stream.read() if stream is not None else b""
