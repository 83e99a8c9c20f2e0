"""A simulated site as a real process of its own.

    with running_site(tmp_path / "site", machines=16) as site:
        site.http().get("/v1/inventory")

The ports survive `restart`, as they do for an operator.
"""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import grpc
import httpx

from ipucloud.laboratory.simulator.tls import Authority
from ipucloud.site.connect import SiteClients, VipuAccess
from ipucloud.site.ports import VipuAddress
from ipucloud.site.tls import ClientFiles, Credentials
from ipucloud.site.vipu_ports import UserEndpoint
from ipucloud.vipu_cli.endpoint import Security
from ipucloud.wire import vipu_admin_pb2 as admin
from ipucloud.wire import vipu_admin_pb2_grpc as admin_grpc
from ipucloud.wire.inventory import Inventory, SiteRegion, VipuEndpoint
from ipucloud.wire.vipu_calls import ACCESS_KEY as KEY_ENTRY
from ipucloud.wire.vipu_calls import USER as USER_ENTRY
from tests.support.plain import NOBODY
from tests.support.ports import own_ports
from tests.support.waiting import PATIENCE

TOKEN = "site-token-for-tests"
READY_SECONDS = PATIENCE
STOP_SECONDS = PATIENCE
CALL_SECONDS = PATIENCE


def endpoint_of(region: SiteRegion) -> VipuEndpoint:
    """Where the controller of a region under V-IPU listens."""
    assert region.vipu is not None
    return region.vipu


def address_of(region: SiteRegion) -> VipuAddress:
    """The controller of a region under V-IPU, as the control plane calls it."""
    vipu = endpoint_of(region)
    return VipuAddress(vipu.host, vipu.admin_port, vipu.secure, vipu.authority, region.region)


ADMINISTRATOR, ACCESS_KEY = "ipucloud", "vipu_of-the-control-plane"
SECURE = ("--secure", "--access-key", ACCESS_KEY)
"""Options of a site whose V-IPU controllers ask who calls; the control plane of a `World` has the key."""


class _Administrator(grpc.UnaryUnaryClientInterceptor):  # type: ignore[type-arg]  # generic in the stubs only
    """Adds the administrator's key to calls without one."""

    def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
        metadata = tuple(details.metadata or ())
        if USER_ENTRY not in dict(metadata):
            metadata = (*metadata, (USER_ENTRY, ADMINISTRATOR), (KEY_ENTRY, ACCESS_KEY))
        called = grpc.ClientCallDetails()
        called.method, called.timeout, called.metadata = details.method, details.timeout, metadata
        called.credentials, called.wait_for_ready = details.credentials, details.wait_for_ready
        called.compression = details.compression
        return continuation(called, request)


