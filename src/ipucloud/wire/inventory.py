"""The hardware of a site, and its V-IPU controllers, as the site lists them: the answer of `/v1/inventory`."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from ipucloud.wire.base import Wire

MAX_AUTHORITY = 65_536
"""Maximum length of a controller's authority: dozens of certificates."""


class VipuEndpoint(Wire):
    """The administration endpoint of a region's V-IPU controller, which tells the user endpoints of its allocations.

    `secure`: callers prove themselves with a user and an access key (`ipucloud.wire.vipu_keys`), here an administrator.
    `authority`: the certificates, PEM, that all its endpoints are verified with; the name or address verified is their
    host. The administration asks for a client certificate that this controller accepts. None: it speaks plaintext.
    `cluster_test`: it can test links and traffic of an allocation that nobody uses yet.
    """

    host: str
    admin_port: int
    secure: bool = False
    authority: str | None = Field(None, max_length=MAX_AUTHORITY)
    cluster_test: bool = True


class VipuController(VipuEndpoint):
    """One of several controllers of a region. `name` is part of the paths of client certificates."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")


class SiteMachine(Wire):
    """An IPU machine in its pod. `name` is also its V-IPU agent id; `slot` counts from 0 along the IPU-Link chain.

    `gateway` is the address of its IPU-Gateway; a server with IPUs of its own has none. `topology_ids`: how the V-IPU
    controller numbers its IPUs 0 to 3 within the IPU-Link domain; None: along the chain, 4 × slot + IPU.
    """

    name: str
    slot: int = Field(ge=0, le=15)
    rnic: str
    bmc: str
    gateway: str | None = None
    topology_ids: list[Annotated[int, Field(ge=0, le=63)]] | None = Field(None, min_length=4, max_length=4)

    @property
    def numbers(self) -> list[int]:
        """How the controller numbers its IPUs, told or not."""
        return self.topology_ids or [4 * self.slot + ipu for ipu in range(4)]


class SitePod(Wire):
    """One IPU-Link domain: up to 16 machines. Pods of one `gw_group` join by GW-Links, in `position` order.

    A server with IPUs of its own is a pod of one machine, without V-IPU and GW-Links; the topology is that of its IPUs.
    `controller` names the one that the pod is under, where its region has several; pods of one `gw_group` are under the
    same.
    """

    name: str
    machine_type: str
    cluster_id: str | None = Field(
        None, description="the V-IPU cluster that holds the pod's agents; None without V-IPU"
    )
    controller: str | None = None
    gw_group: str
    position: int = Field(ge=0)
    topology: Literal["mesh", "torus", "ladder", "line"]
    gateway_topology: Literal["looped", "switched"] | None = None
    machines: list[SiteMachine]

    @model_validator(mode="after")
    def _every_ipu_has_its_number(self) -> Self:
        ids = [number for machine in self.machines for number in machine.numbers]
        if len(set(ids)) != len(ids):
            raise ValueError(f"two IPUs of pod {self.name} have the same topology id")
        return self


class SiteHost(Wire):
    """A server that can become a Poplar server. `machine` names the IPU machine that it is itself, if it is one."""

    name: str
    address: str
    machine: str | None = None


class SiteRegion(Wire):
    """All hardware of one region. `typical_seconds` maps a deployment stage to its usual length for a POD16.

    `vipu` is the only V-IPU controller, named like its region; or there are several `controllers`, which all have users
    or none. Neither where no machine is under V-IPU. `simulated`: there is no hardware, and the site can be asked to
    break it. `containers`: its servers run programs in container images (`ipucloud.wire.images`).
    """

    region: str
    vipu: VipuEndpoint | None = None
    controllers: list[VipuController] = Field(default_factory=list)
    pods: list[SitePod]
    hosts: list[SiteHost]
    typical_seconds: dict[str, float] = Field(default_factory=dict)
    simulated: bool = False
    containers: bool = False

    @property
    def by_name(self) -> dict[str, VipuEndpoint]:
        """Its controllers."""
        return ({} if self.vipu is None else {self.region: self.vipu}) | {each.name: each for each in self.controllers}

    def controller_of(self, pod: SitePod) -> str | None:
        """The name of the controller that one of its pods is under; None without V-IPU."""
        return None if pod.cluster_id is None else pod.controller or self.region

    @model_validator(mode="after")
    def _every_pod_has_its_controller(self) -> Self:
        known = self.by_name
        if len(known) != len(self.controllers) + (self.vipu is not None):
            raise ValueError(f"two V-IPU controllers of {self.region} have the same name")
        if len({each.secure for each in known.values()}) > 1:
            raise ValueError(f"some V-IPU controllers of {self.region} have users, and some have none")
        groups: dict[str, str | None] = {}
        for pod in self.pods:
            name = self.controller_of(pod)
            if name is not None and name not in known:
                raise ValueError(f"pod {pod.name} is under V-IPU controller {name}, which {self.region} does not list")
            if groups.setdefault(pod.gw_group, name) != name:
                raise ValueError(
                    f"pods of gw_group {pod.gw_group} are under different V-IPU controllers, whose clusters cannot span"
                    " them: list them as groups of their own"
                )
        return self


class Inventory(Wire):
    regions: list[SiteRegion]
