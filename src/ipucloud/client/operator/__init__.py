"""Calls for operators of the service, a module for each noun.

Law: they need a platform token; `support` reads, `admin` changes.
"""

from ipucloud.client.operator import (
    audit_log,
    capacity,
    clusters,
    events,
    fault_reports,
    freezes,
    hardware,
    health_reports,
    quota_requests,
    simulated_faults,
    sites,
    work,
)

__all__ = [
    "audit_log",
    "capacity",
    "clusters",
    "events",
    "fault_reports",
    "freezes",
    "hardware",
    "health_reports",
    "quota_requests",
    "simulated_faults",
    "sites",
    "work",
]
