"""One Poplar server: a real SSH server with its own key, keys of its customer, disk and environment."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from pathlib import Path

import asyncssh

from ipucloud.laboratory.simulator.ports import PortTaken, listen_on
from ipucloud.laboratory.simulator.sandbox.sandbox import Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.sources import allows
from ipucloud.laboratory.simulator.ssh import s3_files
from ipucloud.laboratory.simulator.ssh.activity import Activity
from ipucloud.laboratory.simulator.ssh.authorized_keys import LoginKeys, parse_keys
from ipucloud.laboratory.simulator.ssh.cloud_init import LOG as CLOUD_INIT_LOG
from ipucloud.laboratory.simulator.ssh.cloud_init import FirstBoot
from ipucloud.laboratory.simulator.ssh.console import Console
from ipucloud.laboratory.simulator.ssh.containers import Containers, Place
from ipucloud.laboratory.simulator.ssh.disk import DISK_FOLDER, JOBS_FOLDER, Disk, host_key
from ipucloud.laboratory.simulator.ssh.disk_files import ServerFiles
from ipucloud.laboratory.simulator.ssh.disk_free import DiskFree
from ipucloud.laboratory.simulator.ssh.forwarding import forwarded
from ipucloud.laboratory.simulator.ssh.ipu_commands import IpuPrograms
from ipucloud.laboratory.simulator.ssh.ipu_run import IpuRun
from ipucloud.laboratory.simulator.ssh.jobs import Jobs
from ipucloud.laboratory.simulator.ssh.server_host import ServerHost
from ipucloud.laboratory.simulator.ssh.site_files import write_authority, write_config, write_preemption
from ipucloud.laboratory.simulator.ssh.spec import kept_user_data
from ipucloud.laboratory.simulator.ssh.sshd import Admission, listen
from ipucloud.laboratory.simulator.ssh.userland import Userland, files_of
from ipucloud.laboratory.simulator.ssh.visible_devices import config_of, current_environment, devices_of
from ipucloud.vipu_cli.endpoint import VipuProblem
from ipucloud.vipu_cli.files import FOLDER
from ipucloud.wire.images import JobImage
from ipucloud.wire.site import CONSOLE_BYTES, CloudInit, S3Remote, ServerSpec, Ssh

COUNT_TIMEOUT = 2.0


class PoplarServer:
    """A deployed server. `start` and `stop` are boot and shutdown; disk and host key outlive both.

    `console`: where this boot is written to; None for one that began in an earlier process of the site.
    """

    def __init__(
        self,
        spec: ServerSpec,
        folder: Path,
        host: ServerHost,
        *,
        buckets: Sequence[S3Remote] = (),
        preempt_at: datetime | None = None,
        allowed_sources: Sequence[str] = (),
        console: Console | None = None,
    ) -> None:
        self.spec = spec
        self.ssh: Ssh | None = None
        self.ipus_visible: int | None = None
        self.detail: str | None = None
        self._user_data = kept_user_data(spec)
        # Who exchanges the keys wants these and no others: those of the user data are of the first revision.
        more = self._user_data.ssh_authorized_keys if spec.keys_revision == 1 else ()
        self.keys = parse_keys([*spec.ssh_authorized_keys, *more])
        self.login_keys = LoginKeys()
        self.allowed_sources = tuple(allowed_sources)
        self.connections: set[asyncssh.SSHServerConnection] = set()
        self.activity = Activity()
        self._folder = folder
        self._host = host
        self._disk = Disk(folder / DISK_FOLDER, spec.user, host.disk_size)
        self._first_boot = FirstBoot(self._user_data, folder / "cloud-init.json")
        self._preparing: asyncio.Task[None] | None = None
        programs = IpuPrograms(host.fabric, spec.ipus).all() | {
            "cloud-init": self._first_boot.program,
            "df": DiskFree(self._disk.root, host.volumes),
        }
        ipu_run = IpuRun(host.fabric, spec.ipus, spec.user, self.activity)
        self._userland = Userland(
            *(self._disk, self._hostname(), programs, ipu_run), wall=host.confinement.wall, made_from=spec.image
        )
        self._containers = Containers(
            host.images,
            host.confinement,
            lambda image: Userland(
                *(self._disk, self._hostname(), programs, ipu_run),
                wall=host.confinement.wall,
                image=image,
                authority=host.fabric.authority(),
            ),
        )
        self.jobs = Jobs(folder / JOBS_FOLDER, self)
        self._acceptor: asyncssh.SSHAcceptor | None = None
        self._buckets = buckets
        self._preempt_at = preempt_at
        self._console = console

    async def start(self, port: int | None) -> int:
        """Listen, on `port` if it is given and free; answers the port."""
        await asyncio.to_thread(self._make_folders)
        await asyncio.to_thread(self.jobs.load)
        write_authority(self._files, self._host.fabric.authority())
        with suppress(OSError):  # as with the authority: the customer's affair
            await asyncio.to_thread(s3_files.write, self._files, self._buckets)
        with suppress(OSError):
            await self.tell_of_preemption(self._preempt_at)
        key = host_key(self._folder, self.spec.name)

        async def serve(chosen: int) -> asyncssh.SSHAcceptor:
            return await listen(self, self._host.bind, chosen, key)

        try:
            port, self._acceptor = await listen_on(port, serve, self._host.ports)
        except PortTaken:
            port, self._acceptor = await listen_on(None, serve, self._host.ports)
        public = key.convert_to_public()
        self.ssh = Ssh(
            host=self._host.advertised_address,
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
        return self._first_boot.report

    def load(self) -> dict[str, float | int]:
        """How busy it is, under the names of `Host`."""
        usage = self._userland.load()
        for more in self._containers.loads():
            usage["cpu_percent"] = min(100.0, usage["cpu_percent"] + more["cpu_percent"])
            usage["memory_used_bytes"] = min(
                usage["memory_bytes"], usage["memory_used_bytes"] + more["memory_used_bytes"]
            )
        return usage

    def _make_folders(self) -> None:
        """Make the folders that a fresh server has."""
        self._disk.root.mkdir(parents=True, exist_ok=True)
        for folder in (self._disk.home, "/tmp", FOLDER):  # noqa: S108 - a path on the simulated disk
            with suppress(OSError):  # a customer's own programs have put something else there
                self._files.make_folder(folder)

    async def _prepare(self) -> None:
        """Carry out the user data."""
        await self._first_boot.carry_out(self.sandbox)
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
        await asyncio.to_thread(write_preemption, self._files, preempt_at)

    async def count_ipus(self) -> None:
        """Count the IPUs as `gc-info` on the server does: the server's own, or those that its controller reports."""
        fabric, env = self._host.fabric, self.spec.environment
        try:
            if fabric.server is not None:
                self.ipus_visible = len((await devices_of(fabric, self._files, env, self.spec.ipus)).ipus)
            else:
                choice, config = await config_of(fabric, self._files, env, COUNT_TIMEOUT)
                self.ipus_visible = sum(len(gcd.devices) for gcd in config.gcd_configs)
                write_config(self._files, choice, config)
        except VipuProblem as problem:
            self.ipus_visible, self.detail = None, str(problem)
        else:
            self.detail = None

    async def sandbox(self) -> Sandbox:
        """The sandbox of the customer's programs. Raises SandboxProblem."""
        return await self._userland.sandbox()

    @asynccontextmanager
    async def place(self, image: JobImage | None) -> AsyncIterator[Place]:
        """Where a program of the control plane runs. Raises ImageProblem, SandboxProblem."""
        if image is None:
            yield Place(await self.sandbox(), {})
        else:
            async with self._containers.open(image) as place:
                yield place

    async def environment(self) -> dict[str, str]:
        """What a login finds in its environment, beside what every program does."""
        write_authority(self._files, self._host.fabric.authority())
        variables = await current_environment(self._host.fabric, self.spec.environment)
        return variables | s3_files.environment(self._buckets)

    @property
    def _files(self) -> ServerFiles:
        """The disk from outside, on which programs of the customer may have left what they like."""
        return files_of(self._disk)

    def _hostname(self) -> str:
        """The cluster's name with the server's number; without it, the server's own name."""
        if self._user_data.hostname is not None:
            return self._user_data.hostname
        cluster = self.spec.environment.get("IPUCLOUD_CLUSTER")
        return f"{cluster}-{self.spec.name.rpartition('-')[2]}" if cluster else self.spec.name

    def answers(self) -> bool:
        """Whether connections are served now."""
        return self._host.answers()

    def admits(self, address: str, port: int) -> Admission:
        """Whom a connection from there lets log in; `port` tells which one it is of those that addresses lead on."""
        client = self._host.client_of(port) or address
        if allows(self.allowed_sources, client):
            return Admission.EVERYBODY
        return Admission.CONTROL_PLANE if self._host.is_control_plane(client) else Admission.NOBODY

    async def connect(self, port: int) -> asyncssh.SSHTCPSession[bytes]:
        """A connection to what listens on the server itself. Raises ChannelOpenError."""
        try:
            connection = await (await self.sandbox()).connect(port)
        except SandboxProblem as problem:
            in_container = await self._containers.connect(port)
            if in_container is None:
                raise asyncssh.ChannelOpenError(asyncssh.OPEN_CONNECT_FAILED, str(problem)) from problem
            connection = in_container
        connection.setblocking(False)
        return forwarded(connection)
