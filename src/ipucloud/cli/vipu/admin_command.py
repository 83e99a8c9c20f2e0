"""`ipucloud vipu-admin`."""

from __future__ import annotations

import asyncio
from functools import partial

import typer

from ipucloud.cli.vipu.process import VENDOR_OPTIONS, in_process
from ipucloud.vipu_cli.admin.run import run
from ipucloud.vipu_cli.admin.service import AdminController

app = typer.Typer()


@app.command("vipu-admin", context_settings=VENDOR_OPTIONS)
def vipu_admin(context: typer.Context) -> None:
    """Administer a V-IPU controller: agents, clusters, allocations, users, partitions."""
    raise typer.Exit(asyncio.run(_run(context.args)))


async def _run(args: list[str]) -> int:
    async with in_process("ipucloud vipu-admin") as (world, channels):
        return await run(args, world, partial(AdminController, channels=channels))
