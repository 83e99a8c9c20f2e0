"""What a site is asked for an address."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy.ext.asyncio import AsyncConnection

from ipucloud.clusters.addresses.record import ADDRESSES, Address
from ipucloud.clusters.resources.reconciler import AttachableReconciler, Inputs, NotShown, loading
from ipucloud.kernel.failpoints import failpoint
from ipucloud.reconcile.outcomes import Outcome
from ipucloud.site.ports import Addresses, Site
from ipucloud.wire.storage import Address as Seen
from ipucloud.wire.storage import AddressAttachment, AddressSpec


class AddressReconciler(AttachableReconciler[Address, Seen, AddressSpec, AddressAttachment]):
    """One address."""

    resources = ADDRESSES
    statement = loading("addresses", "json_build_object('region', a.region, 'allowed_sources', a.allowed_sources)")
    spec, attachment = AddressSpec, AddressAttachment
    refusal = "The site refused to reserve it. Delete it."

    def port(self, site: Site) -> Addresses:
        return site.addresses

    def requested(self, inputs: Inputs, place: Mapping[str, str] | None) -> AddressAttachment:
        asked = super().requested(inputs, place)
        return asked if place is None else asked.model_copy(update={"allowed_sources": _sources(inputs)})

    def holds(self, inputs: Inputs, shown: AddressAttachment) -> bool:
        return shown.allowed_sources == _sources(inputs)

    def observed(self, row: Address, shown: Seen) -> Address:
        return row._replace(ip=shown.ip, port=shown.port)

    async def record(
        self, connection: AsyncConnection, row: Address, inputs: Inputs, result: Seen | NotShown
    ) -> Outcome:
        outcome = await super().record(connection, row, inputs, result)
        failpoint("address.recorded")
        return outcome


def _sources(inputs: Inputs) -> list[str]:
    sources = inputs.spec["allowed_sources"]
    return [str(each) for each in sources] if isinstance(sources, list) else []
