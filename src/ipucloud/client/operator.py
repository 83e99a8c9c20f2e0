"""Calls for operators of the service, which need a platform token: `support` reads, `admin` changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Ref, given, segment
from ipucloud.client.models import (
    AuditEntry,
    Cleaning,
    CloudEvent,
    Controller,
    Defragmentation,
    Freeze,
    HardwareChanged,
    HardwareHost,
    HardwareHostDetail,
    HardwareMachine,
    HardwareMachineDetail,
    HealthReport,
    Observation,
    Operation,
    OperatorEvent,
    OperatorFaultReport,
    OperatorOperation,
    OperatorQuotaRequest,
    Page,
    Pod,
    RegionCapacity,
    RequestTrace,
    SimulatedFault,
    SiteFinding,
    Stuck,
    Validation,
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
    serial: str | None = None,
    limit: int | None = None,
) -> Call[Page[HardwareMachine]]:
    """The installation's machines by name. `code`: of a live health report; `cluster`: the id of the holder."""
    filters = {"region": region, "rack": rack, "pod": pod, "health": health, "state": state}
    return _get("machines", Page[HardwareMachine], **filters, cluster=cluster, code=code, serial=serial, limit=limit)


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
    serial: str | None = None,
    limit: int | None = None,
) -> Call[Page[HardwareHost]]:
    """The installation's hosts by name, with the filters of `machines`."""
    filters = {"region": region, "health": health, "state": state, "cluster": cluster, "code": code}
    return _get("hosts", Page[HardwareHost], **filters, serial=serial, limit=limit)


def host(name: str) -> Call[HardwareHostDetail]:
    """A host with its health reports, holder and history."""
    return _get(f"hosts/{segment(name)}", HardwareHostDetail)


def maintenance(
    what: Hardware,
    *,
    reason: str,
    starts_at: datetime | None = None,
    urgent: bool = False,
    expires_at: datetime | None = None,
) -> Call[Page[HardwareChanged]]:
    """Maintain hardware, now or from `starts_at` on. `urgent`: without notice to the customers who hold some of it."""
    body = what.body() | given(reason=reason, expires_at=expires_at, starts_at=starts_at, urgent=urgent)
    return _post("hardware:maintenance", Page[HardwareChanged], body)


def drain(what: Hardware, *, reason: str, expires_at: datetime | None = None) -> Call[Page[HardwareChanged]]:
    """Keep new clusters away until the present ones have left. What has no holder is drained."""
    return _report("drain", what, reason, expires_at)


def quarantine(what: Hardware, *, reason: str, expires_at: datetime | None = None) -> Call[Page[HardwareChanged]]:
    """Keep new clusters away from hardware that is suspected."""
    return _report("quarantine", what, reason, expires_at)


def return_to_service(what: Hardware) -> Call[Page[HardwareChanged]]:
    """End maintenance, drain and quarantine by operators."""
    return _post("hardware:return-to-service", Page[HardwareChanged], what.body())


def validate(what: Hardware) -> Call[Page[HardwareChanged]]:
    """Test machines that no cluster holds; clusters get them again when they pass."""
    return _post("hardware:validate", Page[HardwareChanged], what.body())


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


def controllers(*, limit: int | None = None) -> Call[Page[Controller]]:
    """The V-IPU controllers: where they are, what they run and can do, and whether they answer."""
    return _get("controllers", Page[Controller], limit=limit)


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
    return _get("cleanings", Page[Cleaning], **filters, limit=limit)


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
    return _get("validations", Page[Validation], **filters, limit=limit)


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


def defragmentation(region: str, *, flavor: str) -> Call[Defragmentation]:
    """The cheapest moves of clusters after which one more of a flavor fits; nothing is changed."""
    return _get(f"regions/{segment(region)}/defragmentation", Defragmentation, flavor=flavor)


def pods(
    *, region: str | None = None, rack: str | None = None, machine_type: str | None = None, limit: int | None = None
) -> Call[Page[Pod]]:
    """Pods with their masks of slots, largest free block and health, by name."""
    return _get("pods", Page[Pod], region=region, rack=rack, machine_type=machine_type, limit=limit)


def operations(
    *,
    state: Sequence[str] = (),
    kind: str | None = None,
    project: str | None = None,
    cluster: Ref | None = None,
    region: str | None = None,
    limit: int | None = None,
) -> Call[Page[OperatorOperation]]:
    """Operations of every project, newest first."""
    filters = {"kind": kind, "project": project, "cluster": cluster, "region": region}
    return _get("operations", Page[OperatorOperation], state=tuple(state), **filters, limit=limit)


def simulated_faults(
    *, region: str | None = None, ended: bool | None = None, limit: int | None = None
) -> Call[Page[SimulatedFault]]:
    """What simulated sites were asked to break, oldest first; `ended`: what has ended or failed, or what has not."""
    return _get("simulated-faults", Page[SimulatedFault], region=region, ended=ended, limit=limit)


def break_simulated(kind: str, name: str, *, link: str | None = None) -> Call[SimulatedFault]:
    """Break something at a simulated site; a worker asks it.

    `kind`: `machine`, `link`, `host` or `controllers`, with the name of the machine, host or region.
    """
    return _post("simulated-faults", SimulatedFault, given(kind=kind, name=name, link=link))


def repair_simulated(fault: Ref) -> Call[SimulatedFault]:
    """End a fault of a simulated site."""
    return _post(f"simulated-faults/{segment(fault)}:end", SimulatedFault, {})


