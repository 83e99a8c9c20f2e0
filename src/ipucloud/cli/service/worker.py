"""`ipucloud worker`."""

from __future__ import annotations

import typer

from ipucloud import parts
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment, stop
from ipucloud.worker.main import run

app = typer.Typer()


@app.command("worker", cls=with_examples())
def worker() -> None:
    """Run accepted operations until SIGTERM, then release open work items. Settings: IPUCLOUD_* variables."""
    settings = settings_from_environment("database_url", "site_url")
    for unmet in parts.unmet(settings):
        stop(unmet)
    with exit_on_error():
        run(settings)
