"""Addresses of the site's HTTP interface (`ipucloud.wire.site`)."""

from __future__ import annotations

from pydantic import Field

from ipucloud.wire.base import Wire


class AddressSpec(Wire):
    """A public address of a region. The site chooses the IP address and the port, and keeps them until it is deleted.

    A name that was ever deleted is refused with 422, also if there was no such address: a request that arrives late
    reserves none. So is one for which the site has no IP address left.
    """

    region: str


class AddressServer(Wire):
    """The server of a tenant network that has an address."""

    host: str
    server: str
    network: str


class AddressAttachment(Wire):
    """Leads an address to the SSH of a server, or with `server` None to nobody.

    It takes effect unless the address has had a higher `revision`, or another attachment under this one, which is
    refused with 409. So is one to a host that does not run, carries another server, is in another network or in another
    region. An address stays attached while its server is switched off and on again, or rebuilt, and takes no
    connections meanwhile. A site detaches it by itself before it wipes the server.
    """

    revision: int = Field(ge=1)
    server: AddressServer | None = None


class Address(Wire):
    """An address as observed. `attachment` None: it was never attached. One that is attached is not deleted: 409."""

    name: str
    spec: AddressSpec
    ip: str
    port: int = Field(ge=1, le=65535)
    attachment: AddressAttachment | None = None
