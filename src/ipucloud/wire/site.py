"""The site's HTTP interface, version 1: inventory, hosts, tenant networks, machine power, fault rules.

Our own definition (no vendor publishes one), except machine power and health, which follow Redfish
(`/redfish/v1/Systems/{machine}`), as the OpenBMC of an IPU-M2000 or Bow-2000 does.

| path | methods | body → answer |
|---|---|---|
| `/v1/inventory` | GET | → `ipucloud.wire.inventory.Inventory` |
| `/v1/networks` | GET `?region=` | → `NetworkList` |
| `/v1/networks/{name}` | PUT, GET, DELETE | `NetworkSpec` → `Network` |
| `/v1/hosts` | GET `?region=` | → `HostList` |
| `/v1/hosts/{host}` | GET | → `Host` |
| `/v1/hosts/{host}/server` | PUT, DELETE `?name=` | `ServerSpec` → `Host`; DELETE wipes |
| `/v1/hosts/{host}/server/keys` | PUT | `ServerKeys` → `Host` |
| `/v1/hosts/{host}/server/sources` | PUT | `ServerSources` → `Host` |
| `/v1/hosts/{host}/server/s3` | PUT | `ServerS3` → `Host` |
| `/v1/hosts/{host}/server/preemption` | PUT | `ServerPreemption` → `Host` |
| `/v1/hosts/{host}/server/rebuild` | POST | `ServerRebuild` → `Host` |
| `/v1/hosts/{host}/server/login-keys/{key}` | PUT | `LoginKey` → `Host` |
| `/v1/hosts/{host}/server/jobs/{job}` | PUT, GET `?server=&network=&log_from=` | `JobRequest` → `Job` |
| `/v1/hosts/{host}/server/jobs/{job}/stop` | POST | `JobStop` → `Job` |
| `/v1/hosts/{host}/server/console` | GET `?server=&network=&after=` | → `Console` |
| `/v1/volumes/{name}` | PUT, GET, DELETE | `VolumeSpec` → `Volume` |
| `/v1/volumes/{name}/attachment` | PUT | `VolumeAttachment` → `Volume` |
| `/v1/snapshots/{name}` | PUT, GET, DELETE | `SnapshotSpec` → `Snapshot` |
| `/v1/addresses/{name}` | PUT, GET, DELETE | `AddressSpec` → `Address` |
| `/v1/addresses/{name}/attachment` | PUT | `AddressAttachment` → `Address` |
| `/v1/hosts/{host}/power` | POST | `PowerAction` → `Host` |
| `/redfish/v1/Systems` | GET `?region=&$skip=&$top=` | → `RedfishSystems` |
| `/redfish/v1/Systems/{machine}` | GET | → `RedfishSystem` |
| `/redfish/v1/Systems/{machine}/Actions/ComputerSystem.Reset` | POST `?network=` | `RedfishReset` → 204 |
| `/redfish/v1/Systems/{machine}/LogServices/SEL/Entries` | GET | → `RedfishLog` |
| `/redfish/v1/EventService/SSE` | GET | → Redfish events as server-sent events; optional |
| `/v1/faults` | GET, POST, DELETE | `FaultRule` (simulated sites only) |
| `/v1/controllers/{name}:forget`, `:rotate-certificates`, `:replace-authority` | POST | (simulated sites only) |
| `/v1/machines/{machine}:fail`, `:hang`, `:repair` | POST | (simulated sites only) |
| `/v1/machines/{machine}/sensors/{sensor}` | PUT | `SensorReading` (simulated sites only) |
| `/v1/machines/{machine}/links/{kind}:fail`, `:repair` | POST | `LinkFault` (simulated sites only) |
| `/v1/hosts/{host}:fail`, `:repair` | POST | (simulated sites only) |
| `/v1/hardware` | GET | → `HardwareShownList` (simulated sites only) |
| `/v1/hardware/{name}` | PUT, DELETE | `HardwareShown` → `HardwareShown` (simulated sites only) |

Bodies are defined here, in `redfish`, `volumes`, `snapshots`, `images`, `addresses` and `faults`. Requests carry
`Authorization: Bearer <site token>`. Every mutation is accepted at once and completes later: the caller reads until the
object has the state it wants. Names are the caller's and are never reused by it. PUT of an equal body is a repeat, of
another body 409; DELETE of what is not there answers 404. A reset or a power action that names a `network` is for its
tenant: while the machine or host is in another tenant network it answers 409 and does nothing.
"""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Literal

