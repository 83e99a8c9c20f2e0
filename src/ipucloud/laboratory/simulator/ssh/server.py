"""One Poplar server: a real SSH server with its own key, keys of its customer, disk and environment."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import asyncssh

from ipucloud.laboratory.simulator.ports import PortTaken, listen_on
from ipucloud.laboratory.simulator.refusal import invalid
from ipucloud.laboratory.simulator.ssh.commands import COMMANDS
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.disk_files import DiskFiles
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.ipu_commands import IpuPrograms
from ipucloud.laboratory.simulator.ssh.seen import Choice, config_of, current_environment, devices_of
from ipucloud.laboratory.simulator.ssh.session import Login, Session
from ipucloud.laboratory.simulator.ssh.shell import Shell
from ipucloud.laboratory.simulator.ssh.terminal import ENCODING_ERRORS
from ipucloud.laboratory.simulator.store import read_document, replace_file
from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.ipuof import FOLDER, files_of
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.site import AUTHORITY_FILE, ServerSpec, Ssh

LOGIN_TIMEOUT = 30
KEEPALIVE_SECONDS = 30
MAX_CONNECTIONS = 32
WINDOW = 32 * 1024
HISTORY = 100
DISK_FOLDER = "disk"
KEY_FILE = "host_key"
"""What the folder of a server has: its disk, and its private SSH host key."""
COUNT_TIMEOUT = 2.0
COMMAND_SECONDS = 3600.0
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}")


@dataclass(frozen=True)
class Surroundings:
    """Where a server stands: the address it listens on, the one that others reach it by, and what it reaches.

    `disk_size` is in bytes; a login's command is killed after `command_seconds`. `answers`: whether connections to the
    SSH port are served, and not broken off at once.
    """

    bind: str
    told_address: str
    fabric: Fabric
    disk_size: int
    command_seconds: float = COMMAND_SECONDS
    answers: Callable[[], bool] = lambda: True


def parse_keys(lines: Sequence[str]) -> frozenset[bytes]:
    """The public keys in lines of `authorized_keys`. Refuses a line that holds none."""
    keys = set()
    for line in lines:
        try:
            keys.add(asyncssh.import_public_key(line).public_data)
        except asyncssh.KeyImportError as error:
            raise invalid(f"not an OpenSSH public key: {line[:40]!r}") from error
    return frozenset(keys)


def check_spec(spec: ServerSpec) -> None:
    """Refuse a server that could not be deployed as it is asked for."""
    if not _USER.fullmatch(spec.user):
        raise invalid(f"{spec.user!r} is not the name of a user")
    parse_keys(spec.ssh_authorized_keys)


class PoplarServer:
    """A deployed server. `start` and `stop` are boot and shutdown; disk and host key outlive both."""

    def __init__(self, spec: ServerSpec, folder: Path, around: Surroundings) -> None:
        self.spec = spec
        self.ssh: Ssh | None = None
        self.ipus_visible: int | None = None
        self.detail: str | None = None
        self.keys = parse_keys(spec.ssh_authorized_keys)
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self._folder = folder
        self._around = around
        self._disk = Disk(folder / DISK_FOLDER, spec.user, around.disk_size)
        self._acceptor: asyncssh.SSHAcceptor | None = None

    async def start(self, port: int | None) -> int:
        """Listen, on `port` if it is given and free; answers the port."""
        await asyncio.to_thread(self._disk.prepare)
        self._write_authority()
        host_key = self._host_key()
        try:
            port, self._acceptor = await listen_on(port, lambda p: self._listen(p, host_key))
        except PortTaken:
            port, self._acceptor = await listen_on(None, lambda p: self._listen(p, host_key))
        public = host_key.convert_to_public()
        self.ssh = Ssh(
            host=self._around.told_address,
            port=port,
            user=self.spec.user,
            host_key=public.export_public_key().decode().strip(),
            fingerprint=public.get_fingerprint(),
        )
        return port

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        self.ssh = None
        if self._acceptor is not None:
            self._acceptor.close()
        for connection in list(self.connections):
            connection.abort()
        if self._acceptor is not None:
            await self._acceptor.wait_closed()
            self._acceptor = None

    def exchange_keys(self, spec: ServerSpec) -> None:
        """Let the keys of `spec` in from now on, and no others. Sessions that are open stay open, as with OpenSSH."""
        self.spec, self.keys = spec, parse_keys(spec.ssh_authorized_keys)

    async def count_ipus(self) -> None:
        """Count the IPUs as `gc-info` on the server does: the server's own, or those that its controller reports."""
        fabric, env = self._around.fabric, self.spec.environment
        try:
            if fabric.server is not None:
                self.ipus_visible = len((await devices_of(fabric, self._disk, env, self.spec.ipus)).ipus)
            else:
                choice, config = await config_of(fabric, self._disk, env, COUNT_TIMEOUT)
                self.ipus_visible = sum(len(gcd.devices) for gcd in config.gcd_configs)
                self._write_config(choice, config)
        except VipuProblem as problem:
            self.ipus_visible, self.detail = None, str(problem)
        else:
            self.detail = None

    def new_shell(self) -> Shell:
        """A shell as a login finds it."""
        self._write_authority()
        env = {
            "USER": self.spec.user,
            "LOGNAME": self.spec.user,
            "HOME": self._disk.home,
            "PWD": self._disk.home,
            "SHELL": "/bin/bash",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            **self.spec.environment,
        }
        programs = COMMANDS | IpuPrograms(self._around.fabric, self.spec.ipus).all()
        return Shell(self._disk, self._hostname(), env, programs)

    def _hostname(self) -> str:
        """The cluster's name with the server's number; without it, the server's own name."""
        cluster = self.spec.environment.get("IPUCLOUD_CLUSTER")
        return f"{cluster}-{self.spec.name.rpartition('-')[2]}" if cluster else self.spec.name

    async def _listen(self, port: int, host_key: asyncssh.SSHKey) -> asyncssh.SSHAcceptor:
        return await asyncssh.listen(
            self._around.bind,
            port,
            backlog=MAX_CONNECTIONS,
            reuse_address=True,
            server_factory=lambda: _Door(self),
            server_host_keys=[host_key],
            password_auth=False,
            kbdint_auth=False,
            gss_host=None,
            agent_forwarding=False,
            compression_algs=None,
            errors=ENCODING_ERRORS,
            line_history=HISTORY,
            login_timeout=LOGIN_TIMEOUT,
            keepalive_interval=KEEPALIVE_SECONDS,
            window=WINDOW,
            server_version="ipucloud-simulated",
        )

    def answers(self) -> bool:
        """Whether connections are served now."""
        return self._around.answers()

    def new_login(self) -> Login:
        """A login of a client that has proved who it is."""
        return Login(self._disk, self._serve)

    async def _serve(self, login: Login) -> None:
        shell = self.new_shell()
        shell.env = await current_environment(self._around.fabric, shell.env)
        await Session(login, shell, self._around.command_seconds).run()

    def _host_key(self) -> asyncssh.SSHKey:
        path = self._folder / KEY_FILE
        if not path.exists():
            key = asyncssh.generate_private_key("ssh-ed25519", comment=self.spec.name)
            replace_file(path, key.export_private_key())
            path.chmod(0o600)
        return asyncssh.read_private_key(path)

    def _write_authority(self) -> None:
        """Put the authority of the controller where `vipu` finds it."""
        authority, path = self._around.fabric.authority(), self._disk.real(AUTHORITY_FILE)
        if authority is None or read_document(path) == authority:
            return
        with suppress(OSError), self._disk.changing(path.parent.parent, path.parent, path):
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, authority, fsync=False)

    def _write_config(self, choice: Choice, config: pb.PartitionConfig) -> None:
        """Put the IPUoF configuration files where Poplar expects them, unless the customer did."""
        gcds = int(config.gcd_configs[0].attributes.get("Number of GCDs", "1")) if config.gcd_configs else 1
        for name, content in files_of(choice.partition, config, gcds):
            path = self._disk.real(f"{FOLDER}/{name}")
            if path.parent.is_dir() and not path.exists():
                # A disk that is full is the customer's affair, as is what else they put in the way.
                with suppress(OSError):
                    DiskFiles(self._disk).write(f"{FOLDER}/{name}", content)


class _Door(asyncssh.SSHServer):
    """Lets in the customer's user with one of the customer's keys, and nobody else."""

    def __init__(self, server: PoplarServer) -> None:
        self._server = server

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._server.connections.add(self._connection)
        if len(self._server.connections) > MAX_CONNECTIONS or not self._server.answers():
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self._connection)

    def begin_auth(self, username: str) -> bool:
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == self._server.spec.user and key.public_data in self._server.keys

    def session_requested(self) -> Login:
        return self._server.new_login()
