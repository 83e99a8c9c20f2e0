"""Names of what operations work on: an operation has only the ids."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import ipucloud.client as sdk
from ipucloud.client.errors import ClientError

if TYPE_CHECKING:
    from ipucloud.client.models import Cluster, Export, Operation, PartitionDetails
    from ipucloud.client.sync import Client

Item = TypeVar("Item", "Cluster", "Export", "PartitionDetails")


def target_names(client: Client, operations: Sequence[Operation]) -> dict[str, str]:
    """The names by id: of a partition `cluster/partition`, of an export its period. One that cannot be read is absent.

    Takes a request for the clusters, one for the exports, and one for each cluster whose partitions are among them.
    """
    targets = [each.target for each in operations]
    owners = {each.cluster for each in targets if each.cluster is not None}
    with_partitions = {each.cluster for each in targets if each.cluster is not None and each.type == "partition"}
    every = chain(client.items(sdk.clusters.list()), client.items(sdk.clusters.list(state="deleted")))
    names = _names(owners, every, lambda each: each.name)
    wanted = {each.id for each in targets} - owners
    for owner in with_partitions:
        theirs = chain(
            client.items(sdk.partitions.list(owner)), client.items(sdk.partitions.list(owner, state="removed"))
        )
        of_owner = {each.id for each in targets if each.cluster == owner} & wanted
        for partition, name in _names(of_owner, theirs, lambda each: each.name).items():
            names[partition] = f"{names.get(owner, owner)}/{name}"
    of_exports = {each.id for each in targets if each.type == "export"}
    return names | _names(of_exports, client.items(sdk.exports.list()), period)


def period(export: Export) -> str:
    """The month of an export, or its days."""
    return export.month or f"{export.since} to {export.until}"


def _names(wanted: set[str], items: Iterable[Item], name: Callable[[Item], str]) -> dict[str, str]:
    """Reads no more than it takes to find those that are wanted."""
    found: dict[str, str] = {}
    with suppress(ClientError):
        for each in items if wanted else ():
            if each.id in wanted:
                found[each.id] = name(each)
            if len(found) == len(wanted):
                break
    return found
