"""`ipucloud clusters`: the group of all its commands."""

from __future__ import annotations

import typer

from ipucloud.cli.commands import (
    cluster_access,
    cluster_changes,
    cluster_console,
    cluster_create,
    cluster_faults,
    cluster_files,
    cluster_resize,
    cluster_schedules,
    clusters,
)

app = typer.Typer(no_args_is_help=True)
for part in (
    cluster_create,
    clusters,
    cluster_access,
    cluster_changes,
    cluster_resize,
    cluster_schedules,
    cluster_faults,
    cluster_files,
    cluster_console,
):
    app.add_typer(part.app)
