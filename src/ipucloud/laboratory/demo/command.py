"""`ipucloud demo`."""

from __future__ import annotations

import os
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ipucloud.cli import output
from ipucloud.cli.examples import with_examples
from ipucloud.cli.exits import Exit
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment
from ipucloud.cli.session import Json
from ipucloud.config import Settings
from ipucloud.laboratory.demo.customer import Customer
from ipucloud.laboratory.demo.journey import Report, journey
from ipucloud.laboratory.up.interrupts import interruptible, run_until_stopped
from ipucloud.laboratory.up.programs import SiteChoices
from ipucloud.laboratory.up.system import running
from ipucloud.process.first import leave_first_process
from ipucloud.process.signals import StopSignals

app = typer.Typer()

TIME_SCALE = 45.0
ITS_OWN = dict.fromkeys(
    ("database_url", "migration_database_url", "site_url", "site_token", "site_token_file", "catalogue")
)
"""The demo starts its own system, regardless of the environment."""


@app.command("demo", cls=with_examples("", "--json"))
def demo(
    time_scale: Annotated[
        float, typer.Option(min=0.0, help="Speed of the simulated hardware relative to real hardware; 1: 15 minutes.")
    ] = TIME_SCALE,
    as_json: Json = False,
) -> None:
    """Run a customer's workflow: create a cluster, log in, pay for the minutes, delete it.

    It uses a temporary system with simulated hardware, and leaves nothing behind. Exit status 1 if a check fails.
    """
    leave_first_process()
    began = time.monotonic()
    try:
        with (
            exit_on_error(),
            interruptible() as signals,
            tempfile.TemporaryDirectory(prefix="ipucloud-demo-") as folder,
        ):
            report = _in(Path(folder), signals, time_scale, as_json)
    except KeyboardInterrupt:
        _say("stopped; no processes are left.", as_json=False)
        raise typer.Exit(Exit.INTERRUPTED) from None
    report.seconds = round(time.monotonic() - began, 1)
    if as_json:
        output.write_json(report.document())
    else:
        output.write_table(("", "WHAT", "SEEN"), report.rows())
        typer.echo(f"\n{report.sentence()}")
    raise typer.Exit(Exit.OK if report.ok else Exit.FAILED)


def _in(folder: Path, signals: StopSignals, time_scale: float, quiet: bool) -> Report:
    if os.geteuid() == 0:
        folder.chmod(0o711)  # servers have users of their own, who have to get to their disks
    settings = settings_from_environment().model_copy(update={**ITS_OWN, "data_dir": folder / "data", "port": 0})
    return run_until_stopped(signals, _show(settings, folder / "customer", time_scale, quiet))


async def _show(settings: Settings, folder: Path, time_scale: float, quiet: bool) -> Report:
    # Its one customer is this user: where programs cannot be confined, they go on without.
    say = partial(_say, as_json=quiet)
    async with running(settings, time_scale=time_scale, say=say, site=SiteChoices(unconfined=True)) as system:
        _say(f"The system is running at {system.url}\n", quiet)
        return await journey(Customer(system, folder, quiet=quiet))


def _say(sentence: str, as_json: bool) -> None:
    if not as_json:
        typer.echo(f"ipucloud: {sentence}", err=True)
