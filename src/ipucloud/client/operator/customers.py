"""Calls for what customers do and report: the audit log, events, their clusters, fault reports, quotas, work."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client.call import Call, Ref, segment, without_none
from ipucloud.client.models import (
    AuditEntry,
    CloudEvent,
    Operation,
    OperatorEvent,
    OperatorFaultReport,
    OperatorOperation,
    OperatorQuotaRequest,
    Page,
    RequestTrace,
    Stuck,
    WhatIs,
    WorkItem,
)
from ipucloud.client.operator import call as request


class audit_log:
    """Calls for who asked for what, in every project and outside of projects."""

    @staticmethod
    def list(
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
        return request.get("audit-log", Page[AuditEntry], **filters, limit=limit)


class events:
    """Calls for what happens to the platform."""

    @staticmethod
    def list(
        *,
        type: Sequence[str] = (),
        region: str | None = None,
        project: str | None = None,
        subject: Ref | None = None,
        after: str | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[OperatorEvent]]:
        """What happens to the platform, newest first; `project`: a slug. `after`, `order`: as of a project's."""
        filters = {"region": region, "project": project, "subject": subject, "after": after, "order": order}
        return request.get("events", Page[OperatorEvent], type=tuple(type), **filters, limit=limit)

    @staticmethod
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
        return request.get("cloud-events", Page[CloudEvent], type=tuple(type), **filters, limit=limit)

    @staticmethod
    def stream(*, after: str | None = None) -> Call[OperatorEvent]:
        """What happens to the platform, for `Client.stream`: from now on, or all after an event."""
        return request.get("events/stream", OperatorEvent, after=after)


class clusters:
    """Calls for clusters of any project."""

    @staticmethod
    def force_delete(cluster: Ref, *, reason: str) -> Call[Operation]:
        """Delete a cluster of any project by its id, without waiting for hardware that is dead."""
        return request.post(f"clusters/{segment(cluster)}:force-delete", Operation, {"reason": reason})


class fault_reports:
    """Calls for faults that customers reported."""

    @staticmethod
    def list(
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
        return request.get("fault-reports", Page[OperatorFaultReport], **filters, limit=limit)

    @staticmethod
    def get(report: Ref) -> Call[OperatorFaultReport]:
        """One fault report."""
        return request.get(f"fault-reports/{segment(report)}", OperatorFaultReport)

    @staticmethod
    def confirm(
        report: Ref, *, answer: str, code: str | None = None, observed_at: datetime | None = None
    ) -> Call[OperatorFaultReport]:
        """Make a health report of the hardware; `observed_at`: when evidence first shows the fault, otherwise now."""
        body = without_none(answer=answer, code=code, observed_at=observed_at)
        return request.post(f"fault-reports/{segment(report)}:confirm", OperatorFaultReport, body)

    @staticmethod
    def dismiss(report: Ref, *, reason: str) -> Call[OperatorFaultReport]:
        """Tell the customer that nothing was found, and why."""
        return request.post(f"fault-reports/{segment(report)}:dismiss", OperatorFaultReport, {"reason": reason})


class quota_requests:
    """Calls for requests for higher quotas."""

    @staticmethod
    def list(
        *, state: str | None = None, region: str | None = None, project: str | None = None, limit: int | None = None
    ) -> Call[Page[OperatorQuotaRequest]]:
        """Requests for higher quotas, oldest first."""
        filters = {"state": state, "region": region, "project": project}
        return request.get("quota-requests", Page[OperatorQuotaRequest], **filters, limit=limit)

    @staticmethod
    def get(quota_request: Ref) -> Call[OperatorQuotaRequest]:
        """One request for a higher quota."""
        return request.get(f"quota-requests/{segment(quota_request)}", OperatorQuotaRequest)

    @staticmethod
    def grant(quota_request: Ref, *, limit: int | None = None, answer: str | None = None) -> Call[OperatorQuotaRequest]:
        """Raise the quota to what was asked for, or to `limit`."""
        body = without_none(limit=limit, answer=answer)
        return request.post(f"quota-requests/{segment(quota_request)}:grant", OperatorQuotaRequest, body)

    @staticmethod
    def decline(quota_request: Ref, *, reason: str) -> Call[OperatorQuotaRequest]:
        """Leave the quota as it is, and say why."""
        return request.post(
            f"quota-requests/{segment(quota_request)}:decline", OperatorQuotaRequest, {"reason": reason}
        )


class work:
    """Calls for work that goes on, or does not: operations, requests, work items, and what is stuck."""

    @staticmethod
    def stuck(*, region: str | None = None, limit: int | None = None) -> Call[Page[Stuck]]:
        """What takes longer than usual or will not continue, oldest first, with what to do."""
        return request.get("stuck", Page[Stuck], region=region, limit=limit)

    @staticmethod
    def what_is(name: Ref) -> Call[Page[WhatIs]]:
        """Every object with an id, or with a name that is unique in the service."""
        return request.get(f"what-is/{segment(name)}", Page[WhatIs])

    @staticmethod
    def request_trace(request_id: str) -> Call[RequestTrace]:
        """Everything that the database knows of one request."""
        return request.get(f"requests/{segment(request_id)}", RequestTrace)

    @staticmethod
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
        return request.get("operations", Page[OperatorOperation], state=tuple(state), **filters, limit=limit)

    @staticmethod
    def list(*, kind: str | None = None, state: str | None = None, limit: int | None = None) -> Call[Page[WorkItem]]:
        """Work items by kind and key; `state`: `due`, `leased`, `resting` or `parked`."""
        return request.get("work", Page[WorkItem], kind=kind, state=state, limit=limit)

    @staticmethod
    def requeue(kind: str, key: Ref) -> Call[WorkItem]:
        """Make a work item due now, parked or not."""
        return request.post(f"work/{segment(kind)}/{segment(key)}:requeue", WorkItem)

    @staticmethod
    def park(kind: str, key: Ref, *, reason: str) -> Call[WorkItem]:
        """Set a work item aside until it is requeued, or a request wakes it."""
        return request.post(f"work/{segment(kind)}/{segment(key)}:park", WorkItem, {"reason": reason})
