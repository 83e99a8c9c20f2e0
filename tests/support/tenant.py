"""A tenant on a simulated site, set up by the site's own calls, without a control plane."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import httpx

from ipucloud.site.vipu_ports import UserEndpoint
from ipucloud.wire.site import Host, HostState, Ssh
from tests.support.site import RunningSite
from tests.support.vipu import VipuDriver
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
        self.vipu = VipuDriver(self.site.channel(REGION))

    def build(self, keys: Sequence[str], **environment: str) -> None:
        """Network, allocation, partition and server; returns once all of them were asked for."""
        self.attach()
        region = self.site.region(REGION)
        agents = [machine.name for machine in region.pods[0].machines[: self.machines]]
        self.vipu.allocate(self.name, region.pods[0].cluster_id, agents)
        self.vipu.create(self.name, 4 * self.machines, allocation_id=self.name, reconfigurable=True)
        self.put_server(keys, **environment).raise_for_status()

    def attach(self) -> None:
        machines = [machine.name for machine in self.site.region(REGION).pods[0].machines[: self.machines]]
        spec = {"region": REGION, "machines": machines, "hosts": [self.host]}
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
