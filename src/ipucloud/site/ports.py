"""What the control plane needs of a site, as protocols, and how a call to one can fail.

Reads return None for what does not exist. A `put` or `create` of an identical existing object, and a `delete` or
`remove` of a missing one, succeed: every step can run again from its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from ipucloud.site.vipu_ports import Vipu
from ipucloud.wire.inventory import Inventory
from ipucloud.wire.redfish import RedfishLogEntry, RedfishSystem
from ipucloud.wire.site import Console, Host, Job, JobRequest, LoginKey, Network, NetworkSpec, S3Remote, ServerSpec
from ipucloud.wire.storage import (
    Address,
    AddressAttachment,
    AddressSpec,
    Snapshot,
    SnapshotSpec,
    Volume,
    VolumeAttachment,
    VolumeSpec,
)


class Addresses(Protocol):
    """Public addresses that outlive servers."""

    async def get(self, name: str) -> Address | None: ...
    async def put(self, name: str, spec: AddressSpec) -> Address:
        """Reserve an address; the answer has its IP address and port.

        Raises SiteRefused for a name that was deleted, and when the site has none left.
        """

    async def attach(self, name: str, attachment: AddressAttachment) -> Address | None:
        """Attach or detach it; None where there is no such address.

        Raises SiteBusy once it has had a later revision, and while its server does not run or is in another network.
        """

    async def delete(self, name: str) -> None:
        """Give it back. Raises SiteBusy while it is attached."""


class Volumes(Protocol):
    """Storage that outlives servers."""

    async def get(self, name: str) -> Volume | None: ...
    async def put(self, name: str, spec: VolumeSpec) -> Volume:
        """Make the volume, or let it grow.

        Raises SiteRefused for a name that was deleted, and for a snapshot that is not ready or is larger; SiteBusy if
        it would shrink.
        """

    async def attach(self, name: str, attachment: VolumeAttachment) -> Volume | None:
        """Attach or detach it; None where there is no such volume.

        Raises SiteBusy once it has had a later revision, and while its server does not run or is in another network.
        """

    async def delete(self, name: str) -> None:
        """With its files. Raises SiteBusy while it is attached."""


class Snapshots(Protocol):
    """Copies of volumes that outlive them."""

    async def get(self, name: str) -> Snapshot | None: ...
    async def put(self, name: str, spec: SnapshotSpec) -> Snapshot:
        """Begin to copy the volume as it is now; it is copied once it is `ready`.

        Raises SiteRefused for a name that was deleted, and for a volume that does not exist there; SiteBusy for a
        name that is another volume's snapshot.
        """

    async def delete(self, name: str) -> None:
        """With its files. Volumes that were made from it keep theirs."""


class Networks(Protocol):
    """Tenant networks."""

    async def get(self, name: str) -> Network | None: ...
    async def list(self, region: str) -> Sequence[Network]: ...
    async def put(self, name: str, spec: NetworkSpec) -> Network: ...
    async def delete(self, name: str) -> None: ...


class Hosts(Protocol):
    """Servers that become Poplar servers."""

    async def get(self, host: str) -> Host: ...
    async def list(self, region: str) -> Sequence[Host]:
        """As `get` for each, except that IPUs are not counted: that needs a login."""

    async def put_server(self, host: str, spec: ServerSpec) -> Host: ...
    async def delete_server(self, host: str, name: str) -> None: ...
    async def switch_on(self, host: str, server: str, network: str, environment: Mapping[str, str]) -> Host:
        """Boot the server with this environment for its logins, in this tenant network only.

        A server that already runs there is left alone; one that ran for another network is restarted. Raises SiteBusy
        while the host has another server, or is not in the network.
        """

    async def switch_off(self, host: str, server: str, network: str) -> Host:
        """For the tenant of `network`; disk, host key and address stay.

        Raises SiteBusy while the host has another server, or is in another tenant's network.
        """

    async def restart(self, host: str, server: str, network: str, *, boot_id: str, hard: bool) -> Host:
        """Start the server of this tenant network again, unless it has started again since the boot `boot_id`.

        `hard`: by cutting its power. Raises SiteBusy after another start, and as `switch_off` does.
        """

    async def put_keys(self, host: str, server: str, network: str, keys: Sequence[str], *, revision: int) -> Host:
        """Let these keys, and no others, log in to the server of this tenant network, which may be off.

        Raises SiteBusy once the server has had a later revision of its keys, and as `switch_off` does.
        """

    async def put_login_key(self, host: str, name: str, key: LoginKey) -> Host:
        """Let one more key log in for some seconds; a later call of the same name can only make it fewer.

        The site ends it by itself. Raises SiteBusy while the host does not run, and as `switch_off` does.
        """

    async def put_sources(self, host: str, server: str, network: str, sources: Sequence[str], *, revision: int) -> Host:
        """Let SSH connections to the server of this tenant network in from these networks only; none: from everywhere.

        Raises SiteBusy once the server has had a later revision of them, and as `switch_off` does.
        """

    async def put_s3(
        self, host: str, server: str, network: str, connections: Sequence[S3Remote], *, revision: int
    ) -> Host:
        """Give the server of this tenant network access to these buckets, and to no others.

        Raises SiteBusy once the server has had a later revision of them, and as `switch_off` does.
        """

    async def put_preemption(
        self, host: str, server: str, network: str, preempt_at: datetime | None, *, revision: int
    ) -> Host:
        """Say on the running server of this tenant network when its cluster is preempted; None: it is not.

        Raises SiteBusy once the server has had a later revision of that, while it does not run, and as `switch_off`
        does.
        """

    async def rebuild(self, host: str, spec: ServerSpec, *, disk: Literal["keep", "wipe"]) -> Host:
        """Write the server of this name and tenant network again, unless it has this generation already.

        `disk`: whether `/home` and the host key stay, or nothing does. Raises SiteBusy once it has had this generation
        with another specification, or a later one; and as `switch_off` does.
        """

    async def put_job(self, host: str, job: str, request: JobRequest) -> Job:
        """Start a program on a server that runs, unless one of this name was started there before.

        A real site has, for example, a transient unit of systemd for each job. Raises SiteBusy while the host does not
        run, and as `switch_off` does.
        """

    async def get_job(self, host: str, job: str, *, server: str, network: str, log_from: int) -> Job | None:
        """The program with its log from this byte on; None where the server knows no such job. Raises as `put_job`."""

    async def stop_job(self, host: str, job: str, *, server: str, network: str) -> Job:
        """End the program, or keep it from starting: a `put_job` that arrives later finds it ended. Raises as that."""

    async def console(self, host: str, server: str, network: str, *, after: int) -> Console | None:
        """The boots whose console was written to after so many bytes; the server may be off.

        A real site has, for example, the serial-over-LAN log of the host's BMC. None where the site does not know the
        server; raises SiteRefused for an answer that is too large, and as `switch_off` does.
        """

    async def ssh_host_key(self, address: str, port: int) -> str | None:
        """The key that the server actually presents, as an OpenSSH public key line; None while it does not answer."""


class Machines(Protocol):
    """IPU machines through their BMC."""

    async def get(self, machine: str) -> RedfishSystem: ...
    async def list(self, region: str) -> Sequence[RedfishSystem]:
        """Every machine of a region whose BMC answers."""

    async def log(self, machine: str) -> Sequence[RedfishLogEntry]:
        """What the machine's BMC logged, oldest first; it keeps no more than it has memory for."""

    async def power_on(self, machine: str, network: str) -> None: ...
    async def power_off(self, machine: str, network: str) -> None:
        """For the tenant of `network`: raises SiteBusy while the machine is in another tenant's network.

        A machine's name does not identify its tenant: without this check an old request could affect the next one.
        """


