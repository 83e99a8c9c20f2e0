"""Every kind of operation there is, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from ipucloud.billing.exports.operation import EXPORT
from ipucloud.clusters.operations.all import CLUSTER_OPERATIONS
from ipucloud.operations.kind import Kind
from ipucloud.partitions.operations import PARTITION_OPERATIONS

_ALL: tuple[Kind[Any, Any], ...] = (*CLUSTER_OPERATIONS, *PARTITION_OPERATIONS, EXPORT)
KINDS: Mapping[str, Kind[Any, Any]] = MappingProxyType({kind.name: kind for kind in _ALL})

STEPS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        kind.name: tuple(
            step.name
            for step in (
                *kind.preceding,
                *kind.steps,
                *kind.replacing,
                *(() if kind.undo is None else kind.undo.steps),
            )
        )
        for kind in KINDS.values()
    }
)
"""Names of the steps that an operation of a kind may have, those of its undo among them."""