@dataclass
class RunningSite:
    """One simulated site. `options` are further arguments of `ipucloud-sim`.

    `metrics` is its address for Prometheus, with the option for it. A `durable` one survives a loss of power.
    `program` is a module that takes these arguments.
    """

    data: Path
    options: Sequence[str] = ()
    token: str = TOKEN
    durable: bool = False
    program: str = "ipucloud.laboratory.simulator.main"
    url: str = ""
    metrics: str = ""
    _process: subprocess.Popen[str] | None = None
    _clients: list[httpx.Client] = field(default_factory=list)
    _channels: list[grpc.Channel] = field(default_factory=list)

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the process and return once everything listens."""
        self.launch()
        assert self._process is not None
        ready = json.loads(_first_line(self._process, self.log))
        self.url = ready["url"]

    def launch(self) -> None:
        """Start the process and return at once."""
        self.data.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", self.program, "--data", str(self.data), *self.options]
        command += [
            "--ports",
            own_ports(),
            "--token",
            self.token,
            "--die-with-parent",
            *([] if self.durable else ["--no-fsync"]),
        ]
        with self.log.open("a") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True)

    def stop(self) -> int:
        """Ask the process to end; answers its exit status."""
        return self._end(signal.SIGTERM)

    def kill(self) -> int:
        """Kill the process as a power cut would."""
        return self._end(signal.SIGKILL)

    def revive(self) -> None:
        """Kill the process and start a new one on the same folder."""
        self.kill()
        self.start()

    def restart(self, *options: str) -> None:
        """Start a new process on the same folder, with other options if some are given."""
        if self._process is not None:
            self.stop()
        self.options = options or self.options
        self.start()

    def close(self) -> None:
        for client in self._clients:
            client.close()
        for channel in self._channels:
            channel.close()
        if self._process is not None:
            self.stop()

    @property
    def log(self) -> Path:
        """What the process wrote to standard error."""
        return self.data / "site.log"

    def http(self, *, timeout: float | httpx.Timeout = CALL_SECONDS) -> httpx.Client:
        """A client with the site's token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        client = httpx.Client(base_url=self.url, headers=headers, timeout=timeout, verify=NOBODY)
        self._clients.append(client)
        return client

    def inventory(self) -> Inventory:
        headers = {"Authorization": f"Bearer {self.token}"}
        answer = httpx.get(f"{self.url}/v1/inventory", headers=headers, timeout=CALL_SECONDS, verify=NOBODY)
        return Inventory.model_validate_json(answer.raise_for_status().content)

    def region(self, slug: str = "luxembourg-2") -> SiteRegion:
        return next(region for region in self.inventory().regions if region.region == slug)

    def endpoint(self, slug: str = "luxembourg-2") -> VipuEndpoint:
        """Where a region's V-IPU controller listens."""
        return endpoint_of(self.region(slug))

    @property
    def client_files(self) -> str:
        """Where the control plane's client certificates are, as its setting says it."""
        return str(self.data / "clients" / "{controller}.pem")

    def clients(self, *, call_timeout: float = CALL_SECONDS, url: str | None = None) -> SiteClients:
        """The control plane's clients; `url`: another way to the HTTP interface."""
        access = VipuAccess(lambda: Credentials(ADMINISTRATOR, ACCESS_KEY), ClientFiles(self.client_files))
        return SiteClients(url or self.url, token=lambda: self.token, call_timeout=call_timeout, vipu=access)

    def authority(self, slug: str = "luxembourg-2") -> Authority:
        """The authority of a region's controller, to make certificates of one's own with."""
        return Authority(self.data / "authorities", slug, self.data / "clients", fsync=False)

    def authority_file(self, slug: str = "luxembourg-2") -> Path:
        """A file with what a region's controller is verified with."""
        file = self.data / f"ca-{slug}.pem"
        file.write_text(self.endpoint(slug).authority or "")
        return file

    def client_file(self, slug: str = "luxembourg-2") -> Path:
        """The control plane's client certificate and key for a region's controller."""
        return Path(self.client_files.replace("{controller}", slug))

    def credentials(self, slug: str = "luxembourg-2") -> grpc.ChannelCredentials:
        """Those of the control plane for a region's controller."""
        own = self.client_file(slug).read_bytes()
        return grpc.ssl_channel_credentials((self.endpoint(slug).authority or "").encode(), own, own)

    def security(self, slug: str = "luxembourg-2") -> Security:
        """What commands call a region's controller with."""
        own = self.client_file(slug).read_bytes()
        return Security((self.endpoint(slug).authority or "").encode(), (own, own))

    def channel(self, slug: str = "luxembourg-2") -> grpc.Channel:
        """A channel to the administration endpoint of a region's controller, for its administrator."""
        endpoint = self.endpoint(slug)
        channel = self._channel(f"{endpoint.host}:{endpoint.admin_port}", self.credentials(slug))
        return grpc.intercept_channel(channel, _Administrator()) if "--secure" in self.options else channel

    def user_endpoint(self, allocation: str, slug: str = "luxembourg-2") -> UserEndpoint:
        """Where the customer of an allocation calls its controller."""
        service = admin_grpc.AdminServiceStub(self.channel(slug))
        query = admin.GetAllocationRequest(id=allocation)
        reply = service.GetAllocation(query, timeout=CALL_SECONDS).allocation
        return UserEndpoint(reply.endpoint_host, reply.endpoint_port)

    def user_channel(self, allocation: str, slug: str = "luxembourg-2") -> grpc.Channel:
        """A channel to the user endpoint of an allocation, without a client certificate."""
        return self.tenant_channel(*self.user_endpoint(allocation, slug), slug)

    def tenant_channel(self, host: str, port: int, slug: str = "luxembourg-2") -> grpc.Channel:
        """The same, by its address."""
        trusted = grpc.ssl_channel_credentials((self.endpoint(slug).authority or "").encode())
        return self._channel(f"{host}:{port}", trusted)

    def _channel(self, address: str, credentials: grpc.ChannelCredentials) -> grpc.Channel:
        channel = grpc.secure_channel(address, credentials, options=[("grpc.max_reconnect_backoff_ms", 200)])
        self._channels.append(channel)
        return channel

    def _end(self, how: signal.Signals) -> int:
        process = self._process
        assert process is not None
        process.send_signal(how)
        try:
            status = process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            raise AssertionError(f"the simulated site did not stop:\n{self.log.read_text()}") from None
        finally:
            if process.stdout is not None:
                process.stdout.close()
        self._process = None
        return status


@contextmanager
def running_site(
    data: Path,
    *,
    machines: int = 32,
    time_scale: float = 0.0,
    options: Sequence[str] = (),
    durable: bool = False,
    program: str = "ipucloud.laboratory.simulator.main",
) -> Iterator[RunningSite]:
    """A simulated site over `data`, stopped at the end. Time scale 0 makes everything immediate."""
    arguments = ["--machines", str(machines), "--time-scale", str(time_scale), *options]
    site = RunningSite(data, arguments, durable=durable, program=program)
    site.start()
    try:
        yield site
    finally:
        site.close()


def _first_line(process: subprocess.Popen[str], log: Path) -> str:
    assert process.stdout is not None
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        readable, _, _ = select.select([process.stdout], [], [], 0.2)
        if readable:
            line = process.stdout.readline()
            if line:
                return line
        if process.poll() is not None:
            break
    process.kill()
    process.wait()
    process.stdout.close()
    raise AssertionError(f"the simulated site did not become ready:\n{log.read_text()}")
