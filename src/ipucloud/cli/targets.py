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
    ids = {each.id for each in targets} - owners
    for owner in with_partitions:
        its_partitions = chain(
            client.items(sdk.partitions.list(owner)), client.items(sdk.partitions.list(owner, state="removed"))
        )
        of_owner = {each.id for each in targets if each.cluster == owner} & ids
        for partition, name in _names(of_owner, its_partitions, lambda each: each.name).items():
            names[partition] = f"{names.get(owner, owner)}/{name}"
    of_exports = {each.id for each in targets if each.type == "export"}
    return names | _names(of_exports, client.items(sdk.exports.list()), period)


def period(export: Export) -> str:
    """The month of an export, or its days."""
    return export.month or f"{export.since} to {export.until}"


def _names(ids: set[str], items: Iterable[Item], name: Callable[[Item], str]) -> dict[str, str]:
    """Reads no more than it takes to find those that are wanted."""
    names: dict[str, str] = {}
    with suppress(ClientError):
        for item in items if ids else ():
            if item.id in ids:
                names[item.id] = name(item)
            if len(names) == len(ids):
                break
    return names
