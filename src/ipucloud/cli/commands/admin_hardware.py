"""`ipucloud admin machines`, `hosts`, `reports`, `observations`, `controllers`, and what is done with hardware."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from enum import StrEnum
from operator import attrgetter
from typing import Annotated

import typer

from ipucloud.cli.completion import names
from ipucloud.cli.finding import HOST, MACHINE, POD, RACK, REGION
from ipucloud.cli.output import shown
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.times import ExpiresAt, moment
from ipucloud.cli.values import fields
from ipucloud.client import operator
from ipucloud.client.call import Call
from ipucloud.client.errors import UsageError
from ipucloud.client.models import (
    HardwareChanged,
    HardwareHostDetail,
    HardwareMachineDetail,
    HealthReport,
    Holder,
    Page,
)
from ipucloud.client.operator.hardware import Hardware

app = typer.Typer()
machines = typer.Typer(no_args_is_help=True, help="List and show IPU machines.")
hosts = typer.Typer(no_args_is_help=True, help="List and show hosts.")
reports = typer.Typer(no_args_is_help=True, help="List, show and clear health reports.")
for name, group in (("machines", machines), ("hosts", hosts), ("reports", reports)):
    app.add_typer(group, name=name)


class Health(StrEnum):
    OK = "ok"
    UNKNOWN = "unknown"
    DEGRADED = "degraded"
    FAILED = "failed"
    SILENT = "silent"


class State(StrEnum):
    FREE = "free"
    ALLOCATED = "allocated"
    CLEANING = "cleaning"
    VALIDATING = "validating"
    UNHEALTHY = "unhealthy"
    MAINTENANCE = "maintenance"
    SILENT = "silent"


class ReportState(StrEnum):
    SUSPECTED = "suspected"
    LIVE = "live"
    CLEARED = "cleared"


Region = Annotated[str | None, typer.Option(help="Only those in this region.", autocompletion=names(REGION))]
HealthOption = Annotated[Health | None, typer.Option("--health", help="Only those with this health.")]
StateOption = Annotated[State | None, typer.Option("--state", help="Only those in this state.")]
Cluster = Annotated[str | None, typer.Option(help="Only those that this cluster holds, by id.")]
Code = Annotated[str | None, typer.Option(help="Only with a live health report of this code, such as drain.")]
Serial = Annotated[str | None, typer.Option(help="Only the one that shows this serial number.")]
Machines = Annotated[
    list[str] | None, typer.Option("--machine", help="A machine; may be repeated.", autocompletion=names(MACHINE))
]
Hosts = Annotated[list[str] | None, typer.Option("--host", help="A host; may be repeated.", autocompletion=names(HOST))]
Pods = Annotated[
    list[str] | None, typer.Option("--pod", help="All machines of a pod; may be repeated.", autocompletion=names(POD))
]
Racks = Annotated[
    list[str] | None,
    typer.Option("--rack", help="All machines of a GW-Link group; may be repeated.", autocompletion=names(RACK)),
]
Reason = Annotated[str, typer.Option(help="Why, for other operators.")]


@customer_command(machines, "list", "--region luxembourg-2 --state unhealthy", "--pod lux2-p001")
def list_machines(
    session: Session,
    *,
    region: Region = None,
    rack: Annotated[str | None, typer.Option(help="Only of this GW-Link group.", autocompletion=names(RACK))] = None,
    pod: Annotated[str | None, typer.Option(help="Only those of this pod.", autocompletion=names(POD))] = None,
    health: HealthOption = None,
    state: StateOption = None,
    cluster: Cluster = None,
    code: Code = None,
    serial: Serial = None,
) -> None:
    """List machines with state, health and holder.

    State and holder are recorded; health is by what was observed at OBSERVED, and `unknown` once that is too old.
    """
    session.list(
        operator.hardware.machines(
            region=region,
            rack=rack,
            pod=pod,
            health=health,
            state=state,
            cluster=cluster,
            code=code,
            serial=serial,
            limit=1000,
        ),
        (
            *("NAME", "STATE", "HEALTH", "LINKS", "REPORTS", "PROJECT", "HELD BY", "POD", "SLOT", "SERIAL", "REGION"),
            "OBSERVED",
        ),
        lambda each: (
            each.name,
            each.state,
            each.health,
            each.links.state if each.links else None,
            each.codes,
            *_holder(each.holder),
            each.pod,
            each.slot,
            each.serial,
            each.region,
            each.observed_at,
        ),
        drop=("OBSERVED", "REGION", "SERIAL", "SLOT", "POD", "LINKS"),
    )


@customer_command(hosts, "list", "--region luxembourg-2 --health failed")
def list_hosts(
    session: Session,
    *,
    region: Region = None,
    health: HealthOption = None,
    state: StateOption = None,
    cluster: Cluster = None,
    code: Code = None,
    serial: Serial = None,
) -> None:
    """List hosts with state, health and holder. The host of a suspended cluster carries its disk: it is not idle.

    State and holder are recorded; health is by what was observed at OBSERVED, and `unknown` once that is too old.
    """
    session.list(
        operator.hardware.hosts(
            region=region, health=health, state=state, cluster=cluster, code=code, serial=serial, limit=1000
        ),
        ("NAME", "STATE", "HEALTH", "REPORTS", "PROJECT", "HELD BY", "HOLDER STATE", "REGION", "OBSERVED"),
        lambda each: (
            each.name,
            each.state,
            each.health,
            each.codes,
            *_holder(each.holder),
            each.holder.state if each.holder else None,
            each.region,
            each.observed_at,
        ),
        drop=("OBSERVED", "REGION"),
    )


@customer_command(machines, "show", "lux2-p001-m07")
def show_machine(
    session: Session, name: Annotated[str, typer.Argument(help="Name of the machine.", autocompletion=names(MACHINE))]
) -> None:
    """Show a machine: place, health reports, holder and history."""
    machine = session.run(operator.hardware.machine(name))
    place = fields(machine, "name", "region", "rack", "pod", "slot", "machine_type")
    if machine.links is not None:
        place.append(("links", f"{machine.links.state}, read last: {shown(machine.links.observed_at)}"))
    parts = [(f"firmware of {part}", version) for part, version in machine.parts.items()]
    parts += [(f"serial of {part}", serial) for part, serial in machine.part_serials.items()]
    session.show(machine, [*place, *_condition(machine), *parts, *fields(machine, "missing_since")])


@customer_command(hosts, "show", "lux2-h004")
def show_host(
    session: Session, name: Annotated[str, typer.Argument(help="Name of the host.", autocompletion=names(HOST))]
) -> None:
    """Show a host: health reports, holder and history."""
    host = session.run(operator.hardware.host(name))
    session.show(host, [*fields(host, "name", "region", "address", "machine"), *_condition(host)])


@customer_command(reports, "list", "--region luxembourg-2", "--machine lux2-p001-m07 --state cleared")
def list_reports(
    session: Session,
    *,
    region: Region = None,
    machine: Annotated[str | None, typer.Option(help="Only about this machine.", autocompletion=names(MACHINE))] = None,
    host: Annotated[str | None, typer.Option(help="Only about this host.", autocompletion=names(HOST))] = None,
    code: Annotated[str | None, typer.Option(help="Only those with this code.")] = None,
    source: Annotated[str | None, typer.Option(help="Only those of this source, such as bmc.")] = None,
    state: Annotated[ReportState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List what is wrong with machines and hosts, oldest first."""
    session.list(
        operator.health_reports.list(region=region, machine=machine, host=host, code=code, source=source, state=state),
        ("NAME", "CODE", "STATE", "SOURCE", "SINCE", "EXPIRES", "DETAIL", "ID"),
        attrgetter("name", "code", "state", "source", "first_seen_at", "expires_at", "detail", "id"),
        drop=("EXPIRES", "SOURCE"),
        wrap="DETAIL",
    )


