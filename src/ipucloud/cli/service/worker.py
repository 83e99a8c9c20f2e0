"""`ipucloud worker`."""

from __future__ import annotations

import typer

from ipucloud.cli.service.telling import settings_from_environment, told
from ipucloud.worker.main import run

app = typer.Typer()


@app.command("worker")
def worker() -> None:
    """Carry out what the API accepted until SIGTERM, then hand back what is open. Settings: IPUCLOUD_* variables."""
    settings = settings_from_environment("database_url", "site_url")
    with told():
        run(settings)
