"""Calls for operators of the service, which need a platform token: `support` reads, `admin` changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import (
    HardwareChanged,
    HardwareHost,
    HardwareHostDetail,
    HardwareMachine,
    HardwareMachineDetail,
    HealthReport,
    Observation,
    Page,
    RegionCapacity,
    RequestTrace,
    Stuck,
    WhatIs,
    WorkItem,
)


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
    limit: int | None = None,
) -> Call[Page[HardwareMachine]]:
    """The installation's machines by name. `code`: of a live health report; `cluster`: the id of the holder."""
    filters = {"region": region, "rack": rack, "pod": pod, "health": health, "state": state}
    return _get("machines", Page[HardwareMachine], **filters, cluster=cluster, code=code, limit=limit)


def machine(name: str) -> Call[HardwareMachineDetail]:
    """A machine with its health reports, holder and history."""
    return _get(f"machines/{segment(name)}", HardwareMachineDetail)


def hosts(
    *,
    region: str | None = None,
    health: str | None = None,
    state: str | None = None,
    cluster: Ref | None = None,
    code: str | None = None,
    limit: int | None = None,
) -> Call[Page[HardwareHost]]:
    """The installation's hosts by name, with the filters of `machines`."""
    filters = {"region": region, "health": health, "state": state, "cluster": cluster, "code": code}
    return _get("hosts", Page[HardwareHost], **filters, limit=limit)


def host(name: str) -> Call[HardwareHostDetail]:
    """A host with its health reports, holder and history."""
    return _get(f"hosts/{segment(name)}", HardwareHostDetail)


def maintenance(what: Hardware, *, reason: str, expires_at: datetime | None = None) -> Call[Page[HardwareChanged]]:
    """Keep new clusters away while hardware is maintained; customers that hold some of it see that."""
    return _report("maintenance", what, reason, expires_at)


def drain(what: Hardware, *, reason: str, expires_at: datetime | None = None) -> Call[Page[HardwareChanged]]:
    """Keep new clusters away until the present ones have left. What has no holder is drained."""
    return _report("drain", what, reason, expires_at)


def quarantine(what: Hardware, *, reason: str, expires_at: datetime | None = None) -> Call[Page[HardwareChanged]]:
    """Keep new clusters away from hardware that is suspected."""
    return _report("quarantine", what, reason, expires_at)


def return_to_service(what: Hardware) -> Call[Page[HardwareChanged]]:
    """End maintenance, drain and quarantine by operators."""
    return _post("hardware:return-to-service", Page[HardwareChanged], what.body())


def health_reports(
    *,
    region: str | None = None,
    machine: str | None = None,
    host: str | None = None,
    code: str | None = None,
    source: str | None = None,
    state: str | None = None,
    limit: int | None = None,
) -> Call[Page[HealthReport]]:
    """What is wrong with machines and hosts, oldest first; `state`: `suspected`, `live`, or `cleared` for the past."""
    filters = {"region": region, "machine": machine, "host": host, "code": code, "source": source, "state": state}
    return _get("health-reports", Page[HealthReport], **filters, limit=limit)


def health_report(report: Ref) -> Call[HealthReport]:
    """One health report."""
    return _get(f"health-reports/{segment(report)}", HealthReport)


def clear(report: Ref) -> Call[HealthReport]:
    """End a health report; observation reports the same again if it is still seen."""
    return _post(f"health-reports/{segment(report)}:clear", HealthReport)


def observations(*, limit: int | None = None) -> Call[Page[Observation]]:
    """When each region was last observed by each source, how many objects answered, and errors."""
    return _get("observations", Page[Observation], limit=limit)


def stuck(*, region: str | None = None, limit: int | None = None) -> Call[Page[Stuck]]:
    """What takes longer than usual or will not continue, oldest first, with what to do."""
    return _get("stuck", Page[Stuck], region=region, limit=limit)


def what_is(name: Ref) -> Call[Page[WhatIs]]:
    """Every object with an id, or with a name that is unique in the service."""
    return _get(f"what-is/{segment(name)}", Page[WhatIs])


def request_trace(request_id: str) -> Call[RequestTrace]:
    """Everything that the database knows of one request."""
    return _get(f"requests/{segment(request_id)}", RequestTrace)


def capacity(region: str) -> Call[RegionCapacity]:
    """Machines by state, what fits, free blocks, fragmentation and expiries of a region."""
    return _get(f"regions/{segment(region)}/capacity", RegionCapacity)


def work(*, kind: str | None = None, state: str | None = None, limit: int | None = None) -> Call[Page[WorkItem]]:
    """Work items by kind and key; `state`: `due`, `leased`, `resting` or `parked`."""
    return _get("work", Page[WorkItem], kind=kind, state=state, limit=limit)


def requeue(kind: str, key: Ref) -> Call[WorkItem]:
    """Make a work item due now, parked or not."""
    return _post(f"work/{segment(kind)}/{segment(key)}:requeue", WorkItem)


def park(kind: str, key: Ref, *, reason: str) -> Call[WorkItem]:
    """Set a work item aside until it is requeued, or a request wakes it."""
    return _post(f"work/{segment(kind)}/{segment(key)}:park", WorkItem, {"reason": reason})


def _report(verb: str, what: Hardware, reason: str, expires_at: datetime | None) -> Call[Page[HardwareChanged]]:
    body = what.body() | given(reason=reason, expires_at=expires_at)
    return _post(f"hardware:{verb}", Page[HardwareChanged], body)


def _get(path: str, answer: request.Reading[request.Result], **query: request.QueryValue) -> Call[request.Result]:
    return request.get(f"operator/{path}", answer, query, scoped=False)


def _post(
    path: str, answer: request.Reading[request.Result], body: dict[str, object] | None = None
) -> Call[request.Result]:
    return request.post(f"operator/{path}", answer, body, scoped=False)