@customer_command(reports, "show", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def show_report(session: Session, report: Annotated[str, typer.Argument(help="Id of the report.")]) -> None:
    """Show a health report."""
    _show_report(session, session.run(operator.health_reports.get(report)))


@customer_command(reports, "clear", "0196f1d2-7c5e-7b3a-9f40-2f6a5c1d8e90")
def clear_report(session: Session, report: Annotated[str, typer.Argument(help="Id of the report.")]) -> None:
    """End a health report. Observation reports the same again if it is still seen."""
    _show_report(session, session.run(operator.health_reports.clear(report)))


@customer_command(app, "observations", lists=True)
def observations(session: Session) -> None:
    """List when each region was last observed, how many objects answered, and errors."""
    session.list(
        operator.sites.observations(),
        ("REGION", "SOURCE", "FINISHED", "AGE", "OBJECTS", "ANSWERED", "ERROR"),
        lambda each: (
            each.region,
            each.source,
            each.finished_at,
            None if each.age_seconds is None else f"{each.age_seconds} s",
            each.objects,
            each.answered,
            each.error,
        ),
        wrap="ERROR",
    )


@customer_command(app, "controllers", lists=True)
def controllers(session: Session) -> None:
    """List V-IPU controllers: where they are, what they run, and whether they answer."""
    session.list(
        operator.sites.controllers(),
        ("CONTROLLER", "REGION", "ADDRESS", "STATE", "VERSION", "TLS", "USERS", "CLUSTER TEST", "OBSERVED", "ERROR"),
        attrgetter(
            "name", "region", "address", "state", "version", "tls", "users", "cluster_test", "observed_at", "error"
        ),
        wrap="ERROR",
    )


@customer_command(
    app,
    "maintenance",
    '--machine lux2-p001-m07 --reason "replace the fan" --expires-at 4h',
    '--rack lux2-gw1 --reason "power work" --starts-at 4d',
)
def maintenance(
    session: Session,
    *,
    reason: Reason,
    machine: Machines = None,
    host: Hosts = None,
    pod: Pods = None,
    rack: Racks = None,
    starts_at: Annotated[
        datetime | None,
        typer.Option(parser=moment, metavar="WHEN", help="Begin: a duration (4d), or a date or time in UTC."),
    ] = None,
    urgent: Annotated[bool, typer.Option("--urgent", help="Begin without notice to customers.")] = False,
    expires_at: ExpiresAt = None,
) -> None:
    """Maintain hardware, now or later. Customers who hold some are notified, and their clusters are moved before."""
    what = hardware(machine, host, pod, rack)
    call = operator.hardware.maintenance(what, reason=reason, starts_at=starts_at, urgent=urgent, expires_at=expires_at)
    show_changed(session, session.run(call))


@customer_command(app, "drain", '--rack lux2-gw1 --reason "power work in June"')
def drain(
    session: Session,
    *,
    reason: Reason,
    machine: Machines = None,
    host: Hosts = None,
    pod: Pods = None,
    rack: Racks = None,
    expires_at: ExpiresAt = None,
) -> None:
    """Keep new clusters away until the present ones have left. What has no cluster is drained."""
    _put(session, operator.hardware.drain, hardware(machine, host, pod, rack), reason, expires_at)


@customer_command(app, "quarantine", '--host lux2-h004 --reason "wrong ECC count"')
def quarantine(
    session: Session,
    *,
    reason: Reason,
    machine: Machines = None,
    host: Hosts = None,
    pod: Pods = None,
    rack: Racks = None,
    expires_at: ExpiresAt = None,
) -> None:
    """Keep new clusters away from hardware that is suspected."""
    _put(session, operator.hardware.quarantine, hardware(machine, host, pod, rack), reason, expires_at)


@customer_command(app, "return-to-service", "--machine lux2-p001-m07", "--rack lux2-gw1")
def return_to_service(
    session: Session, *, machine: Machines = None, host: Hosts = None, pod: Pods = None, rack: Racks = None
) -> None:
    """End maintenance, drain and quarantine. REPORTS shows what else keeps new clusters away."""
    show_changed(session, session.run(operator.hardware.return_to_service(hardware(machine, host, pod, rack))))


def hardware(
    machine: list[str] | None, host: list[str] | None, pod: list[str] | None, rack: list[str] | None
) -> Hardware:
    """What these options name. Raises UsageError if that is nothing."""
    if not (machine or host or pod or rack):
        raise UsageError("Name the hardware, such as --machine lux2-p001-m07 or --rack lux2-gw1.")
    return Hardware(machine or (), host or (), pod or (), rack or ())


def _put(
    session: Session,
    verb: Callable[..., Call[Page[HardwareChanged]]],
    what: Hardware,
    reason: str,
    expires_at: datetime | None,
) -> None:
    show_changed(session, session.run(verb(what, reason=reason, expires_at=expires_at)))


def show_changed(session: Session, changed: Page[HardwareChanged]) -> None:
    """Show the hardware that a request changed."""
    session.show_items(
        changed.items,
        ("KIND", "NAME", "TAKES CLUSTERS", "REPORTS", "PROJECT", "CLUSTER"),
        lambda each: (each.kind, each.name, each.allocatable, each.codes, *_holder(each.holder)),
    )


def _holder(holder: Holder | None) -> tuple[str | None, str | None]:
    """The project, and the cluster or reservation."""
    if holder is None:
        return None, None
    return holder.project, holder.name if holder.cluster else f"{holder.name} (reservation)"


def _condition(hardware: HardwareMachineDetail | HardwareHostDetail) -> list[tuple[str, object]]:
    facts: list[tuple[str, object]] = fields(hardware, "state", "health", "observed_at", "maintenance")
    facts += fields(hardware, "serial", "model", "firmware")
    facts.append(("takes clusters", hardware.allocatable))
    facts += [("report", f"{each.code} ({each.state}, {each.source}): {each.detail}") for each in hardware.reports]
    facts += [
        ("past report", f"{each.code}, {shown(each.first_seen_at)} to {shown(each.cleared_at)}")
        for each in hardware.past_reports
    ]
    facts += [
        (
            "held by",
            f"{each.project}/{each.name} ({'' if each.cluster else 'reservation, '}{each.state})"
            f" since {shown(each.since)}, until {shown(each.freed_at or 'now')}",
        )
        for each in hardware.holders
    ]
    return facts


def _show_report(session: Session, report: HealthReport) -> None:
    names = ("id", "name", "region", "source", "code", "state", "detail", "message")
    follows = ("allocation", "credited", "automation", "alerts")
    times = ("first_seen_at", "confirmed_at", "last_seen_at", "good_since", "cleared_at", "expires_at", "created_by")
    session.show(report, fields(report, *names, *follows, *times, "cluster"))
