"""Calls for faults of a project's clusters that are reported to the operator."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ipucloud.client import call as request
from ipucloud.client.call import Call, Query, Ref, given, segment
from ipucloud.client.errors import UsageError
from ipucloud.client.models import FaultReport, Page


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

    `category`: `ipu`, `link`, `server`, `disk`, `network`, `performance` or `other`. Raises UsageError unless one of
    machine and server is given.
    """
    if (machine is None) == (server is None):
        raise UsageError("Give either a machine or a Poplar server.")
    what = f"machines/{segment(machine)}" if machine is not None else f"poplar-servers/{segment(server or '')}"
    body = given(description=description, category=category, since=since)
    return request.post(f"clusters/{segment(cluster)}/{what}:report-fault", FaultReport, body)


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


def get(report: Ref) -> Call[FaultReport]:
    """One fault report."""
    return request.get(f"fault-reports/{segment(report)}", FaultReport)
