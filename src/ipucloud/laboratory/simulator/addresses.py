"""Addresses: loopback IPs of the site that lead to the SSH port of the server that has them.

The site listens at one only while it is attached and its server runs; otherwise the kernel refuses clients. What is
recorded is written first: wherever a kill comes between, the start of the servers listens where it is recorded.
"""

from __future__ import annotations

import asyncio
import random
import socket
from collections import defaultdict
from collections.abc import Callable
from ipaddress import IPv4Network

from ipucloud.laboratory.simulator.forwarding import Forwarder
from ipucloud.laboratory.simulator.refusal import invalid, not_found, precondition
from ipucloud.laboratory.simulator.sources import read_network
from ipucloud.laboratory.simulator.state import AddressRecord
from ipucloud.laboratory.simulator.store import Document
from ipucloud.laboratory.simulator.volumes import NAME
from ipucloud.wire.storage import Address, AddressAttachment, AddressServer, AddressSpec

ATTEMPTS = 50
CheckServer = Callable[[AddressServer, str], None]
"""Refuses a server that does not run on this host, or not in this network or region."""


class Addresses:
    """Every address of the site, by name. `target`: where its servers listen."""

    def __init__(
        self,
        regions: frozenset[str],
        records: dict[str, AddressRecord],
        *,
        network: IPv4Network,
        port: int,
        target: str,
        document: Document,
    ) -> None:
        self._regions = regions
        self._records = records
        self._network = network
        self._port = port
        self._target = target
        self._document = document
        self._servers: dict[str, int] = {}
        self._listening: dict[str, tuple[AddressServer, Forwarder]] = {}
        self._locks: defaultdict[str, asyncio.Lock] = defaultdict(asyncio.Lock)

    def get(self, name: str) -> Address:
        record = self._existing(name)
        return Address(name=name, spec=record.spec, ip=record.ip, port=self._port, attachment=record.attachment)

    def put(self, name: str, spec: AddressSpec) -> Address:
        """Reserve an address."""
        if not NAME.fullmatch(name):
            raise invalid(f"{name!r} is not the name of an address")
        if spec.region not in self._regions:
            raise not_found(f"region {spec.region!r} does not exist")
        record = self._records.get(name)
        if record is None:
            self._records[name] = AddressRecord(spec, self._free())
            self._document.touch()
        elif record.deleted:
            raise invalid(f"address {name!r} was deleted; no other gets its name")
        elif record.spec != spec:
            raise precondition(f"address {name!r} is in {record.spec.region!r}")
        return self.get(name)

    async def attach(self, name: str, attachment: AddressAttachment, check: CheckServer) -> Address:
        """Let the address lead to a server, or to nobody."""
        record = self._existing(name)
        present = record.attachment
        try:
            networks = [str(read_network(each)) for each in attachment.allowed_sources]
        except ValueError as error:
            raise invalid(str(error)) from error
        attachment = attachment.model_copy(update={"allowed_sources": networks})
        if present is None or attachment.revision > present.revision:
            if attachment.server is not None:
                check(attachment.server, record.spec.region)
                if name not in self._listening and not self._can_listen(record.ip):
                    raise precondition(f"another program listens at address {name!r}, {record.ip}")
            record.attachment = attachment
            self._document.touch()
            await self._document.settled()
        elif attachment != present:
            raise precondition(f"address {name!r} has revision {present.revision} of its attachment")
        # A later request may have come meanwhile: it leads to where it is recorded now.
        try:
            await self._reconcile(name)
        except OSError as error:
            raise precondition(f"nothing can listen at address {name!r}: {error.strerror}") from error
        return self.get(name)

    def delete(self, name: str) -> None:
        """Give an address back. The name is kept, also of one that never was."""
        record = self._records.get(name)
        if record is not None and record.attachment is not None and record.attachment.server is not None:
            raise precondition(f"address {name!r} is attached")
        if record is None:
            self._records[name] = AddressRecord(AddressSpec(region=""), "", deleted=True)
            self._document.touch()
        if record is None or record.deleted:
            raise not_found(f"address {name!r} does not exist")
        record.deleted = True
        self._document.touch()

    def client_of(self, port: int) -> str | None:
        """The client whose connection an address leads on from this local port."""
        found = (forwarder.client_of(port) for _, forwarder in self._listening.values())
        return next((client for client in found if client is not None), None)

    async def opened(self, host: str, port: int) -> None:
        """The server of a host runs, and listens on this port."""
        self._servers[host] = port
        for name in self._of(host):
            # Whoever has taken the port meanwhile has it: the next attachment says so.
            await asyncio.gather(self._reconcile(name), return_exceptions=True)

    async def shut(self, host: str) -> None:
        """The server of a host no longer runs."""
        self._servers.pop(host, None)
        for name in self._of(host):
            await self._reconcile(name)

    async def leave(self, host: str) -> None:
        """Take every address from the server of a host, whose disk is wiped."""
        for name in self._of(host):
            record = self._records[name]
            revision = 1 if record.attachment is None else record.attachment.revision
            record.attachment = AddressAttachment(revision=revision, server=None)
            self._document.touch()
            await self._reconcile(name)

    async def close(self) -> None:
        """Listen nowhere any more; nothing about the addresses changes."""
        self._servers.clear()
        for name in list(self._listening):
            await self._reconcile(name)

    def _of(self, host: str) -> list[str]:
        server = {name: record.attachment.server for name, record in self._records.items() if record.attachment}
        return [name for name, each in server.items() if each is not None and each.host == host]

    async def _reconcile(self, name: str) -> None:
        """Listen where that is recorded and its server runs, and only there. Raises OSError when it cannot."""
        async with self._locks[name]:
            record = self._records[name]
            server = record.attachment.server if record.attachment is not None else None
            port = None if server is None or record.deleted else self._servers.get(server.host)
            present = self._listening.get(name)
            if present is not None and (present[0] != server or present[1].port != port):
                del self._listening[name]
                await present[1].stop()
                present = None
            if present is None and server is not None and port is not None:
                forwarder = Forwarder(self._target, port)
                await forwarder.start(record.ip, self._port)
                self._listening[name] = (server, forwarder)
            if name in self._listening and record.attachment is not None:
                self._listening[name][1].allowed_sources = record.attachment.allowed_sources

    def _existing(self, name: str) -> AddressRecord:
        record = self._records.get(name)
        if record is None or record.deleted:
            raise not_found(f"address {name!r} does not exist")
        return record

    def _free(self) -> str:
        """An IP that no address of the site has, and at which nobody else listens."""
        used = {record.ip for record in self._records.values() if not record.deleted}
        first, last = int(self._network.network_address) + 1, int(self._network.broadcast_address)
        numbers = range(first, last)
        some = random.sample(numbers, min(ATTEMPTS + len(used), len(numbers)))
        for number in some:
            ip = f"{number >> 24}.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
            if ip not in used and self._can_listen(ip):
                return ip
        raise invalid("the site has no address left")

    def _can_listen(self, ip: str) -> bool:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((ip, self._port))
            except OSError:
                return False
        return True
