"""What a V-IPU command has around it in a process of its own."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from ipucloud.vipu_cli.controller import Channels
from ipucloud.vipu_cli.files import LocalFiles
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
