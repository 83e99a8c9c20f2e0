"""Bugs in addresses."""

from __future__ import annotations

from contextlib import ExitStack

from ipucloud.clusters.addresses.record import ADDRESS_QUOTA, ADDRESSES
from ipucloud.clusters.resources import reconciler, resource
from tests.sim.mutants.planting import mutant, replace

_API = "tests/api/test_resources.py"
_WORKER = "tests/worker/test_addresses.py"


async def _nothing(*_: object, **__: object) -> None:
    return None


@mutant("an address is billed after its deletion", directed=f"{_API} -k is_billed_until")
def deleted_address_is_billed(stack: ExitStack) -> None:
    replace(stack, resource, "close_stored", _nothing)


@mutant("an address is not billed", directed=f"{_WORKER} -k outlives")
def address_is_free(stack: ExitStack) -> None:
    replace(stack, reconciler, "open_stored", _nothing)


@mutant("an address stays with a cluster that is deleted", directed=f"{_API} -k clusters_of_its_project")
def address_stays(stack: ExitStack) -> None:
    replace(stack, ADDRESSES, "detach_all", _nothing)


@mutant("addresses have no quota", directed=f"{_API} -k region_has_a_quota")
def addresses_without_quota(stack: ExitStack) -> None:
    replace(stack, ADDRESS_QUOTA, "require", _nothing)
