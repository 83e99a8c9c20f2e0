"""Calls for what happens: operations, events, the audit log, and faults that customers report."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, segment, without_none
from ipucloud.client.errors import UsageError
from ipucloud.client.models import AuditEntry, CloudEvent, Event, EventType, FaultReport, Operation, Page


class operations:
    """Calls for operations."""

    @staticmethod
    def get(operation: Ref, *, wait: int = 0) -> Call[Operation]:
        """One operation. The service responds when it is done, or after `wait` seconds (at most 60)."""
        query = {"wait": min(wait, 60)} if wait else {}
        return request.get(f"operations/{segment(operation)}", Operation, query, hold=wait)

    @staticmethod
    def list(
        *,
        state: str | Sequence[str] | None = None,
        kind: str | None = None,
        cluster: Ref | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[Operation]]:
        """The project's operations, newest first. `state`: one or several. `cluster`: by id."""
        query: Query = {
            "state": state if state is None or isinstance(state, str) else tuple(state),
            "kind": kind,
            "cluster": None if cluster is None else str(cluster),
            "order": order,
            "limit": limit,
        }
        return request.get("operations", Page[Operation], query)

    @staticmethod
    def cancel(operation: Ref) -> Call[Operation]:
        """Cancel an operation. Once `cancelled`, everything is undone and nothing is charged."""
        return request.post(f"operations/{segment(operation)}:cancel", Operation)


class events:
    """Calls for a project's events."""

    @staticmethod
    def list(
        *,
        type: str | None = None,
        subject: str | None = None,
        after: str | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[Event]]:
        """The project's events, newest first.

        `type`: `cluster.active`, or `cluster.*` for a noun. `subject`: an object's id. `after`: only what became
        visible after this event; with `order="created_at"`, a program that continues after its last event misses none.
        """
        query = {"type": type, "subject": subject, "after": after, "order": order, "limit": limit}
        return request.get("events", Page[Event], query)

    @staticmethod
    def cloud_events(
        *,
        type: str | None = None,
        subject: str | None = None,
        after: str | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[CloudEvent]]:
        """The same events in the JSON format of CloudEvents 1.0; the arguments are those of `list`."""
        query = {"type": type, "subject": subject, "after": after, "order": order, "limit": limit}
        return request.get("cloud-events", Page[CloudEvent], query)

    @staticmethod
    def stream(*, after: str | None = None) -> Call[Event]:
        """The project's events as they become visible, for `Client.stream`: from now on, or all after an event."""
        return request.get("events/stream", Event, {"after": after})

    @staticmethod
    def types() -> Call[Page[EventType]]:
        """All event types, by name."""
        return request.get("event-types", Page[EventType], scoped=False)


class audit_log:
    """Calls for the audit log."""

    @staticmethod
    def list(
        *,
        actor: str | None = None,
        operation: str | None = None,
        writes: bool | None = None,
        order: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[AuditEntry]]:
        """Who asked for what in the project, newest first. `actor`: an e-mail, or a token's name.

        `writes`: without the reads of tokens and money.
        """
        query = {"actor": actor, "operation": operation, "writes": writes, "order": order, "limit": limit}
        return request.get("audit-log", Page[AuditEntry], query)


class fault_reports:
    """Calls for faults of a project's clusters that are reported to the operator."""

    @staticmethod
    def create(
        cluster: Ref,
        *,
        description: str,
        machine: str | None = None,
        server: Ref | None = None,
        category: str | None = None,
        since: datetime | None = None,
    ) -> Call[FaultReport]:
        """Report a fault of a machine of the cluster by name, or of a Poplar server by name or id.

        `category`: `ipu`, `link`, `server`, `disk`, `network`, `performance` or `other`. Raises UsageError unless
        one of machine and server is given.
        """
        if (machine is None) == (server is None):
            raise UsageError("Give either a machine or a Poplar server.")
        what = f"machines/{segment(machine)}" if machine is not None else f"poplar-servers/{segment(server or '')}"
        body = without_none(description=description, category=category, since=since)
        return request.post(f"clusters/{segment(cluster)}/{what}:report-fault", FaultReport, body)

    @staticmethod
    def list(
        *,
        cluster: Ref | None = None,
        state: Sequence[str] = (),
        order: str | None = None,
        limit: int | None = None,
    ) -> Call[Page[FaultReport]]:
        """The project's fault reports, newest first. `cluster`: an id; `state`: any of these."""
        query: Query = {"cluster": cluster, "state": tuple(state), "order": order, "limit": limit}
        return request.get("fault-reports", Page[FaultReport], query)

    @staticmethod
    def get(report: Ref) -> Call[FaultReport]:
        """One fault report."""
        return request.get(f"fault-reports/{segment(report)}", FaultReport)
