"""`ipucloud services deploy` and `rollback`: another release of a service, in one step."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli.cluster_options import ContainerImage, Identity, Patience, RegistryUser, SyncYes, Wait
from ipucloud.cli.commands.serve import begun, show_begun
from ipucloud.cli.commands.services import Cluster, Name, app, facts
from ipucloud.cli.examples import COMMAND
from ipucloud.cli.finding import find_cluster, service_kind
from ipucloud.cli.programs import ENDED
from ipucloud.cli.running import Place, registry_login, send, source, variable
from ipucloud.cli.session import Session, customer_command
from ipucloud.cli.settling import until
from ipucloud.client import models, services
from ipucloud.client.services import NewRelease


@customer_command(app, "deploy", "bert chat --sync .", "bert chat --sync . --env MODEL=large -- python3 app.py --fast")
def deploy(
    session: Session,
    cluster: Cluster,
    service: Name,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar=COMMAND, help="The program and its arguments; default: the present ones."),
    ] = None,
    *,
    port: Annotated[
        int | None, typer.Option(min=1024, max=65_535, help="Port on which the program listens; default: the present.")
    ] = None,
    sync: Annotated[
        Path | None,
        typer.Option(exists=True, file_okay=False, help="Upload this directory to one of its own, and run it there."),
    ] = None,
    yes: SyncYes = False,
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Set a variable, and no other; repeatable. Default: the present ones."),
    ] = None,
    image: ContainerImage = None,
    registry_user: RegistryUser = None,
    identity_file: Identity = None,
    wait: Wait = True,
    patience: Patience = None,
) -> None:
    """Replace a service's program by another release, and wait until that runs.

    What is not given stays as it is. `ipucloud services rollback` goes back, to the files of the release before too.
    """
    uploaded, login = source(session, sync, yes=yes), registry_login(image, registry_user)
    environment = None if env is None else dict(map(variable, env))
    owner = find_cluster(session.client, cluster)
    present = session.run(services.get(owner.id, service), (service_kind(owner.id), service))
    directory = None
    if uploaded.name is not None:
        directory = f"{uploaded.name}-{datetime.now(UTC):%Y%m%dT%H%M%S}"
        names = [each.name for each in owner.poplar_servers]
        index = names.index(present.poplar_server) if present.poplar_server in names else 0
        send(Place(session, owner, index, identity_file), uploaded, directory)
    release = NewRelease(command or None, directory, environment, port, image=image, registry=login)
    released = session.run(services.deploy(owner.id, str(present.id), release))
    _show(session, owner, released, wait=wait, patience=patience)


@customer_command(app, "rollback", "bert chat")
def rollback(session: Session, cluster: Cluster, service: Name, wait: Wait = True, patience: Patience = None) -> None:
    """Go back to the release before the present one of a service, and wait until that runs."""
    owner = find_cluster(session.client, cluster)
    released = session.run(services.rollback(owner.id, service), (service_kind(owner.id), service))
    _show(session, owner, released, wait=wait, patience=patience)


def _show(
    session: Session, cluster: models.Cluster, service: models.Service, *, wait: bool, patience: float | None
) -> None:
    """Show the release that follows, once its program was seen to run if the user wants to wait.

    Raises typer.Exit for a program that has ended, StateTimeoutError.
    """
    if not wait:
        session.show(service, facts(service))
        return
    if (following := service.successor) is not None:
        service = until(
            session,
            services.get(cluster.id, service.name),
            lambda now: now.id == following or (now.successor is None and now.state in ENDED),
            lambda now: (f"Service {now.name}: {'the release before ends' if now.successor else now.state}", None),
            patience=patience,
            resume=f"ipucloud services wait {cluster.name} {service.name}",
        )
    show_begun(session, cluster, begun(session, cluster, service))
