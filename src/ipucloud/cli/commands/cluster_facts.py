"""What is shown of a cluster."""

from __future__ import annotations

from collections.abc import Sequence

from ipucloud.cli import schedules
from ipucloud.cli.output import shown
from ipucloud.cli.schedules import window_text
from ipucloud.cli.session import Session
from ipucloud.cli.values import fields
from ipucloud.client.models import (
    CapacityWait,
    Cluster,
    ClusterState,
    EstimateWait,
    Fault,
    Money,
    Operation,
    ScheduledRepair,
    TopologyPartition,
)

_IN_USE = {ClusterState.ACTIVE, ClusterState.DEGRADED}


def next_command(cluster: Cluster) -> str | None:
    """The command that follows from the cluster's state; None if there is nothing to do but wait."""
    if cluster.state == ClusterState.DEGRADED:
        return f"ipucloud clusters machines {cluster.name}"
    if cluster.state == ClusterState.ACTIVE:
        return f"ipucloud clusters ssh {cluster.name}"
    if cluster.state == ClusterState.SUSPENDED:
        return f"ipucloud clusters resume {cluster.name}"
    return f"ipucloud clusters delete {cluster.name}" if cluster.state == ClusterState.ERROR else None


def fault_line(fault: Fault) -> str:
    """A fault in a line: what is affected, since when, and whether its minutes are credited."""
    credited = "credited" if fault.credited else "not credited"
    what = fault.kind.replace("_", " ")
    return f"{what} {fault.name} since {shown(fault.since)} ({fault.code}, {credited}): {fault.message}"


def affected(faults: Sequence[Fault]) -> str | None:
    """The names of what has faults."""
    return ", ".join(dict.fromkeys(fault.name for fault in faults)) or None


def troubled(partition: TopologyPartition) -> str:
    """In a line: the state of a partition that is not active, and what its V-IPU controller says of it."""
    controller = partition.controller
    if controller is None:
        return "; ".join(filter(None, (partition.state, partition.state_reason)))
    resets = f"reset by itself {controller.auto_resets} of {controller.max_auto_resets} times"
    last = None if controller.last_auto_reset_at is None else f"last at {shown(controller.last_auto_reset_at)}"
    return "; ".join(filter(None, (partition.state, *controller.errors, resets, last)))


def facts(cluster: Cluster, operation: Operation | None = None) -> list[tuple[str, object]]:
    """Names and values of a cluster, with this operation or the open one."""
    billing, failed = cluster.billing, cluster.state == ClusterState.ERROR
    last = operation or cluster.operation
    return [
        *fields(cluster, "name", "id", "state"),
        ("cause" if failed else "why", cluster.state_reason),
        ("since", cluster.state_entered_at),
        ("blocked by", cluster.blocked_by),
        *(("fault", fault_line(fault)) for fault in cluster.faults),
        ("observed", cluster.observed_at),
        ("region", cluster.region),
        ("flavor", cluster.flavor),
        ("IPUs", cluster.ipus),
        ("partitions", [f"{each.name} ({each.ipus} IPUs)" for each in cluster.partitions] or None),
        ("image", cluster.image),
        ("SSH keys", cluster.ssh_keys or None),
        ("SSH from", cluster.allowed_sources or None),
        *_not_yet_enforced(cluster),
        ("S3 connections", cluster.s3_connections or None),
        ("tags", [f"{key}={value}" for key, value in cluster.tags.items()] or None),
        ("protected", cluster.delete_protection or None),
        ("created", cluster.created_at),
        ("ready", cluster.ready_at),
        ("deleted", cluster.deleted_at),
        ("expires", cluster.expires_at),
        ("expires soon", cluster.expiry_warned_at and f"ipucloud clusters update {cluster.name} --expires-at 8h"),
        ("preemptible", cluster.preemptible or None),
        ("to be preempted", cluster.preempt_at),
        ("auto-repair", cluster.auto_repair),
        ("repair window", cluster.repair_window and window_text(cluster.repair_window)),
        ("scheduled repair", cluster.scheduled_repair and _planned(cluster.scheduled_repair)),
        ("suspended when idle", cluster.idle_suspend_minutes and f"after {cluster.idle_suspend_minutes} min"),
        ("waiting", cluster.waiting and _queued(cluster.waiting)),
        ("idle since", cluster.idle and cluster.idle.since),
        *(schedules.facts(cluster.schedule) if cluster.schedule else ()),
        ("price per hour", _per_hour(cluster)),
        ("cost so far", f"{billing.cost or 'unknown'} for {billing.minutes} min"),
        *_logins(cluster),
        ("operation", last and f"{last.kind} {last.state} {last.id}"),
        ("next", next_command(cluster)),
    ]


def _not_yet_enforced(cluster: Cluster) -> list[tuple[str, object]]:
    """The running servers at which the site was not yet seen to enforce the allowed sources."""
    behind = [
        each.name for each in cluster.poplar_servers if each.ssh and each.ssh_access and not each.ssh_access.current
    ]
    return [("not yet enforced at", behind)] if behind else []


def _queued(wait: CapacityWait) -> str:
    """A wait for capacity in a line."""
    held = f", held up by {wait.held_up_by}" if wait.held_up_by else ""
    expected = f", expected {shown(wait.expected_at)}" if wait.expected_at else ""
    return f"place {wait.place} since {shown(wait.since)}, until {shown(wait.until)}{expected}{held}"


def _planned(repair: ScheduledRepair) -> str:
    """A repair in a line: why, of what, and when; or what it waits for."""
    why = f"{repair.reason} of {', '.join(repair.hardware)}"
    if repair.operation is not None:
        return f"{why}, under way"
    if repair.waits_for is not None:
        return f"{why}, waits for {repair.waits_for}"
    return f"{why}, at {shown(repair.starts_at)}; at the latest {shown(repair.latest_at)}"


def _logins(cluster: Cluster) -> list[tuple[str, object]]:
    """The servers that can be logged in to, with the fingerprints of their host keys."""
    if cluster.state not in _IN_USE:
        return []
    servers = [server for server in cluster.poplar_servers if server.ssh]
    logins = [("log in", server.ssh.command) for server in servers if server.ssh]
    reached = [(f"log in at {each.name}", each.command) for each in cluster.addresses if each.command]
    knows = f"ssh asks once about the host key; for one that knows it: ipucloud clusters ssh-config {cluster.name}"
    plain = [("plain ssh", knows)] if logins or reached else []
    return [
        *logins,
        *reached,
        *plain,
        *(("host key", server.ssh.host_key_fingerprint) for server in servers if server.ssh),
    ]


def _per_hour(cluster: Cluster) -> Money | str | None:
    if (price := cluster.price_per_minute) is None:
        return None
    hourly = Money(amount=price.amount * 60, currency=price.currency)
    return f"{hourly} after a resume; nothing while suspended" if cluster.state == ClusterState.SUSPENDED else hourly


def would_wait(wait: EstimateWait) -> str:
    """What a request that waits for capacity would wait for, in a line."""
    expected = f", expected {shown(wait.expected_at)}" if wait.expected_at else ""
    return f"waits, at place {wait.place} in the queue{expected}"


def show_changed(session: Session, cluster: Cluster, operation: Operation) -> None:
    """Show a cluster with the operation that was requested for it."""
    session.show({"cluster": cluster, "operation": operation}, facts(cluster, operation))