def freezes(*, state: str | None = None, region: str | None = None, limit: int | None = None) -> Call[Page[Freeze]]:
    """When removals were frozen, oldest first; `state`: `live`, `expired` or `ended`."""
    return _get("freezes", Page[Freeze], state=state, region=region, limit=limit)


def freeze(*, reason: str, expires_at: datetime, region: str | None = None) -> Call[Freeze]:
    """Remove and switch off nothing in a region, or anywhere, until the freeze ends."""
    return _post("freezes", Freeze, given(region=region, reason=reason, expires_at=expires_at))


def end_freeze(freeze: Ref, *, reason: str) -> Call[Freeze]:
    """End a freeze; steps that waited go on by themselves."""
    return _post(f"freezes/{segment(freeze)}:end", Freeze, {"reason": reason})


def site_findings(
    *, region: str | None = None, rule: str | None = None, limit: int | None = None
) -> Call[Page[SiteFinding]]:
    """Where sites and database disagree, as the last sweep found it, and why it left what it left."""
    return _get("site-findings", Page[SiteFinding], region=region, rule=rule, limit=limit)


def force_delete(cluster: Ref, *, reason: str) -> Call[Operation]:
    """Delete a cluster of any project by its id, without waiting for hardware that is dead."""
    return _post(f"clusters/{segment(cluster)}:force-delete", Operation, {"reason": reason})


def audit_log(
    *,
    project: str | None = None,
    actor: str | None = None,
    operation: str | None = None,
    writes: bool | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[AuditEntry]]:
    """Who asked for what, in every project and outside of projects; `project`: a slug."""
    filters = {"project": project, "actor": actor, "operation": operation, "writes": writes, "order": order}
    return _get("audit-log", Page[AuditEntry], **filters, limit=limit)


def events(
    *,
    type: Sequence[str] = (),
    region: str | None = None,
    project: str | None = None,
    subject: Ref | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[OperatorEvent]]:
    """What happens to the platform, newest first; `project`: a slug. `after` and `order` as for a project's events."""
    filters = {"region": region, "project": project, "subject": subject, "after": after, "order": order}
    return _get("events", Page[OperatorEvent], type=tuple(type), **filters, limit=limit)


def cloud_events(
    *,
    type: Sequence[str] = (),
    region: str | None = None,
    project: str | None = None,
    subject: Ref | None = None,
    after: str | None = None,
    order: str | None = None,
    limit: int | None = None,
) -> Call[Page[CloudEvent]]:
    """The same events in the JSON format of CloudEvents 1.0."""
    filters = {"region": region, "project": project, "subject": subject, "after": after, "order": order}
    return _get("cloud-events", Page[CloudEvent], type=tuple(type), **filters, limit=limit)


def stream_events(*, after: str | None = None) -> Call[OperatorEvent]:
    """What happens to the platform, for `Client.stream`: from now on, or all after an event."""
    return _get("events/stream", OperatorEvent, after=after)


def fault_reports(
    *,
    state: str | None = None,
    region: str | None = None,
    project: str | None = None,
    cluster: Ref | None = None,
    hardware: str | None = None,
    limit: int | None = None,
) -> Call[Page[OperatorFaultReport]]:
    """Faults that customers reported, oldest first. `hardware`: name of a machine or host."""
    filters = {"state": state, "region": region, "project": project, "cluster": cluster, "hardware": hardware}
    return _get("fault-reports", Page[OperatorFaultReport], **filters, limit=limit)


def fault_report(report: Ref) -> Call[OperatorFaultReport]:
    """One fault report."""
    return _get(f"fault-reports/{segment(report)}", OperatorFaultReport)


def confirm_fault(
    report: Ref, *, answer: str, code: str | None = None, observed_at: datetime | None = None
) -> Call[OperatorFaultReport]:
    """Make a health report of the hardware; `observed_at`: when evidence first shows the fault, otherwise now."""
    body = given(answer=answer, code=code, observed_at=observed_at)
    return _post(f"fault-reports/{segment(report)}:confirm", OperatorFaultReport, body)


def dismiss_fault(report: Ref, *, reason: str) -> Call[OperatorFaultReport]:
    """Tell the customer that nothing was found, and why."""
    return _post(f"fault-reports/{segment(report)}:dismiss", OperatorFaultReport, {"reason": reason})


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


def quota_requests(
    *, state: str | None = None, region: str | None = None, project: str | None = None, limit: int | None = None
) -> Call[Page[OperatorQuotaRequest]]:
    """Requests for higher quotas, oldest first."""
    filters = {"state": state, "region": region, "project": project}
    return _get("quota-requests", Page[OperatorQuotaRequest], **filters, limit=limit)


def quota_request(quota_request: Ref) -> Call[OperatorQuotaRequest]:
    """One request for a higher quota."""
    return _get(f"quota-requests/{segment(quota_request)}", OperatorQuotaRequest)


def grant_quota(
    quota_request: Ref, *, limit: int | None = None, answer: str | None = None
) -> Call[OperatorQuotaRequest]:
    """Raise the quota to what was asked for, or to `limit`."""
    body = given(limit=limit, answer=answer)
    return _post(f"quota-requests/{segment(quota_request)}:grant", OperatorQuotaRequest, body)


def decline_quota(quota_request: Ref, *, reason: str) -> Call[OperatorQuotaRequest]:
    """Leave the quota as it is, and say why."""
    return _post(f"quota-requests/{segment(quota_request)}:decline", OperatorQuotaRequest, {"reason": reason})
