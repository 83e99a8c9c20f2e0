"""Calls for machines and hosts: what is known of them, and keeping clusters away from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.models import (
    Cleaning,
    HardwareChanged,
    HardwareHost,
    HardwareHostDetail,
    HardwareMachine,
    HardwareMachineDetail,
    Page,
    Validation,
)
from ipucloud.client.operator import call as request


@dataclass(frozen=True)
class Hardware:
    """Machines and hosts by name, alone or all of a pod or rack; together at most 512."""

    machines: Sequence[str] = ()
    hosts: Sequence[str] = ()
    pods: Sequence[str] = ()
    racks: Sequence[str] = ()

    def body(self) -> dict[str, object]:
        return {name: [*names] for name, names in vars(self).items()}


def machines(
    *,
    region: str | None = None,
    rack: str | None = None,
    pod: str | None = None,
    health: str | None = None,
    state: str | None = None,
    cluster: Ref | None = None,
    code: str | None = None,
    serial: str | None = None,
    limit: int | None = None,
) -> Call[Page[HardwareMachine]]:
    """The installation's machines by name. `code`: of a live health report; `cluster`: the id of the holder."""
    filters = {"region": region, "rack": rack, "pod": pod, "health": health, "state": state}
    return request.get(
        "machines", Page[HardwareMachine], **filters, cluster=cluster, code=code, serial=serial, limit=limit
    )


def machine(name: str) -> Call[HardwareMachineDetail]:
    """A machine with its health reports, holder and history."""
    return request.get(f"machines/{segment(name)}", HardwareMachineDetail)


def hosts(
    *,
    region: str | None = None,
    health: str | None = None,
    state: str | None = None,
    cluster: Ref | None = None,
    code: str | None = None,
    serial: str | None = None,
    limit: int | None = None,
) -> Call[Page[HardwareHost]]:
    """The installation's hosts by name, with the filters of `machines`."""
    filters = {"region": region, "health": health, "state": state, "cluster": cluster, "code": code}
    return request.get("hosts", Page[HardwareHost], **filters, serial=serial, limit=limit)


def host(name: str) -> Call[HardwareHostDetail]:
    """A host with its health reports, holder and history."""
    return request.get(f"hosts/{segment(name)}", HardwareHostDetail)


def maintenance(
    what: Hardware,
    *,
    reason: str,
    starts_at: datetime | None = None,
    urgent: bool = False,
    expires_at: datetime | None = None,
) -> Call[Page[HardwareChanged]]:
    """Maintain hardware, now or from `starts_at` on. `urgent`: without notice to the customers who hold some of it."""
    body = what.body() | without_none(reason=reason, expires_at=expires_at, starts_at=starts_at, urgent=urgent)
    return request.post("hardware:maintenance", Page[HardwareChanged], body)


def drain(what: Hardware, *, reason: str, expires_at: datetime | None = None) -> Call[Page[HardwareChanged]]:
    """Keep new clusters away until the present ones have left. What has no holder is drained."""
    return _report("drain", what, reason, expires_at)


def quarantine(what: Hardware, *, reason: str, expires_at: datetime | None = None) -> Call[Page[HardwareChanged]]:
    """Keep new clusters away from hardware that is suspected."""
    return _report("quarantine", what, reason, expires_at)


def return_to_service(what: Hardware) -> Call[Page[HardwareChanged]]:
    """End maintenance, drain and quarantine by operators."""
    return request.post("hardware:return-to-service", Page[HardwareChanged], what.body())


def validate(what: Hardware) -> Call[Page[HardwareChanged]]:
    """Test machines that no cluster holds; clusters get them again when they pass."""
    return request.post("hardware:validate", Page[HardwareChanged], what.body())


def validations(
    *,
    region: str | None = None,
    machine: str | None = None,
    state: str | None = None,
    result: str | None = None,
    limit: int | None = None,
) -> Call[Page[Validation]]:
    """Validations of machines, oldest first; `state` `ended`, or a `result`, for the past ones."""
    filters = {"region": region, "machine": machine, "state": state, "result": result}
    return request.get("validations", Page[Validation], **filters, limit=limit)


def cleanings(
    *,
    region: str | None = None,
    machine: str | None = None,
    host: str | None = None,
    cluster: Ref | None = None,
    limit: int | None = None,
) -> Call[Page[Cleaning]]:
    """What was observed of machines and hosts between two clusters, oldest first."""
    filters = {"region": region, "machine": machine, "host": host, "cluster": cluster}
    return request.get("cleanings", Page[Cleaning], **filters, limit=limit)


def _report(verb: str, what: Hardware, reason: str, expires_at: datetime | None) -> Call[Page[HardwareChanged]]:
    body = what.body() | without_none(reason=reason, expires_at=expires_at)
    return request.post(f"hardware:{verb}", Page[HardwareChanged], body)
