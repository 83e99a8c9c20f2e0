"""`ipucloud vipu`."""

from __future__ import annotations

import asyncio
from functools import partial

import typer

from ipucloud.cli.vipu.process import VENDOR_OPTIONS, in_process
from ipucloud.vipu_cli.controller import Controller
from ipucloud.vipu_cli.run import run

app = typer.Typer()


@app.command(context_settings=VENDOR_OPTIONS)
def vipu(context: typer.Context) -> None:
    """List, create, show, reset and remove partitions at a V-IPU controller."""
    raise typer.Exit(asyncio.run(_run(context.args)))


async def _run(args: list[str]) -> int:
    async with in_process("ipucloud vipu") as (world, channels):
        return await run(args, world, partial(Controller, channels=channels))
