"""`ipucloud api`."""

from __future__ import annotations

import typer

from ipucloud.api.serve import run
from ipucloud.cli.examples import with_examples
from ipucloud.cli.service.failures import exit_on_error, settings_from_environment

app = typer.Typer()


@app.command("api", cls=with_examples())
def api() -> None:
    """Serve the REST API until SIGTERM, then finish open requests. Settings: IPUCLOUD_* variables."""
    settings = settings_from_environment("database_url")
    with exit_on_error():
        run(settings)
