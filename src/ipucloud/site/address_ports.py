"""What the control plane needs of a site's public addresses; part of `ipucloud.site.ports`."""

from __future__ import annotations

from typing import Protocol

from ipucloud.wire.addresses import Address, AddressAttachment, AddressSpec


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