from pydantic import ConfigDict, Field

from ipucloud.wire.base import Wire
from ipucloud.wire.images import JobImage

AUTHORITY_FILE = "/etc/vipu/ca.pem"
"""Where a site keeps the authority of its controller on every Poplar server, PEM."""


CONSOLE_BOOTS = 10
CONSOLE_BYTES = 65_536
"""How many boots of a server a site keeps the console of, and how much of each."""


class NetworkState(StrEnum):
    ATTACHING = "attaching"
    READY = "ready"
    DETACHING = "detaching"


class NetworkSpec(Wire):
    """A tenant network: the RNIC ports of these machines and hosts, and of nothing else."""

    region: str
    machines: list[str]
    hosts: list[str]


class Network(Wire):
    name: str
    spec: NetworkSpec
    state: NetworkState


class NetworkList(Wire):
    networks: list[Network]


class HostState(StrEnum):
    """`clean` is the only state in which a host takes a server; `wiping` ends in `clean`."""

    CLEAN = "clean"
    DEPLOYING = "deploying"
    BOOTING = "booting"
    RUNNING = "running"
    OFF = "off"
    WIPING = "wiping"
    FAILED = "failed"


class ServerSpec(Wire):
    """A Poplar server to deploy. `environment` is set for every login; keys are lines of `authorized_keys`.

    A line is a public key, or `cert-authority,principals="NAME" KEY`: the server accepts certificates that KEY has
    signed for NAME, as OpenSSH does.

    `ipus`: how many of the host's own IPUs are opened to it, from device 0 on; the others stay off. `keys_revision`
    counts the changes of its keys, `generation` how often its system was asked to be written.

    `allowed_sources` are those of `ServerSources`, under `sources_revision`, which hold before it takes its first
    connection; 0: it never had any. One that is rebuilt has those of the highest revision.
    """

    name: str
    image: str
    user: str = "ubuntu"
    ssh_authorized_keys: list[str]
    user_data: str | None = None
    environment: dict[str, str]
    network: str
    ipus: int = Field(default=0, ge=0)
    keys_revision: int = Field(default=1, ge=1)
    generation: int = Field(default=1, ge=1)
    allowed_sources: list[str] = Field(default=[])
    sources_revision: int = Field(default=0, ge=0)


class ServerKeys(Wire):
    """Lets these keys, and no others, log in to the server of a tenant network; sessions that are open stay open.

    Whether it runs or is off; one that starts has them from its start on. Refused where the host carries another server
    or is in another network, and when the server has had a higher `revision`, or other keys under this one: a request
    that arrives late brings no key back.
    """

    server: str
    network: str
    ssh_authorized_keys: list[str]
    revision: int = Field(ge=1)


class LoginKey(Wire):
    """Lets a public key log in to the server of a tenant network for `seconds` from now, beside the server's own keys.

    A later request of the same name can only end that sooner: with 0 seconds the key is out, and a request that arrives
    late does not bring it back. The site itself ends it on time, whoever is gone by then; sessions that are open stay
    open. Refused where the host does not run, carries another server or is in another network.
    """

    server: str
    network: str
    public_key: str
    seconds: float = Field(ge=0, le=300)


class ServerSources(Wire):
    """Lets SSH connections to the server of a tenant network in from these networks (CIDR) only; none: from everywhere.

    The site enforces it before anybody logs in, at the server's own port and at every address that leads there, by the
    source that the client has. Connections that are open stay open. The control plane itself is always let in: it opens
    connections from networks that the site knows, and logs in with a `LoginKey`. Whether the server runs or is off; it
    stays through starts and rebuilds. Refused where the host carries another server or is in another network, and when
    the server has had a higher `revision`, or other networks under this one.
    """

    server: str
    network: str
    revision: int = Field(ge=1)
    allowed_sources: list[str]


class SourcesSeen(Wire):
    """The networks from which the site lets SSH connections to the server in; none: from everywhere."""

    revision: int
    allowed_sources: list[str]


