"""A tenant on a simulated site, set up by the site's own calls, without a control plane."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncssh
import httpx

from ipucloud.site.vipu_ports import UserEndpoint
from ipucloud.wire.site import Host, HostState, Job, Ssh
from tests.support.openssh import KeyPair, OpenSsh
from tests.support.site import RunningSite
from tests.support.vipu import PodDriver
from tests.support.waiting import eventually

REGION = "luxembourg-2"


@dataclass
class Tenant:
    """`machines` machines of the first pod, one partition over them, and a Poplar server on a host."""

    site: RunningSite
    name: str = "tenant"
    machines: int = 4
    host: str = "lux2-h001"

    def __post_init__(self) -> None:
        self.http: httpx.Client = self.site.http()
        self.vipu = PodDriver.at(self.site, REGION)

    def build(self, keys: Sequence[str], **environment: str) -> None:
        """Network, allocation, partition and server; returns once all of them were asked for."""
        self.attach()
        self.vipu.allocate(self.name, self.vipu.cluster, self.vipu.pod[: self.machines])
        self.vipu.create(self.name, 4 * self.machines, allocation_id=self.name, reconfigurable=True)
        self.put_server(keys, **environment).raise_for_status()

    def attach(self) -> None:
        spec = {"region": REGION, "machines": self.vipu.pod[: self.machines], "hosts": [self.host]}
        self.http.put(f"/v1/networks/{self.name}", json=spec).raise_for_status()

    def put_server(self, keys: Sequence[str], **environment: str) -> httpx.Response:
        return self.http.put(f"/v1/hosts/{self.host}/server", json=self.server_spec(keys, **environment))

    def server_spec(self, keys: Sequence[str], **environment: str) -> dict[str, Any]:
        """With the endpoint of the tenant's allocation in its environment, if there is one."""
        known = self.name in self.vipu.allocations()
        endpoint = self.site.user_endpoint(self.name, REGION) if known else UserEndpoint("127.0.0.1", 1)
        return {
            "name": f"{self.name}-h1",
            "image": "ubuntu-20.04-x64-poplar-1.18.0-3.0.0",
            "ssh_authorized_keys": list(keys),
            "environment": {
                "IPUOF_VIPU_API_HOST": endpoint.host,
                "IPUOF_VIPU_API_PORT": str(endpoint.port),
                "IPUOF_VIPU_API_PARTITION_ID": self.name,
                **environment,
            },
            "network": self.name,
        }

    def deploy(self, keys: Sequence[str], **spec: Any) -> None:
        """A network and a server in it; returns once they were asked for."""
        self.attach()
        body = self.server_spec(keys) | spec
        self.http.put(f"/v1/hosts/{self.host}/server", json=body).raise_for_status()

    def wipe(self) -> httpx.Response:
        return self.http.delete(f"/v1/hosts/{self.host}/server").raise_for_status()

    def power(self, action: str) -> None:
        self.http.post(f"/v1/hosts/{self.host}/power", json={"action": action}).raise_for_status()

    def observe(self) -> Host:
        return Host.model_validate(self.http.get(f"/v1/hosts/{self.host}").raise_for_status().json())

    def wait_for(self, state: HostState) -> Host:
        eventually(lambda: self.observe().state is state, f"host {self.host} becomes {state}")
        return self.observe()

    def ssh(self) -> Ssh:
        """Where the running server answers."""
        ssh = self.wait_for(HostState.RUNNING).ssh
        assert ssh is not None
        return ssh

    def login(self, key: KeyPair, folder: Path) -> OpenSsh:
        """By the OpenSSH client, with what it knows of hosts in a file in this folder."""
        return OpenSsh(self.ssh(), key, folder / f"known_{self.name}")


async def connect(tenant: Tenant, key: asyncssh.SSHKey | KeyPair) -> asyncssh.SSHClientConnection:
    """A connection to a tenant's server through an SSH library."""
    at = await asyncio.to_thread(tenant.ssh)
    known = asyncssh.import_known_hosts(f"[{at.host}]:{at.port} {at.host_key}\n")
    own = str(key.private) if isinstance(key, KeyPair) else key
    return await asyncssh.connect(
        at.host, at.port, username=at.user, client_keys=[own], known_hosts=known, config=None, agent_path=None
    )


class Jobs:
    """Programs that the control plane runs on a tenant's server."""

    def __init__(self, tenant: Tenant) -> None:
        self._http = tenant.http
        self._jobs = f"/v1/hosts/{tenant.host}/server/jobs"
        self.of = {"server": f"{tenant.name}-h1", "network": tenant.name}

    def put(self, name: str, *command: str, **more: Any) -> httpx.Response:
        body = self.of | {"generation": 1, "command": command} | more
        return self._http.put(f"{self._jobs}/{name}", json=body)

    def start(self, name: str, *command: str, **more: Any) -> Job:
        return Job.model_validate(self.put(name, *command, **more).raise_for_status().json())

    def look(self, name: str, log_from: int = 0) -> httpx.Response:
        return self._http.get(f"{self._jobs}/{name}", params=self.of | {"log_from": str(log_from)})

    def get(self, name: str, log_from: int = 0) -> Job:
        return Job.model_validate(self.look(name, log_from).raise_for_status().json())

    def stop(self, name: str) -> Job:
        answer = self._http.post(f"{self._jobs}/{name}/stop", json=self.of)
        return Job.model_validate(answer.raise_for_status().json())

    def ended(self, name: str) -> Job:
        eventually(lambda: self.get(name).ended is not None, f"job {name} ends")
        return self.get(name)


def log_of(job: Job) -> str:
    return b64decode(job.log).decode()