@dataclass(frozen=True, slots=True)
class Site:
    """One region's ports, for the duration of one reconcile pass."""

    vipu: Vipu
    networks: Networks
    hosts: Hosts
    machines: Machines
    volumes: Volumes
    snapshots: Snapshots
    addresses: Addresses


class VipuAddress(NamedTuple):
    """The administration endpoint of a controller. `secure`: it authenticates callers.

    `authority`: the certificates, PEM, that it is verified with; None: it speaks plaintext. `controller`: its name.
    `cluster_test`: it can test clusters. `version`: as it said last; None: it was not asked yet.
    """

    host: str
    admin_port: int
    secure: bool = False
    authority: str | None = None
    controller: str = ""
    cluster_test: bool = True
    version: str | None = None


Budget = Callable[[], float]
"""Seconds that a call may still take; raises when the right to make it has expired. Called right before every call."""


class Simulation(Protocol):
    """What can be asked of a simulated site only."""

    async def set_fault(self, fault: str, kind: str, name: str, link: str | None, *, broken: bool) -> None:
        """Break something, or repair it. Asking twice has the effect of asking once; `fault` names it.

        `kind`: `machine`, `link`, `host` or `controllers`. Raises SiteError.
        """


class Sites(Protocol):
    """Access to every region's site."""

    def at(self, vipu: VipuAddress | None, budget: Budget) -> Site:
        """A region's ports; without an address its `vipu` has nothing and refuses to make anything."""

    async def inventory(self) -> Inventory: ...


class SiteError(Exception):
    """A sentence with the request and the site's response; contains nothing secret."""


class SiteBusy(SiteError):
    """Nothing happened and a repeat may succeed: no connection, too many requests, a conflict."""


class SiteUnknown(SiteError):
    """The call may or may not have taken effect: time-out, broken answer, 5xx. Read back by name, then decide."""


class SiteRefused(SiteError):
    """The site understood the call and refused it; repeating it changes nothing."""