class S3Remote(Wire):
    """A bucket, and the access key for it."""

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    name: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
    endpoint: str
    region: str
    bucket: str
    prefix: str
    access_key_id: str
    secret: str = Field(repr=False)


class ServerS3(Wire):
    """Gives the server of a tenant network access to these buckets, and to no others.

    For each the server's user has a remote in `~/.config/rclone/rclone.conf` and a profile in `~/.aws/config` and
    `~/.aws/credentials`, files that nobody else can read; what the customer wrote into them stays. Logins find the
    variables of the AWS tools when there is exactly one bucket. Where the server has FUSE, each is mounted at
    `/data/<name>`. They stay through starts of the server and when it is rebuilt. Refused where the host carries
    another server or is in another network, and when the server has had a higher `revision`, or others under this one.
    """

    model_config = ConfigDict(extra="ignore", frozen=True, hide_input_in_errors=True)

    server: str
    network: str
    revision: int = Field(ge=1)
    connections: list[S3Remote]


class S3Seen(Wire):
    """The buckets that a server has access to, by name, and the folders at which some are mounted; no secrets."""

    revision: int
    connections: list[str]
    mounts: list[str]


class ServerPreemption(Wire):
    """Tells the server of a tenant network when its cluster is suspended, for others to get its machines.

    The server's user can read the file `/var/lib/ipucloud/preemption`: `{"preempt_at": "2026-05-04T06:10:00Z"}`, in
    UTC. With `preempt_at` None there is no such file. It stays through restarts of the server and when it is rebuilt,
    and is gone once the server is switched off. Refused where the host does not run, carries another server or is in
    another network, and when the server has had a higher `revision`, or another time under this one.
    """

    server: str
    network: str
    revision: int = Field(ge=1)
    preempt_at: datetime | None


PREEMPTION_FILE = "/var/lib/ipucloud/preemption"


class PreemptionSeen(Wire):
    """What the file says on the server; `preempt_at` None: there is none."""

    revision: int
    preempt_at: datetime | None


class ServerRebuild(Wire):
    """Writes the server of this name again, as `server` says; its address and port stay.

    `disk`: `wipe` leaves nothing of it, so that its SSH host key is new; `keep` replaces the system, and keeps `/home`
    and the host key. Refused where the host carries another server or is not in the network of `server`, and unless its
    `generation` is above that of the server that is there: it takes effect at most once, however often it is sent.
    """

    server: ServerSpec
    disk: Literal["keep", "wipe"]


class Ssh(Wire):
    """How the customer reaches the server. `host_key` is an OpenSSH public key line, `fingerprint` its SHA256 form."""

    host: str
    port: int
    user: str
    host_key: str
    fingerprint: str


class JobCheck(Wire):
    """How to find out whether a program works: a GET of `path` at this port of its server's loopback address, with
    `interval` seconds between two. It passes if a status from 200 to 399 comes within `timeout` seconds.
    """

    port: int = Field(ge=1, le=65_535)
    path: str = Field(pattern=r"^/[!-~]*$")
    interval: float = Field(gt=0)
    timeout: float = Field(gt=0)


class JobHealth(Wire):
    """The last check of a program that runs. `failed`: how many in a row did not pass; `detail` says what was wrong.

    `passed`: whether any check of it has.
    """

    checked_at: datetime
    failed: int = Field(ge=0, le=1_000_000_000)
    passed: bool
    detail: str | None = None


class JobRequest(Wire):
    """Runs a program on the server of a tenant network, as the server's user and in the environment of its logins.

    It runs at most once, whatever the number of requests that name it: the site keeps what it knows of a job until the
    server's system is rebuilt. Refused where the host does not run, carries another server or another
    `generation` of it, or is in another network, and where a job of this name is another one.

    `directory`: where it starts; None: in the image's working directory, else in the home. `check`: it is to be checked
    while it runs. `image`: it runs in this one, as `ipucloud.wire.images` says; asked only of regions whose inventory
    says that they run `containers`. An image that cannot be had ends it as `not_started`.
    """

    server: str
    network: str
    generation: int = Field(ge=1)
    command: list[str] = Field(min_length=1)
    directory: str | None = None
    environment: dict[str, str] = Field(default={})
    check: JobCheck | None = None
    image: JobImage | None = None


