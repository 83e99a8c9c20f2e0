"""`ipucloud api`."""

from __future__ import annotations

import typer

from ipucloud.api.serve import run
from ipucloud.cli.service.telling import settings_from_environment, told

app = typer.Typer()


@app.command("api")
def api() -> None:
    """Serve the REST API until SIGTERM, then finish what is being answered. Settings: IPUCLOUD_* variables."""
    settings = settings_from_environment("database_url")
    with told():
        run(settings)
