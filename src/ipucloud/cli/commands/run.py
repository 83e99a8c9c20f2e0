"""`ipucloud run`: a program with its files on a cluster, from upload to results."""

from __future__ import annotations

from typing import Annotated

import typer

from ipucloud.cli.cluster_options import ContainerImage, Identity, Keys, Region, RegistryUser, Server, Sync, SyncYes
from ipucloud.cli.completion import names
from ipucloud.cli.examples import COMMAND
from ipucloud.cli.finding import CLUSTER, FLAVOR
from ipucloud.cli.running import Ending, Place, Then, chosen_cluster, cost, registry_login, run_job, source, variable
from ipucloud.cli.session import Session, customer_command
from ipucloud.client.jobs import NewJob

app = typer.Typer()


@customer_command(
    app,
    "run",
    "--cluster bert --sync . --get results:. -- python3 train.py",
    "--flavor m2000-pod16 --sync . --max-cost 20EUR --then delete -- ipu-run -- python3 train.py",
    "--cluster bert --image ghcr.io/me/train:1 --registry-user ci -- python3 train.py",
)
def run(
    session: Session,
    command: Annotated[list[str], typer.Argument(metavar=COMMAND, help="The program and its arguments.")],
    *,
    cluster: Annotated[
        str | None, typer.Option(help="Cluster to run it on, by name or id.", autocompletion=names(CLUSTER))
    ] = None,
    flavor: Annotated[
        str | None, typer.Option(help="Create a cluster of this flavor for it.", autocompletion=names(FLAVOR))
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name of the new cluster; default: run-…")] = None,
    region: Region = None,
    ssh_keys: Keys = None,
    server: Server = 0,
    sync: Sync = None,
    yes: SyncYes = False,
    get: Annotated[
        list[str] | None, typer.Option(metavar="REMOTE:LOCAL", help="Fetch this at the end; repeatable.")
    ] = None,
    env: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE", help="Set a variable; repeatable.")] = None,
    max_minutes: Annotated[int | None, typer.Option(min=1, max=43_200, help="Stop it so long after its start.")] = None,
    max_cost: Annotated[
        str | None, typer.Option(metavar="20EUR", help="Stop it once the cluster has cost so much since its start.")
    ] = None,
    retries: Annotated[int, typer.Option(min=0, max=10, help="Start it again so often after it failed.")] = 0,
    then: Annotated[Then, typer.Option(help="What is done with the cluster at the end.")] = Then.KEEP,
    detach: Annotated[bool, typer.Option("--detach", "--no-wait", "-d", help="Do not wait for it.")] = False,
    image: ContainerImage = None,
    registry_user: RegistryUser = None,
    identity_file: Identity = None,
) -> None:
    """Run a program on a cluster: upload what changed, show its output, fetch results, exit with its status.

    The program goes on without this command: `ipucloud jobs logs CLUSTER JOB --follow` shows it again.
    """
    ending = Ending(get, then, detach)
    ending.check()
    uploaded = source(session, sync, yes=yes, flavor=flavor)
    directory = uploaded.name
    new_job = NewJob(
        command,
        directory=directory,
        environment=dict(variable(each) for each in env or ()),
        retries=retries,
        max_minutes=max_minutes,
        max_cost=None if max_cost is None else cost(max_cost),
        image=image,
        registry=registry_login(image, registry_user),
    )
    chosen = chosen_cluster(session, cluster=cluster, flavor=flavor, name=name, region=region, ssh_keys=ssh_keys)
    run_job(Place(session, chosen, server, identity_file), new_job, uploaded, directory, ending)
