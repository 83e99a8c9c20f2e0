"""`ipucloud serve`: a program with its files that is kept running on a cluster."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import ContainerImage, Identity, Keys, Region, RegistryUser, Server, Sync, SyncYes
from ipucloud.cli.commands.services import facts
from ipucloud.cli.completion import names
from ipucloud.cli.examples import COMMAND
from ipucloud.cli.exits import Exit
from ipucloud.cli.finding import CLUSTER, FLAVOR
from ipucloud.cli.programs import ENDED, last_lines, require_label, service_in_use
from ipucloud.cli.running import Place, chosen_cluster, registry_login, send, source, variable
from ipucloud.cli.session import Session, customer_command
from ipucloud.client import services
from ipucloud.client.errors import ApiError
from ipucloud.client.models import Cluster, Service, ServiceState
from ipucloud.client.services import HealthCheck, NewService

app = typer.Typer()

POLL_SECONDS = 1.0
SETTLED_SECONDS = 5.0
"""A program that ends earlier did not start well. The service looks at it every two seconds."""


@customer_command(
    app,
    "serve",
    "--cluster bert --name chat --port 8000 --sync . -- python3 app.py",
    "--flavor m2000-pod4 --port 8000 --sync . --health /healthz -- python3 app.py",
)
def serve(
    session: Session,
    command: Annotated[list[str], typer.Argument(metavar=COMMAND, help="The program and its arguments.")],
    *,
    port: Annotated[int, typer.Option(min=1024, max=65_535, help="Port on which the program listens.")],
    name: Annotated[str, typer.Option(help="Name of the service.")] = "app",
    cluster: Annotated[
        str | None, typer.Option(help="Cluster to run it on, by name or id.", autocompletion=names(CLUSTER))
    ] = None,
    flavor: Annotated[
        str | None, typer.Option(help="Create a cluster of this flavor for it.", autocompletion=names(FLAVOR))
    ] = None,
    region: Region = None,
    ssh_keys: Keys = None,
    server: Server = 0,
    sync: Sync = None,
    yes: SyncYes = False,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set a variable; repeatable.")] = None,
    max_restarts: Annotated[
        int, typer.Option(min=0, max=1000, help="Start it again so often in a row after it ended.")
    ] = 10,
    health: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Start it again when GET of this path of it fails, such as /healthz."),
    ] = None,
    health_interval: Annotated[int, typer.Option(min=1, max=3600, help="Seconds between two of these checks.")] = 10,
    health_failures: Annotated[
        int, typer.Option(min=1, max=100, help="Start it again after so many failed checks in a row.")
    ] = 3,
    health_start: Annotated[
        int, typer.Option(min=0, max=86_400, help="Seconds that it has to start, before failed checks count.")
    ] = 300,
    detach: Annotated[bool, typer.Option("--detach", "--no-wait", "-d", help="Do not wait until it runs.")] = False,
    image: ContainerImage = None,
    registry_user: RegistryUser = None,
    identity_file: Identity = None,
) -> None:
    """Keep a program running on a cluster: upload what changed, start it, say how to reach it.

    A program that ends is started again. `ipucloud services logs CLUSTER SERVICE` shows its output.
    """
    uploaded, environment = source(session, sync, yes=yes, flavor=flavor), dict(variable(each) for each in env or ())
    directory = uploaded.name
    login = registry_login(image, registry_user)
    require_label(name)
    chosen = chosen_cluster(session, cluster=cluster, flavor=flavor, region=region, ssh_keys=ssh_keys)
    if service_in_use(session, chosen, name) is not None:
        commands = " or ".join(f"ipucloud services {verb} {chosen.name} {name}" for verb in ("deploy", "stop"))
        sentence = f"{chosen.name} has a service {name}. Choose another --name, or replace or stop it: {commands}"
        raise ApiError(409, "name_taken", sentence)
    poplar = send(Place(session, chosen, server, identity_file), uploaded, directory)
    check = None
    if health is not None:
        check = HealthCheck(health, health_interval, failures=health_failures, start_seconds=health_start)
    new_service = NewService(name, command, port, directory, environment, poplar, max_restarts, check, image, login)
    service = session.run(services.create(chosen.id, new_service))
    if not detach:
        service = begun(session, chosen, service)
    show_begun(session, chosen, service)
    which = f" --server {server}" if server else ""
    proxy = f"/v1/projects/{chosen.project}/clusters/{chosen.name}/services/{service.name}/proxy/"
    session.note(f"To reach it: ipucloud request {proxy}")
    session.note(
        f"To reach it at http://127.0.0.1:{port}/: ipucloud clusters ssh {chosen.name}{which} --forward {port}"
    )
    session.note(f"To stop it: ipucloud services stop {chosen.name} {service.name}")


def show_begun(session: Session, cluster: Cluster, service: Service) -> None:
    """Show a service. Raises typer.Exit for one whose program has ended, with what it wrote last."""
    session.show(service, facts(service))
    if service.failures or service.state in ENDED:
        _say_why(session, cluster, service)
        raise typer.Exit(Exit.FAILED)


def begun(session: Session, cluster: Cluster, service: Service) -> Service:
    """The service once its program was seen to run for SETTLED_SECONDS, or has ended."""
    settled: float | None = None
    while not service.failures and service.state not in ENDED:
        if service.state == ServiceState.RUNNING:
            settled = settled or time.monotonic() + SETTLED_SECONDS
            if time.monotonic() >= settled:
                break
        time.sleep(POLL_SECONDS)
        service = session.run(services.get(cluster.id, service.id))
    return service


def _say_why(session: Session, cluster: Cluster, service: Service) -> None:
    """Say how a program ended that did not keep running, with its last lines."""
    session.note(f"The program has ended: {service.state_reason or f'exit status {service.exit_status}'}.")
    for line in last_lines(session, cluster, service):
        session.note(f"  {line}")
    session.note(f"To see all of it: ipucloud services logs {cluster.name} {service.name}")
    if service.state not in ENDED:
        session.note(f"It is started again. To stop it: ipucloud services stop {cluster.name} {service.name}")
