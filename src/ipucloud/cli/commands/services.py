"""`ipucloud services`: programs that are kept running on clusters."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import Patience, Wait
from ipucloud.cli.completion import its_services, names
from ipucloud.cli.finding import CLUSTER, find_cluster, service_kind
from ipucloud.cli.output import shown
from ipucloud.cli.programs import ENDED, reason, started_as, write_parts
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import For, refuse, until
from ipucloud.cli.times import PeriodEnd, PeriodStart, PeriodStep, minute
from ipucloud.client import services
from ipucloud.client.models import Service, ServiceHealth, ServiceMetricsPoint, ServiceState

app = typer.Typer(no_args_is_help=True)

Cluster = Annotated[str, typer.Argument(help="Name or id of the cluster.", autocompletion=names(CLUSTER))]
Name = Annotated[
    str, typer.Argument(metavar="SERVICE", help="Name or id of the service.", autocompletion=names(its_services))
]


@customer_command(app, "list", "bert", "bert --state running")
def list_services(
    session: Session,
    cluster: Cluster,
    state: Annotated[ServiceState | None, typer.Option(help="Only those in this state.")] = None,
) -> None:
    """List a cluster's services, newest first."""
    states = () if state is None else (state.value,)
    session.list(
        services.list(find_cluster(session.client, cluster).id, state=states),
        ("NAME", "STATE", "HEALTH", "SERVER", "PORT", "STARTS", "STARTED", "COMMAND"),
        lambda each: (
            each.name,
            each.state,
            each.health and each.health.state,
            each.poplar_server,
            each.port,
            each.attempt,
            each.started_at,
            shlex.join(each.command),
        ),
        drop=("STARTED", "STARTS", "SERVER", "HEALTH"),
    )


@customer_command(app, "show", "bert chat")
def show(session: Session, cluster: Cluster, service: Name) -> None:
    """Show a service."""
    owner = find_cluster(session.client, cluster).id
    record = session.run(services.get(owner, service), (service_kind(owner), service))
    session.show(record, facts(record))


@customer_command(app, "logs", "bert chat", "bert chat --follow")
def logs(
    session: Session,
    cluster: Cluster,
    service: Name,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on until the service has ended.")] = False,
) -> None:
    """Print what a service's program wrote to standard output and standard error."""
    owner = find_cluster(session.client, cluster).id
    service_id = session.run(services.get(owner, service), (service_kind(owner), service)).id
    write_parts(session, lambda after: services.log(owner, str(service_id), after=after), "program", follow=follow)


@customer_command(
    app, "metrics", "bert chat", "bert chat --since 6h", "bert chat --since 7d --step 3600 --json", lists=True
)
def metrics(
    session: Session,
    cluster: Cluster,
    service: Name,
    *,
    since: PeriodStart = None,
    until: PeriodEnd = None,
    step: PeriodStep = None,
) -> None:
    """Show the requests that reached a service through the API: how many, how many failed, how long answers took."""
    owner = find_cluster(session.client, cluster).id
    series = session.run(
        services.metrics(owner, service, since=since, until=until, step=step), (service_kind(owner), service)
    )
    if session.as_json:
        session.show(series, ())
        return
    session.show_items(
        [each for each in series.points if each.requests],
        ("FROM", "REQUESTS", "PER SECOND", "ERRORS", "MEAN", "HALF", "95 %", "99 %"),
        _requests,
        drop=("MEAN", "HALF", "PER SECOND"),
    )
    if not any(each.requests for each in series.points):
        session.note("No requests came through the API in this time.")


@customer_command(app, "stop", "bert chat")
def stop(session: Session, cluster: Cluster, service: Name, wait: Wait = True, patience: Patience = None) -> None:
    """End a service and its program. The cluster stays."""
    owner = find_cluster(session.client, cluster).id
    record = session.run(services.stop(owner, service), (service_kind(owner), service))
    if wait:
        record = _awaited(session, cluster, record, ENDED, patience)
    session.show(record, facts(record))


@customer_command(app, "wait", "bert chat", "bert chat --for stopped --timeout 60")
def wait(session: Session, cluster: Cluster, service: Name, state: For = None, patience: Patience = None) -> None:
    """Wait until a service runs, or is in another state; exit status 1 if that cannot be any more."""
    states = [each.value for each in ServiceState]
    if state is not None and state not in states:
        raise typer.BadParameter(f"{state!r} is none of {', '.join(states)}.", param_hint="--for")
    owner = find_cluster(session.client, cluster).id
    record = session.run(services.get(owner, service), (service_kind(owner), service))
    goal = state or ServiceState.RUNNING.value
    record = _awaited(session, cluster, record, {goal, *ENDED}, patience)
    session.show(record, facts(record))
    refuse(session, record, f"service {record.name}", [goal])


def _awaited(
    session: Session, cluster: str, service: Service, states: Collection[str], patience: float | None
) -> Service:
    """The service once it is in one of these states. Raises StateTimeoutError."""
    if service.state in states:
        return service
    return until(
        session,
        services.get(str(service.cluster), str(service.id)),
        lambda now: now.state in states,
        lambda now: (f"Service {now.name} {now.state}", now.state_reason),
        patience=patience,
        resume=f"ipucloud services wait {cluster} {service.name}",
    )


def facts(service: Service) -> list[tuple[str, object]]:
    return [
        ("name", service.name),
        *started_as(service),
        ("port", service.port),
        ("state", service.state),
        ("why", reason(service)),
        ("health", None if service.health is None else _health(service.health)),
        ("ended by", service.ended_by),
        ("starts", service.attempt),
        ("failures in a row", f"{service.failures} (at most {service.max_restarts})"),
        ("last exit status", service.exit_status),
        ("stop requested", service.stop_requested_at),
        ("requested", service.created_at),
        ("started", service.started_at),
        ("ended", service.ended_at),
        ("observed", service.observed_at),
    ]


def _health(health: ServiceHealth) -> str:
    """The state of the health check in a line: what it is, what was wrong, and when."""
    detail = f"GET {health.path} every {health.interval_seconds} s" if health.detail is None else health.detail
    failed = f", {health.failed} of {health.failures} in a row" if health.failed else ""
    checked = "" if health.checked_at is None else f", checked {shown(health.checked_at)}"
    return f"{health.state}: {detail}{failed}{checked}"


def _requests(point: ServiceMetricsPoint) -> tuple[object, ...]:
    times = (point.mean_seconds, point.p50_seconds, point.p95_seconds, point.p99_seconds)
    return (
        minute(point.at),
        point.requests,
        f"{point.requests_per_second:g}",
        point.errors,
        *(None if each is None else f"{each * 1000:.0f} ms" for each in times),
    )
