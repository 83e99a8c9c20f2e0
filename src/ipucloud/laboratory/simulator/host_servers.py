"""The servers on hosts: their keys, buckets, notices, programs, consoles and disks, for their tenant alone."""

from __future__ import annotations

from ipucloud.laboratory.simulator.copying import Folder
from ipucloud.laboratory.simulator.host_states import SWITCHED, HostStates
from ipucloud.laboratory.simulator.refusal import invalid, not_found, precondition
from ipucloud.laboratory.simulator.sources import read_network
from ipucloud.laboratory.simulator.ssh.authorized_keys import parse_keys
from ipucloud.laboratory.simulator.ssh.console import Console
from ipucloud.laboratory.simulator.ssh.jobs import Jobs
from ipucloud.wire.site import (
    HostState,
    LoginKey,
    ServerKeys,
    ServerPreemption,
    ServerS3,
    ServerSources,
    ServerSpec,
    SourcesSeen,
)
from ipucloud.wire.storage import AddressServer, SnapshotServer, VolumeServer


class HostServers:
    """The servers on the site's hosts. A call says which server it means, of which tenant network, or is refused."""

    def __init__(self, states: HostStates) -> None:
        self._states = states

    async def put_keys(self, name: str, keys: ServerKeys) -> None:
        """Exchange the keys of a server, which may be off; a running one lets them in from now on."""
        self._states.check(name)
        parse_keys(keys.ssh_authorized_keys)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or record.state is HostState.WIPING:
                raise precondition(f"host {name!r} carries no server that could have keys")
            self._states.check_owner(name, record.server, keys.server, keys.network)
            spec = record.server.model_copy(
                update={"ssh_authorized_keys": keys.ssh_authorized_keys, "keys_revision": keys.revision}
            )
            if spec == record.server:
                return
            if keys.revision <= record.server.keys_revision:
                raise precondition(f"server {keys.server!r} has revision {record.server.keys_revision} of its keys")
            record.server = spec
            self._states.document.touch()
            if name in self._states.servers:
                self._states.servers[name].exchange_keys(spec)

    async def put_login_key(self, name: str, key: str, login_key: LoginKey) -> None:
        """Let a key in to a server that runs, for a while."""
        self._states.check(name)
        if parse_keys([login_key.public_key]).authorities is not None:
            raise invalid("an authority is not let in for a while")
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or name not in self._states.servers:
                raise precondition(f"host {name!r} carries no server that runs")
            self._states.check_owner(name, record.server, login_key.server, login_key.network)
            self._states.servers[name].login_keys.put(key, login_key.public_key, login_key.seconds)

    async def put_sources(self, name: str, sources: ServerSources) -> None:
        """Exchange the networks from which a server may be logged in to; it may be off."""
        self._states.check(name)
        try:
            wanted = SourcesSeen(
                revision=sources.revision, allowed_sources=[str(read_network(each)) for each in sources.allowed_sources]
            )
        except ValueError as error:
            raise invalid(str(error)) from error
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or record.state is HostState.WIPING:
                raise precondition(f"host {name!r} carries no server that could have allowed sources")
            self._states.check_owner(name, record.server, sources.server, sources.network)
            if record.sources == wanted:
                return
            if record.sources is not None and wanted.revision <= record.sources.revision:
                raise precondition(
                    f"server {sources.server!r} has revision {record.sources.revision} of its allowed sources"
                )
            record.sources = wanted
            self._states.document.touch()
            if name in self._states.servers:
                self._states.servers[name].allowed_sources = tuple(wanted.allowed_sources)

    async def put_s3(self, name: str, s3: ServerS3) -> None:
        """Exchange the buckets that a server has access to; one that is off has them from its next start on."""
        self._states.check(name)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or record.state is HostState.WIPING:
                raise precondition(f"host {name!r} carries no server that could have S3 connections")
            self._states.check_owner(name, record.server, s3.server, s3.network)
            present = record.s3
            if present is not None and present.model_copy(update={"network": s3.network}) == s3:
                return
            if present is not None and s3.revision <= present.revision:
                raise precondition(f"server {s3.server!r} has revision {present.revision} of its S3 connections")
            if name in self._states.servers:
                try:
                    await self._states.servers[name].exchange_s3(s3.connections)
                except OSError as error:
                    raise precondition(f"server {s3.server!r} cannot write its files: {error.strerror}") from error
            record.s3 = s3
            self._states.document.touch()

    async def put_preemption(self, name: str, notice: ServerPreemption) -> None:
        """Tell a server that runs when its cluster is preempted."""
        self._states.check(name)
        await self._states.advance(name)
        async with self._states.locks[name]:
            record = self._states.records.get(name)
            if record is None or record.server is None or name not in self._states.servers:
                raise precondition(f"host {name!r} carries no server that runs")
            self._states.check_owner(name, record.server, notice.server, notice.network)
            present = record.preemption
            if present == notice:
                return
            if present is not None and notice.revision <= present.revision:
                raise precondition(f"server {notice.server!r} has revision {present.revision} of its notice")
            try:
                await self._states.servers[name].tell_of_preemption(notice.preempt_at)
            except OSError as error:
                raise precondition(f"server {notice.server!r} cannot write its file: {error.strerror}") from error
            record.preemption = notice
            self._states.document.touch()

    def check_address(self, target: AddressServer, region: str) -> None:
        """Refuse a server that could not have an address of the region now."""
        self.check_runs(target)
        if self._states.region_of[target.host] != region:
            raise precondition(f"host {target.host!r} is in {self._states.region_of[target.host]!r}, not in {region!r}")

    def check_runs(self, target: VolumeServer | AddressServer) -> None:
        """Refuse a server to which nothing could be attached now."""
        self._states.check(target.host)
        record = self._states.records.get(target.host)
        if record is None or record.server is None or target.host not in self._states.servers:
            raise precondition(f"host {target.host!r} carries no server that runs")
        self._states.check_owner(target.host, record.server, target.server, target.network)

    async def server_to_copy(self, source: SnapshotServer, region: str) -> ServerSpec:
        """A server whose disk can be copied now; refuses another."""
        self._states.check(source.host)
        await self._states.advance(source.host)
        record = self._states.records.get(source.host)
        if record is None or record.server is None or record.state not in SWITCHED:
            raise precondition(f"host {source.host!r} carries no server whose disk could be copied now")
        if self._states.region_of[source.host] != region:
            raise precondition(f"host {source.host!r} is in {self._states.region_of[source.host]!r}, not in {region!r}")
        if record.server.name != source.server:
            raise precondition(f"host {source.host!r} carries another server than {source.server!r}")
        # A server that is off keeps its network's name when the network is gone.
        if (self._states.network_of(source.host) or record.server.network) != source.network:
            raise precondition(f"host {source.host!r} is not in network {source.network!r}")
        return record.server

    def open_disk(self, source: SnapshotServer) -> Folder | None:
        """The disk of a server, to copy it; None where there is nothing on it yet."""
        record = self._states.records.get(source.host)
        if record is None or record.server is None or record.server.name != source.server:
            raise precondition(f"host {source.host!r} carries another server than {source.server!r}")
        return self._states.disks.open(source.host)

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
