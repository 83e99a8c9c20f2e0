"""`ipucloud vipu`."""

from __future__ import annotations

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

import typer

from ipucloud.vipu_cli.controller import Channels, Controller
from ipucloud.vipu_cli.ipuof import FOLDER
from ipucloud.vipu_cli.run import World, run

app = typer.Typer()


@app.command(
    # Its options, including --help, are those of the vendor's command; both share one parser.
    context_settings={"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []},
)
def vipu(context: typer.Context) -> None:
    """List, create, show, reset and remove partitions at a V-IPU controller."""
    raise typer.Exit(asyncio.run(_run(context.args)))


async def _run(args: list[str]) -> int:
    channels = Channels()
    world = World(
        env=os.environ,
        connect=partial(Controller, channels=channels),
        out=sys.stdout.write,
        err=sys.stderr.write,
        keep=_keep,
        sleep=asyncio.sleep,
        prog="ipucloud vipu",
    )
    try:
        return await run(args, world)
    finally:
        await channels.close()


def _keep(name: str, content: bytes) -> str:
    folder = Path(FOLDER).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(content)
    return f"{FOLDER}/{name}"
