"""`ipucloud vipu` and `vipu-admin`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import typer

from ipucloud.vipu_cli.admin.run import run as administer
from ipucloud.vipu_cli.admin.service import AdminController
from ipucloud.vipu_cli.controller import Channels, Controller
from ipucloud.vipu_cli.files import LocalFiles
from ipucloud.vipu_cli.run import run
from ipucloud.vipu_cli.world import World

VENDOR_OPTIONS: dict[str, Any] = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
"""The options of a command, including --help, are those of the vendor's; one parser reads them everywhere."""


@asynccontextmanager
async def in_process(prog: str) -> AsyncIterator[tuple[World, Channels]]:
    """This process's environment and outputs, and connections that are closed in the end."""
    channels = Channels()
    world = World(
        env=os.environ,
        out=sys.stdout.write,
        err=sys.stderr.write,
        files=LocalFiles(),
        sleep=asyncio.sleep,
        prog=prog,
    )
    try:
        yield world, channels
    finally:
        await channels.close()


app = typer.Typer()


@app.command(context_settings=VENDOR_OPTIONS)
def vipu(context: typer.Context) -> None:
    """List, create, show, reset and remove partitions at a V-IPU controller."""
    raise typer.Exit(asyncio.run(_run(context.args)))


async def _run(args: list[str]) -> int:
    async with in_process("ipucloud vipu") as (world, channels):
        return await run(args, world, partial(Controller, channels=channels))


admin_app = typer.Typer()


@admin_app.command("vipu-admin", context_settings=VENDOR_OPTIONS)
def vipu_admin(context: typer.Context) -> None:
    """Administer a V-IPU controller: agents, clusters, allocations, users, partitions."""
    raise typer.Exit(asyncio.run(_administer(context.args)))


async def _administer(args: list[str]) -> int:
    async with in_process("ipucloud vipu-admin") as (world, channels):
        return await administer(args, world, partial(AdminController, channels=channels))
