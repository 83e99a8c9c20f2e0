"""Calls about the inventory of regions: what is expected, what differs, and what happened to machines and hosts.

They need a platform token: `support` reads, `admin` changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal

from ipucloud.client import call as request
from ipucloud.client.call import Call, QueryValue, segment
from ipucloud.client.models import (
    ExpectedHardware,
    ExpectedInventory,
    HardwareEvent,
    HardwareHistory,
    InventoryFinding,
    Page,
)

Kind = Literal["machine", "host"]


def expected(region: str, *, limit: int | None = None) -> Call[Page[ExpectedHardware]]:
    """The machines and hosts that are expected of a region, by kind and name."""
    return request.get(_expected(region), Page[ExpectedHardware], {"limit": limit}, scoped=False)


def replace(region: str, items: Sequence[Mapping[str, object]], *, dry_run: bool = False) -> Call[ExpectedInventory]:
    """Expect exactly these machines and hosts: `kind`, `name`, `serial`, `model`, `firmware`, `rack`, `pod`, `slot`.

    With `dry_run` nothing is changed, and the answer says what would be.
    """
    query: dict[str, QueryValue] = {"dry_run": "true"} if dry_run else {}
    return Call("PUT", _expected(region), ExpectedInventory, query=query, body={"items": [*items]}, scoped=False)


def delete(region: str) -> Call[None]:
    """Expect nothing of a region any more; its hardware is not compared."""
    return request.delete(_expected(region), request.nothing, scoped=False)


def accept(
    region: str, *, reason: str, machines: Sequence[str] = (), hosts: Sequence[str] = (), everything: bool = False
) -> Call[ExpectedInventory]:
    """Expect what machines and hosts show now; with `everything`, what all of the region's hardware shows."""
    body: dict[str, object] = {"reason": reason, "everything": everything}
    return request.post(
        f"{_expected(region)}:accept",
        ExpectedInventory,
        body | {"machines": [*machines], "hosts": [*hosts]},
        scoped=False,
    )


def findings(
    *,
    region: str | None = None,
    kind: Kind | None = None,
    name: str | None = None,
    code: str | None = None,
    limit: int | None = None,
) -> Call[Page[InventoryFinding]]:
    """Where the hardware that sites show differs from what is expected."""
    query = {"region": region, "kind": kind, "name": name, "code": code, "limit": limit}
    return request.get("operator/inventory-findings", Page[InventoryFinding], query, scoped=False)


def history(
    kind: Kind,
    name: str,
    *,
    since: datetime | None = None,
    type: str | None = None,
    limit: int | None = None,  # the API's name
) -> Call[Page[HardwareHistory]]:
    """Everything that happened to a machine or host, oldest first."""
    query: dict[str, QueryValue] = {"since": since, "type": type, "limit": limit}
    return request.get(f"operator/{kind}s/{segment(name)}/history", Page[HardwareHistory], query, scoped=False)


def events(
    *,
    region: str | None = None,
    kind: Kind | None = None,
    since: datetime | None = None,
    type: str | None = None,  # the API's name
    limit: int | None = None,
) -> Call[Page[HardwareEvent]]:
    """Capacity that was added or removed, and exchanged, changed and accepted hardware, oldest first."""
    query: dict[str, QueryValue] = {"region": region, "kind": kind, "since": since, "type": type, "limit": limit}
    return request.get("operator/hardware-events", Page[HardwareEvent], query, scoped=False)


def _expected(region: str) -> str:
    return f"operator/regions/{segment(region)}/expected-inventory"
