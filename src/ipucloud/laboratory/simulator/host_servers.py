"""The servers on hosts: their keys, buckets, notices, programs, consoles and disks, for their tenant alone."""

from __future__ import annotations

from ipucloud.laboratory.simulator.copying import Folder
from ipucloud.laboratory.simulator.host_states import SWITCHED, HostStates
from ipucloud.laboratory.simulator.refusal import invalid, not_found, precondition
from ipucloud.laboratory.simulator.ssh.authorized_keys import parse_keys
from ipucloud.laboratory.simulator.ssh.console import Console
from ipucloud.laboratory.simulator.ssh.jobs import Jobs
from ipucloud.wire.site import HostState, LoginKey, ServerKeys, ServerPreemption, ServerS3, ServerSpec
from ipucloud.wire.storage import AddressServer, SnapshotServer, VolumeServer


class HostServers:
    """The servers on the site's hosts. A call says which server it means, of which tenant network, or is refused."""

    def __init__(self, states: HostStates) -> None:
        self._states = states

    async def put_keys(self, name: str, wanted: ServerKeys) -> None:
        """Exchange the keys of a server, which may be off; a running one lets them in from now on."""
        self._states.check(name)
        parse_keys(wanted.ssh_authorized_keys)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or record.state is HostState.WIPING:
                raise precondition(f"host {name!r} carries no server that could have keys")
            self._states.check_owner(name, record.server, wanted.server, wanted.network)
            spec = record.server.model_copy(
                update={"ssh_authorized_keys": wanted.ssh_authorized_keys, "keys_revision": wanted.revision}
            )
            if spec == record.server:
                return
            if wanted.revision <= record.server.keys_revision:
                raise precondition(f"server {wanted.server!r} has revision {record.server.keys_revision} of its keys")
            record.server = spec
            self._states.document.touch()
            if name in self._states.servers:
                self._states.servers[name].exchange_keys(spec)

    async def put_login_key(self, name: str, key: str, wanted: LoginKey) -> None:
        """Let a key in to a server that runs, for a while."""
        self._states.check(name)
        if parse_keys([wanted.public_key]).authorities is not None:
            raise invalid("an authority is not let in for a while")
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or name not in self._states.servers:
                raise precondition(f"host {name!r} carries no server that runs")
            self._states.check_owner(name, record.server, wanted.server, wanted.network)
            self._states.servers[name].login_keys.put(key, wanted.public_key, wanted.seconds)

    async def put_s3(self, name: str, wanted: ServerS3) -> None:
        """Exchange the buckets that a server has access to; one that is off has them from its next start on."""
        self._states.check(name)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or record.state is HostState.WIPING:
                raise precondition(f"host {name!r} carries no server that could have S3 connections")
            self._states.check_owner(name, record.server, wanted.server, wanted.network)
            present = record.s3
            if present is not None and present.model_copy(update={"network": wanted.network}) == wanted:
                return
            if present is not None and wanted.revision <= present.revision:
                raise precondition(f"server {wanted.server!r} has revision {present.revision} of its S3 connections")
            if name in self._states.servers:
                try:
                    await self._states.servers[name].exchange_s3(wanted.connections)
                except OSError as error:
                    raise precondition(f"server {wanted.server!r} cannot write its files: {error.strerror}") from error
            record.s3 = wanted
            self._states.document.touch()

    async def put_preemption(self, name: str, wanted: ServerPreemption) -> None:
        """Tell a server that runs when its cluster is preempted."""
        self._states.check(name)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or name not in self._states.servers:
                raise precondition(f"host {name!r} carries no server that runs")
            self._states.check_owner(name, record.server, wanted.server, wanted.network)
            present = record.preemption
            if present == wanted:
                return
            if present is not None and wanted.revision <= present.revision:
                raise precondition(f"server {wanted.server!r} has revision {present.revision} of its notice")
            try:
                await self._states.servers[name].tell_of_preemption(wanted.preempt_at)
            except OSError as error:
                raise precondition(f"server {wanted.server!r} cannot write its file: {error.strerror}") from error
            record.preemption = wanted
            self._states.document.touch()

    def check_address(self, wanted: AddressServer, region: str) -> None:
        """Refuse a server that could not have an address of the region now."""
        self.check_runs(wanted)
        if self._states.region_of[wanted.host] != region:
            raise precondition(f"host {wanted.host!r} is in {self._states.region_of[wanted.host]!r}, not in {region!r}")

    def check_runs(self, wanted: VolumeServer | AddressServer) -> None:
        """Refuse a server to which nothing could be attached now."""
        self._states.check(wanted.host)
        record = self._states.records.get(wanted.host)
        if record is None or record.server is None or wanted.host not in self._states.servers:
            raise precondition(f"host {wanted.host!r} carries no server that runs")
        self._states.check_owner(wanted.host, record.server, wanted.server, wanted.network)

    async def server_to_copy(self, wanted: SnapshotServer, region: str) -> ServerSpec:
        """A server whose disk can be copied now; refuses another."""
        self._states.check(wanted.host)
        await self._states.advance(wanted.host)
        record = self._states.records.get(wanted.host)
        if record is None or record.server is None or record.state not in SWITCHED:
            raise precondition(f"host {wanted.host!r} carries no server whose disk could be copied now")
        if self._states.region_of[wanted.host] != region:
            raise precondition(f"host {wanted.host!r} is in {self._states.region_of[wanted.host]!r}, not in {region!r}")
        if record.server.name != wanted.server:
            raise precondition(f"host {wanted.host!r} carries another server than {wanted.server!r}")
        # A server that is off keeps its network's name when the network is gone.
        if (self._states.network_of(wanted.host) or record.server.network) != wanted.network:
            raise precondition(f"host {wanted.host!r} is not in network {wanted.network!r}")
        return record.server

    def open_disk(self, wanted: SnapshotServer) -> Folder | None:
        """The disk of a server, to copy it; None where there is nothing on it yet."""
        record = self._states.records.get(wanted.host)
        if record is None or record.server is None or record.server.name != wanted.server:
            raise precondition(f"host {wanted.host!r} carries another server than {wanted.server!r}")
        return self._states.disks.open(wanted.host)

    def deploys_from(self, snapshot: str) -> bool:
        """Whether a disk is being filled from a snapshot, or about to be."""
        filling = (each for each in self._states.records.values() if each.state is HostState.DEPLOYING)
        return any(each.snapshot == snapshot for each in filling)

    async def jobs_of(self, name: str, server: str, network: str, *, generation: int | None = None) -> Jobs:
        """The programs that the control plane runs on a server that runs; one of this `generation`, if it is given."""
        self._states.check(name)
        await self._states.advance(name)
        record, running = self._states.records.get(name), self._states.servers.get(name)
        if record is None or record.server is None or running is None:
            raise precondition(f"host {name!r} has no server that runs")
        self._states.check_owner(name, record.server, server, network)
        if generation not in {None, record.server.generation}:
            raise precondition(f"server {server!r} has generation {record.server.generation}")
        return running.jobs

    def console_of(self, name: str, server: str, network: str) -> Console:
        """The serial console of a server, which may be off."""
        self._states.check(name)
        record = self._states.records.get(name)
        if record is None or record.server is None or record.state is HostState.WIPING:
            raise not_found(f"server {server!r} is not on host {name!r}")
        if record.server.name != server or self._states.network_of(name) not in {None, network}:
            raise precondition(f"host {name!r} carries another server than {server!r}, or is in another network")
        return self._states.consoles.of(name)