class JobStop(Wire):
    """Ends a program, by SIGTERM and later by SIGKILL; one that never began will not. Refused as a `JobRequest` is."""

    server: str
    network: str


class Job(Wire):
    """A program that was to run on a server, as observed.

    `ended` says how: `exited` with `exit_status`, 128 and the number for a signal; `stopped` by a request, with
    `exit_status` if it had begun; `interrupted`: its server was restarted, switched off or lost; `not_started`:
    `detail` says why. `log` is Base64 of what it wrote from the asked byte on, a part of `log_size` bytes; what is
    beyond the site's limit is dropped. `health` is there once a program that is to be checked was.
    """

    name: str
    ended: Literal["exited", "stopped", "interrupted", "not_started"] | None = None
    exit_status: int | None = None
    detail: str | None = None
    log: str = ""
    log_size: int = 0
    health: JobHealth | None = None


class ConsoleBoot(Wire):
    """What a server wrote to its serial console in one boot, and what its site wrote of its power there.

    `number` counts the boots of the server. `text` has its last bytes, at most `CONSOLE_BYTES`; the `dropped` bytes
    before them are gone. What is not UTF-8 is replaced. `written`: bytes of all boots when this was last written to.
    """

    number: int = Field(ge=1)
    boot_id: str
    started_at: datetime
    ended_at: datetime | None = None
    text: str
    dropped: int = Field(default=0, ge=0)
    written: int = Field(ge=0)


class Console(Wire):
    """The serial console of a server: its last boots, at most `CONSOLE_BOOTS`, the oldest first.

    With `after`, only those that were written to since so many bytes had been written.
    """

    boots: list[ConsoleBoot]


class CloudInit(Wire):
    """How the user data of a server was carried out, as `cloud-init status` says; `errors` are sentences."""

    status: Literal["running", "done", "error"]
    errors: list[str] = Field(default=[])


class Host(Wire):
    """A host as observed. `ipus_visible` is what the server's own `gc-info` counts, None until it was counted.

    `boot_id` names the last start of its server: another with every start, as in `/proc/sys/kernel/random/boot_id`.
    None: the site does not read it.
    `cloud_init`: None where the server has no user data, or the site does not read how it was carried out.
    `sessions` are the logins that are open on its server, `attached_ipus` the IPUs that programs hold there, and
    `idle_seconds` counts from when there were last any, or from its start; None: the site does not read it.
    `cpu_percent` is how busy all processors of the server are together, 100 at most, and `memory_used_bytes` what its
    programs hold of `memory_bytes`; None: the site does not read it.
    `sources`: None where its server never had allowed sources.
    `s3`: None where its server was never given access to buckets.
    `preemption`: None where its server was never told of one since it was switched on.
    `console_bytes`: what was ever written to the serial console of its server; None: the site keeps no console.
    `serial_number`, `model` and `firmware` are those of the host itself, None where the site does not read them.
    """

    name: str
    region: str
    state: HostState
    server: ServerSpec | None = None
    ssh: Ssh | None = None
    ipus_visible: int | None = None
    detail: str | None = None
    boot_id: str | None = None
    cloud_init: CloudInit | None = None
    serial_number: str | None = None
    model: str | None = None
    firmware: str | None = None
    sessions: int | None = None
    attached_ipus: int | None = None
    idle_seconds: float | None = None
    cpu_percent: float | None = None
    memory_used_bytes: int | None = None
    memory_bytes: int | None = None
    sources: SourcesSeen | None = None
    s3: S3Seen | None = None
    preemption: PreemptionSeen | None = None
    console_bytes: int | None = None


class HostList(Wire):
    hosts: list[Host]


class PowerAction(Wire):
    """A change of power of a host that carries a server. The disk, the host key and the address stay.

    One that names its `server` is refused where another one is. `on` for a `network` wants the host in that network,
    and makes the server one of it: with `environment` for its logins, and started again if it ran for another one.
    One that names a `boot_id` is refused once the server has started again since: it takes effect at most once, however
    often it is sent.
    """

    action: Literal["on", "off", "reboot", "power-cycle"]
    server: str | None = None
    network: str | None = None
    environment: dict[str, str] | None = None
    boot_id: str | None = None
