"""`ipucloud up`."""

from __future__ import annotations

import asyncio
import shlex
import socket
from dataclasses import asdict
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment
from ipucloud.cli.session import Json
from ipucloud.cli.times import duration
from ipucloud.client.aio import AsyncClient
from ipucloud.client.errors import ClientError
from ipucloud.client.people import sessions
from ipucloud.clusters.operations.create import CREATE
from ipucloud.config import Settings
from ipucloud.laboratory.simulator.durations import Durations
from ipucloud.laboratory.up.interrupts import interruptible, run_until_stopped
from ipucloud.laboratory.up.programs import EVERYWHERE, Published, SiteChoices
from ipucloud.laboratory.up.sampling import introduction
from ipucloud.laboratory.up.system import System, migrate_given_database, running
from ipucloud.operations.step import expected_seconds, plan_of
from ipucloud.process.first import leave_first_process
from ipucloud.process.lines import patient_output

app = typer.Typer()

TIME_SCALE = 45.0
OWN_SECONDS = 5.0
"""What a create takes beside the hardware."""
TRY = """
ipucloud is running at {url} (API reference: {url}/docs). Ctrl-C stops everything; data and URL survive a restart.

The control panel, signed in as the owner of project {project}; the link works once, for ten minutes:

  {panel}

{terminal}

  ipucloud whoami                      as the owner of project {project}: {token}
  ipucloud whoami --profile admin      as the administrator: {admin_token}
  ipucloud panel                       another link to the control panel; --profile admin: as the administrator

Then, for example:
1. List cluster sizes:           ipucloud flavors list
2. Add your SSH key, and create a cluster{takes}:
                                 ipucloud ssh-keys create laptop ~/.ssh/id_ed25519.pub
                                 ipucloud clusters create bert --flavor m2000-pod16
3. Log in and count the IPUs:    ipucloud clusters ssh bert -- gc-info -l
`ipucloud doctor` checks that everything is in place.
"""
HERE = """\
In another terminal, first run this line; it puts `ipucloud` on the PATH, with profiles for this system:

  . {env}"""
IN_CONTAINER = """\
This is a container. The links above lead into it if it was started with
  --publish {address}:{port}:{port} --publish {address}:{ports}:{ports}
In another terminal, first run one of these; the second one needs `ipucloud` on this machine, and asks for a token:

  docker exec --interactive --tty {container} bash
  ipucloud login --no-device --url {url}"""


@app.command("up", cls=with_examples("", "--time-scale 1", "--sample"))
def up(
    *,
    time_scale: Annotated[
        float, typer.Option(min=0.0, help="Speed of the simulated hardware relative to real hardware; 1: 15 minutes.")
    ] = TIME_SCALE,
    data_dir: Annotated[
        Path | None,
        typer.Option(help="Directory for data and logs. Default: IPUCLOUD_DATA_DIR, else the user's data directory."),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            help="The API's port, kept for later starts; 0: any free one. Default: IPUCLOUD_PORT, at first 8000.",
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(
            metavar="[ADDRESS:]FIRST-LAST",
            help="In a container: listen at all addresses; Poplar servers and V-IPU controllers get these ports, which"
            " are published at ADDRESS (127.0.0.1).",
        ),
    ] = None,
    sample: Annotated[
        bool, typer.Option("--sample", help="Add a project with two billed months, for trying invoices and reports.")
    ] = False,
    unconfined: Annotated[
        bool,
        typer.Option("--unconfined", help="Run programs of simulated servers even where this machine confines none."),
    ] = False,
    insecure_registry: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT",
            help="A registry of container images that may be at any address and speaks plain HTTP; repeatable.",
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Run a complete local system until Ctrl-C: database, simulated site, API, worker.

    Set IPUCLOUD_DATABASE_URL and IPUCLOUD_SITE_URL to use a database and a site of your own.
    """
    leave_first_process()
    settings = settings_from_environment()
    overrides: dict[str, object] = {} if port is None else {"port": port}
    try:
        site = SiteChoices(
            None if published is None else Published.read(published), unconfined, tuple(insecure_registry or ())
        )
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--published") from None
    if site.published is not None:
        overrides |= {"host": EVERYWHERE, "allowed_hosts": settings.allowed_hosts | {site.published.address}}
    settings = settings.model_copy(update={"data_dir": (data_dir or settings.data_dir).absolute(), **overrides})
    with exit_on_error(), patient_output():
        try:
            with interruptible() as signals:
                migrate_given_database(settings, _say)
                run_until_stopped(signals, _serve(settings, time_scale, site, sample=sample, as_json=as_json))
        except KeyboardInterrupt:
            _say("stopped; no processes are left.")


async def _serve(settings: Settings, time_scale: float, site: SiteChoices, *, sample: bool, as_json: bool) -> None:
    takes = "" if settings.site_url is not None else f", which takes about {duration(_create_seconds(time_scale))}"
    async with running(settings, time_scale=time_scale, say=_say, sample=sample, site=site) as system:
        _announce(system, await _panel(system), site.published, takes, as_json)
        await asyncio.Event().wait()


def _create_seconds(time_scale: float) -> float:
    """How long the create of a POD16 takes, with the service's own part."""
    hardware = Durations(time_scale).typical_seconds()
    return OWN_SECONDS + expected_seconds(plan_of(CREATE.steps, {}), hardware)


async def _panel(system: System) -> str:
    """A link that signs a browser in, or if none could be made, the page that asks for a token."""
    async with AsyncClient(system.url, system.token) as client:
        try:
            link = await client.run(sessions.sign_in_link())
        except ClientError:
            return f"{system.url}/sign-in"
    return link.url or f"{system.url}/sign-in"


def _announce(system: System, panel: str, published: Published | None, takes: str, as_json: bool) -> None:
    url, port = system.url, urlsplit(system.url).port
    if published is not None:
        url = f"http://{published.address}:{port}"
    facts = {
        "url": url,
        "panel": panel.replace(system.url, url, 1),
        "token": system.token,
        "admin_token": system.admin_token,
        "project": system.project,
        "logs": str(system.logs),
        "env": shlex.quote(str(system.env)),
    }
    sample = system.sample
    if as_json:
        output.write_json({**facts, "sample": None if sample is None else asdict(sample)})
    else:
        terminal = HERE.format(**facts)
        if published is not None:
            where = {"address": published.address, "ports": published, "port": port, "container": socket.gethostname()}
            terminal = IN_CONTAINER.format(**facts, **where)
        typer.echo(TRY.format(**facts, terminal=terminal, takes=takes))
        if sample is not None:
            typer.echo(introduction(sample))


def _say(sentence: str) -> None:
    typer.echo(f"ipucloud: {sentence}", err=True)
