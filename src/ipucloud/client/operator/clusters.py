"""Calls for clusters of any project."""

from __future__ import annotations

from ipucloud.client.call import Call, Ref, segment
from ipucloud.client.models import Operation
from ipucloud.client.operator import call as request


def force_delete(cluster: Ref, *, reason: str) -> Call[Operation]:
    """Delete a cluster of any project by its id, without waiting for hardware that is dead."""
    return request.post(f"clusters/{segment(cluster)}:force-delete", Operation, {"reason": reason})
