"""One Poplar server: a real SSH server with its own key, keys of its customer, disk and environment."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import asyncssh

from ipucloud.laboratory.simulator.ports import PORTS, PortTaken, listen_on
from ipucloud.laboratory.simulator.refusal import invalid
from ipucloud.laboratory.simulator.sandbox.sandbox import Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.ssh import s3_files
from ipucloud.laboratory.simulator.ssh.authorized_keys import parse_keys
from ipucloud.laboratory.simulator.ssh.cloud_init import LOG as CLOUD_INIT_LOG
from ipucloud.laboratory.simulator.ssh.cloud_init import FirstBoot
from ipucloud.laboratory.simulator.ssh.commands import COMMANDS, ipu_run_in_shell
from ipucloud.laboratory.simulator.ssh.console import Console
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.disk_files import DiskFiles, ServerFiles
from ipucloud.laboratory.simulator.ssh.fabric import Fabric
from ipucloud.laboratory.simulator.ssh.forwarding import forwarded
from ipucloud.laboratory.simulator.ssh.ipu_commands import IpuPrograms
from ipucloud.laboratory.simulator.ssh.ipu_run import NAME as IPU_RUN
from ipucloud.laboratory.simulator.ssh.ipu_run import IpuRun
from ipucloud.laboratory.simulator.ssh.jobs import Jobs
from ipucloud.laboratory.simulator.ssh.login_keys import LoginKeys
from ipucloud.laboratory.simulator.ssh.real_session import RealSession
from ipucloud.laboratory.simulator.ssh.seen import Choice, config_of, current_environment, devices_of
from ipucloud.laboratory.simulator.ssh.session import Login, Session
from ipucloud.laboratory.simulator.ssh.shell import Shell
from ipucloud.laboratory.simulator.ssh.terminal import ENCODING_ERRORS
from ipucloud.laboratory.simulator.ssh.userland import Confinement, Userland, files_of
from ipucloud.laboratory.simulator.ssh.uses import Uses
from ipucloud.laboratory.simulator.store import replace_file
from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.ipuof import FOLDER
from ipucloud.vipu_cli.ipuof import files_of as ipuof_files
from ipucloud.wire import vipu_pb2 as pb
from ipucloud.wire.site import AUTHORITY_FILE, CONSOLE_BYTES, PREEMPTION_FILE, CloudInit, S3Remote, ServerSpec, Ssh
from ipucloud.wire.user_data import UserData, UserDataProblem
from ipucloud.wire.user_data import parse as parse_user_data

LOGIN_TIMEOUT = 30
KEEPALIVE_SECONDS = 30
MAX_CONNECTIONS = 32
WINDOW = 32 * 1024
REAL_WINDOW = 512 * 1024
HISTORY = 100
DISK_FOLDER = "disk"
KEY_FILE = "host_key"
JOBS_FOLDER = "jobs"
"""What the folder of a server has: its disk, its private SSH host key, and what is known of jobs."""
COUNT_TIMEOUT = 2.0
COMMAND_SECONDS = 3600.0
LOCALHOST = frozenset({"localhost", "127.0.0.1", "::1"})
"""The hosts to which connections are forwarded: the server itself."""
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
    ports: range = PORTS
    confinement: Confinement = field(default_factory=lambda: Confinement("built-in"))


def check_spec(spec: ServerSpec) -> None:
    """Refuse a server that could not be deployed as it is asked for."""
    if not _USER.fullmatch(spec.user):
        raise invalid(f"{spec.user!r} is not the name of a user")
    try:
        user_data = parse_user_data(spec.user_data)
    except UserDataProblem as problem:
        raise invalid(f"the user data is not supported: {problem}") from problem
    parse_keys([*spec.ssh_authorized_keys, *user_data.ssh_authorized_keys])


def _kept_user_data(spec: ServerSpec) -> UserData:
    """What is to be done at the first boot; nothing for a server of a time when user data was not looked at."""
    try:
        return parse_user_data(spec.user_data)
    except UserDataProblem:
        return UserData()


class PoplarServer:
    """A deployed server. `start` and `stop` are boot and shutdown; disk and host key outlive both.

    `console`: where this boot is written to; None for one that began in an earlier process of the site.
    """

    def __init__(
        self,
        spec: ServerSpec,
        folder: Path,
        around: Surroundings,
        *,
        buckets: Sequence[S3Remote] = (),
        preempt_at: datetime | None = None,
        console: Console | None = None,
    ) -> None:
        self.spec = spec
        self.ssh: Ssh | None = None
        self.ipus_visible: int | None = None
        self.detail: str | None = None
        self._user_data = _kept_user_data(spec)
        # Who exchanges the keys wants these and no others: those of the user data are of the first revision.
        more = self._user_data.ssh_authorized_keys if spec.keys_revision == 1 else ()
        self.keys = parse_keys([*spec.ssh_authorized_keys, *more])
        self.login_keys = LoginKeys()
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self.uses = Uses()
        self._folder = folder
        self._around = around
        self._disk = Disk(folder / DISK_FOLDER, spec.user, around.disk_size)
        self._first_boot = FirstBoot(self._user_data, folder / "cloud-init.json")
        self._preparing: asyncio.Task[None] | None = None
        self._programs = IpuPrograms(around.fabric, spec.ipus).all() | {"cloud-init": self._first_boot.program}
        self._ipu_run = IpuRun(around.fabric, spec.ipus, spec.user, self.uses)
        self._userland = Userland(self._disk, self._hostname(), self._programs, self._ipu_run)
        self.jobs = Jobs(folder / JOBS_FOLDER, self)
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._counted = False
        self._buckets = buckets
        self._preempt_at = preempt_at
        self._console = console

    async def start(self, port: int | None) -> int:
        """Listen, on `port` if it is given and free; answers the port."""
        await asyncio.to_thread(self._disk.prepare)
        await asyncio.to_thread(self.jobs.load)
        self._write_authority()
        with suppress(OSError):  # as with the authority: the customer's affair
            await asyncio.to_thread(s3_files.write, self._files, self._buckets)
        with suppress(OSError):
            await self.tell_of_preemption(self._preempt_at)
        host_key = self._host_key()
        try:
            port, self._acceptor = await listen_on(port, lambda p: self._listen(p, host_key), self._around.ports)
        except PortTaken:
            port, self._acceptor = await listen_on(None, lambda p: self._listen(p, host_key), self._around.ports)
        public = host_key.convert_to_public()
        self.ssh = Ssh(
            host=self._around.told_address,
            port=port,
            user=self.spec.user,
            host_key=public.export_public_key().decode().strip(),
            fingerprint=public.get_fingerprint(),
        )
        if self._first_boot.due:
            self._first_boot.begin()
            self._preparing = asyncio.get_running_loop().create_task(self._prepare())
        elif self._console is not None:
            self._console.cloud_init("modules:final finished")
            self._console.login(self._hostname())
        return port

    @property
    def cloud_init(self) -> CloudInit | None:
        """How its user data was carried out."""
        return self._first_boot.seen

    def load(self) -> dict[str, float | int]:
        """How busy it is, under the names of `Host`; empty where its programs are not the machine's."""
        return self._userland.load() if self._around.confinement.possible else {}

    def count_disk(self) -> None:
        """Count what is on the disk, after folders of it came or went."""
        self._disk.count()

    async def _prepare(self) -> None:
        """Carry out the user data."""
        problem = await self.confinement_problem()
        if problem is None:
            await self._first_boot.carry_out(self.sandbox)
        else:
            self._first_boot.refuse(problem)
        if self._console is not None:
            self._console.cloud_init(f"modules:final finished: {self._first_boot.summary}", self._output())
            self._console.login(self._hostname())

    def _output(self) -> bytes:
        """The end of what the user data's programs have written."""
        try:
            return self._files.read(CLOUD_INIT_LOG)[-CONSOLE_BYTES // 2 :]
        except OSError:
            return b""

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        self.ssh = None
        if self._acceptor is not None:
            self._acceptor.close()
        for connection in list(self.connections):
            connection.abort()
        if self._preparing is not None:
            self._preparing.cancel()
            await asyncio.gather(self._preparing, return_exceptions=True)
        await self.jobs.close()
        await self._userland.stop()
        if self._acceptor is not None:
            await self._acceptor.wait_closed()
            self._acceptor = None

    def exchange_keys(self, spec: ServerSpec) -> None:
        """Let the keys of `spec` in from now on, and no others. Sessions that are open stay open, as with OpenSSH."""
        self.spec, self.keys = spec, parse_keys(spec.ssh_authorized_keys)

    async def exchange_s3(self, buckets: Sequence[S3Remote]) -> None:
        """Give access to these buckets from now on, and to no others. Raises OSError."""
        await asyncio.to_thread(s3_files.write, self._files, buckets)
        self._buckets = buckets

    async def tell_of_preemption(self, preempt_at: datetime | None) -> None:
        """Let the file say when the cluster is preempted; None: there is no file. Raises OSError."""
        if preempt_at is not None:
            said = {"preempt_at": preempt_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")}
            await asyncio.to_thread(self._files.write, PREEMPTION_FILE, json.dumps(said).encode() + b"\n")
        else:
            with suppress(FileNotFoundError, NotADirectoryError):
                await asyncio.to_thread(self._files.remove, PREEMPTION_FILE)

    async def count_ipus(self) -> None:
        """Count the IPUs as `gc-info` on the server does: the server's own, or those that its controller reports."""
        fabric, env = self._around.fabric, self.spec.environment
        try:
            if fabric.server is not None:
                self.ipus_visible = len((await devices_of(fabric, self._files, env, self.spec.ipus)).ipus)
            else:
                choice, config = await config_of(fabric, self._files, env, COUNT_TIMEOUT)
                self.ipus_visible = sum(len(gcd.devices) for gcd in config.gcd_configs)
                self._write_config(choice, config)
        except VipuProblem as problem:
            self.ipus_visible, self.detail = None, str(problem)
        else:
            self.detail = None

    async def sandbox(self) -> Sandbox:
        """The sandbox of the customer's programs. Raises SandboxProblem."""
        return await self._userland.sandbox()

    async def environment(self) -> dict[str, str]:
        """What a login finds in its environment, beside what every program does."""
        self._write_authority()
        found = await current_environment(self._around.fabric, self.spec.environment)
        return found | s3_files.environment(self._buckets)

    async def new_shell(self) -> Shell:
        """A built-in shell as a login finds it."""
        env = {
            "USER": self.spec.user,
            "LOGNAME": self.spec.user,
            "HOME": self._disk.home,
            "PWD": self._disk.home,
            "SHELL": "/bin/bash",
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            **await self.environment(),
        }
        programs = {**COMMANDS, **self._programs, IPU_RUN: ipu_run_in_shell(self._ipu_run)}
        return Shell(self._disk, self._hostname(), env, programs)

    @property
    def _files(self) -> ServerFiles:
        """The disk from outside, on which programs of the customer may have left what they like."""
        return files_of(self._disk) if self._around.confinement.possible else DiskFiles(self._disk)

    def _hostname(self) -> str:
        """The cluster's name with the server's number; without it, the server's own name."""
        if self._user_data.hostname is not None:
            return self._user_data.hostname
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

    async def confinement_problem(self) -> str | None:
        """Why a login gets the built-in shell; None where it has a sandbox."""
        problem = await self._around.confinement.problem()
        if problem is not None and not self._counted:
            await asyncio.to_thread(self._disk.count)
            self._counted = True
        return problem

    def new_login(self, problem: str) -> Login:
        """A login at the built-in shell of a client that has proved who it is."""
        return Login(self._disk, lambda login: self._serve(login, problem))

    async def connect(self, port: int) -> asyncssh.SSHTCPSession[bytes]:
        """A connection to what listens on the server itself. Raises ChannelOpenError."""
        try:
            found = await (await self.sandbox()).connect(port)
        except SandboxProblem as problem:
            raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, str(problem)) from problem
        found.setblocking(False)
        return forwarded(found)

    async def _serve(self, login: Login, problem: str) -> None:
        await Session(login, await self.new_shell(), self._around.command_seconds, problem).run()

    def _host_key(self) -> asyncssh.SSHKey:
        path = self._folder / KEY_FILE
        if not path.exists():
            key = asyncssh.generate_private_key("ssh-ed25519", comment=self.spec.name)
            replace_file(path, key.export_private_key())
            path.chmod(0o600)
        return asyncssh.read_private_key(path)

    def _write_authority(self) -> None:
        """Put the authority of the controller where `vipu` finds it."""
        authority, files = self._around.fabric.authority(), self._files
        # A disk that is full is the customer's affair, as is what else they put in the way.
        with suppress(OSError):
            if authority is not None and _content(files, AUTHORITY_FILE) != authority:
                files.write(AUTHORITY_FILE, authority)

    def _write_config(self, choice: Choice, config: pb.PartitionConfig) -> None:
        """Put the IPUoF configuration files where Poplar expects them, unless the customer did."""
        gcds = int(config.gcd_configs[0].attributes.get("Number of GCDs", "1")) if config.gcd_configs else 1
        files = self._files
        present = files.names(FOLDER)
        for name, content in ipuof_files(choice.partition, config, gcds):
            if name not in present:
                with suppress(OSError):
                    files.write(f"{FOLDER}/{name}", content)


def _content(files: ServerFiles, path: str) -> bytes | None:
    try:
        return files.read(path)
    except FileNotFoundError:
        return None


class _Door(asyncssh.SSHServer):
    """Lets in the customer's user with one of the customer's keys, or a certificate for them, and nobody else."""

    def __init__(self, server: PoplarServer) -> None:
        self._server = server
        self._problem: str | None = None

    def connection_made(self, conn: asyncssh.SSHServerConnection) -> None:
        self._connection = conn
        self._server.connections.add(self._connection)
        if len(self._server.connections) > MAX_CONNECTIONS or not self._server.answers():
            conn.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self._connection)
        self._server.uses.logout(self._connection)

    def auth_completed(self) -> None:
        self._server.uses.login(self._connection)

    async def begin_auth(self, username: str) -> bool:
        self._problem = await self._server.confinement_problem()
        authorities = self._server.keys.authorities
        # With principals of the authority's line OpenSSH does not look for the user among those of a certificate.
        if authorities is not None and username == self._server.spec.user:
            self._connection.set_authorized_keys(authorities)
        return True

    def public_key_auth_supported(self) -> bool:
        return True

    def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        return username == self._server.spec.user and (
            key.public_data in self._server.keys.keys or key.public_data in self._server.login_keys
        )

    def session_requested(
        self,
    ) -> asyncssh.SSHServerSession[str] | tuple[asyncssh.SSHServerChannel[bytes], RealSession]:
        if self._problem is not None:
            return self._server.new_login(self._problem)
        channel = self._connection.create_server_channel(encoding=None, window=REAL_WINDOW)
        channel._line_editor = (
            False  # the shell in the sandbox edits its lines; asyncssh has one setting for all channels
        )
        return channel, RealSession(self._server)

    def connection_requested(
        self, dest_host: str, dest_port: int, orig_host: str, orig_port: int
    ) -> bool | Awaitable[asyncssh.SSHTCPSession[bytes]]:
        if self._problem is not None or dest_host not in LOCALHOST:
            return False
        return self._server.connect(dest_port)
