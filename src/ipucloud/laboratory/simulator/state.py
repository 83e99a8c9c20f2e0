"""The state of the site beside its V-IPU controllers: ports, machines, networks and hosts, in one file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from uuid import uuid4

import orjson
from pydantic import BaseModel, TypeAdapter

from ipucloud.laboratory.simulator.store import Document, read_document
from ipucloud.wire.faults import HardwareShown
from ipucloud.wire.inventory import LinkState
from ipucloud.wire.site import (
    HostState,
    NetworkSpec,
    NetworkState,
    PreemptionSeen,
    S3Seen,
    ServerPreemption,
    ServerS3,
    ServerSpec,
    SourcesSeen,
)
from ipucloud.wire.storage import AddressAttachment, AddressSpec, SnapshotSpec, VolumeAttachment, VolumeSpec

Power = Literal["On", "Off", "PoweringOn", "PoweringOff"]


LOG_LENGTH = 100
"""Entries that a BMC keeps: our choice, so that the state of a large site stays small."""
Severity = Literal["OK", "Warning", "Critical"]


@dataclass
class LogRecord:
    """A line of a BMC's log, in seconds since the epoch."""

    number: int
    at: float
    severity: Severity
    message: str


@dataclass
class MachineRecord:
    """A machine that was touched. `due` ends a powering state; `then_on` makes it a power cycle.

    `readings`: what the sensors that were set show. While it `hangs`, its powering state does not end. `log`: the last
    LOG_LENGTH lines of its BMC's log.
    """

    power: Power
    due: float | None = None
    then_on: bool = False
    failed: bool = False
    readings: dict[str, float] = field(default_factory=dict)
    hangs: bool = False
    log: list[LogRecord] = field(default_factory=list)

    def note(self, at: float, severity: Severity, message: str) -> None:
        """Add a line to the log, and drop the oldest one when it is full."""
        number = self.log[-1].number + 1 if self.log else 1
        self.log = [*self.log[1 - LOG_LENGTH :], LogRecord(number, at, severity, message)]


@dataclass
class NetworkRecord:
    """A tenant network. `due` ends attaching or detaching."""

    spec: NetworkSpec
    state: NetworkState
    due: float | None


@dataclass
class HostRecord:
    """A host that carries a server, or failed. `due` ends deploying, booting and wiping.

    The server's IPU software is set up at `set_up_at`; its IPUs are counted from then on. `boot_id`: of its last start.
    `sources`: the networks from which it may be logged in to; None: it never had any.
    `s3`: the buckets that its server has access to; None: it never had one.
    `preemption`: what its server was told of that last; None: nothing, since it was switched on.
    `disk`: what deploying does with what an earlier generation of the server left; None: there was none. `snapshot`:
    the one that deploying fills the disk from; None once it is filled, or for an image that is none.
    """

    state: HostState
    server: ServerSpec | None = None
    due: float | None = None
    set_up_at: float = 0.0
    ssh_port: int | None = None
    broken: bool = False
    boot_id: str = field(default_factory=lambda: str(uuid4()))

    disk: Literal["keep", "wipe"] | None = None
    snapshot: str | None = None
    sources: SourcesSeen | None = None
    s3: ServerS3 | None = None
    preemption: ServerPreemption | None = None

    @property
    def s3_seen(self) -> S3Seen | None:
        """Nothing is mounted: simulated servers have no FUSE."""
        if self.s3 is None:
            return None
        names = [each.name for each in self.s3.connections]
        return S3Seen(revision=self.s3.revision, connections=names, mounts=[])

    @property
    def preemption_seen(self) -> PreemptionSeen | None:
        notice = self.preemption
        return None if notice is None else PreemptionSeen(revision=notice.revision, preempt_at=notice.preempt_at)

    @property
    def unwritten(self) -> bool:
        """Whether the disk is not yet what the server is to find on it."""
        return self.disk is not None or self.snapshot is not None

    def rewrite(self, server: ServerSpec, disk: Literal["keep", "wipe"], snapshot: str | None) -> None:
        """Begin to deploy the server again. What is to be wiped is not kept by a request that follows.

        Neither is what a first deployment has not finished to fill.
        """
        if self.disk is None and self.snapshot is not None:
            self.disk = "wipe"
        self.state, self.server, self.snapshot = HostState.DEPLOYING, server, snapshot
        self.disk = "wipe" if self.disk == "wipe" else disk

    def boot(self) -> None:
        self.state, self.boot_id = HostState.BOOTING, str(uuid4())


@dataclass
class VolumeRecord:
    """A volume. One that is `deleted` only keeps its name from being used again."""

    spec: VolumeSpec
    attachment: VolumeAttachment | None = None
    deleted: bool = False


@dataclass
class SnapshotRecord:
    """A snapshot. It is ready at `due`, or once it is `copied` if that is later. `deleted`: as of a volume.

    `size_gib`: None for the disk of a server that is not copied yet. `user`: that of the server.
    """

    spec: SnapshotSpec
    size_gib: int | None = None
    user: str = ""
    due: float = 0.0
    copied: bool = False
    deleted: bool = False


@dataclass
class AddressRecord:
    """An address, and the IP that was chosen for it. `deleted`: as of a volume."""

    spec: AddressSpec
    ip: str
    attachment: AddressAttachment | None = None
    deleted: bool = False


@dataclass
class SiteState:
    """The whole file. `ports` are the listening ports that were chosen, by purpose; `size` what hardware there was.

    `endpoints`: those of V-IPU allocations, by region and allocation.
    """

    version: int = 1
    size: dict[str, int] = field(default_factory=dict)
    ports: dict[str, int] = field(default_factory=dict)
    endpoints: dict[str, dict[str, int]] = field(default_factory=dict)
    machines: dict[str, MachineRecord] = field(default_factory=dict)
    networks: dict[str, NetworkRecord] = field(default_factory=dict)
    hosts: dict[str, HostRecord] = field(default_factory=dict)
    links: dict[str, LinkState] = field(default_factory=dict)
    shown: dict[str, HardwareShown] = field(default_factory=dict)
    volumes: dict[str, VolumeRecord] = field(default_factory=dict)
    snapshots: dict[str, SnapshotRecord] = field(default_factory=dict)
    addresses: dict[str, AddressRecord] = field(default_factory=dict)


_STATE = TypeAdapter(SiteState)


def open_state(path: Path, *, fsync: bool) -> tuple[SiteState, Document]:
    """The stored state, or a new one, and the document that keeps it."""
    stored = read_document(path)
    state = SiteState() if stored is None else _STATE.validate_json(stored)
    return state, Document(path, lambda: orjson.dumps(state, default=_plain), fsync=fsync)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    raise TypeError(f"{type(value).__name__} has no place in the site's state")
