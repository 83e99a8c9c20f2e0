"""Calls for operators of the service, a namespace for each noun.

Law: they need a platform token; `support` reads, `admin` changes.
"""

from ipucloud.client.operator import hardware
from ipucloud.client.operator.customers import audit_log, clusters, events, fault_reports, quota_requests, work
from ipucloud.client.operator.regions import capacity, freezes, health_reports, simulated_faults, sites

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
