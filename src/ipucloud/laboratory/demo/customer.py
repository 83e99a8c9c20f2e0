"""A customer who runs `ipucloud` commands."""

from __future__ import annotations

import asyncio
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from ipucloud.laboratory.keeper.child import start_bound
from ipucloud.laboratory.keeper.finishing import finished
from ipucloud.laboratory.up.system import System

COMMAND_SECONDS = 300.0


class Customer:
    """Works in `folder`: settings, keys and files. `quiet`: its commands are not shown."""

    def __init__(self, system: System, folder: Path, *, quiet: bool) -> None:
        self._system = system
        self._quiet = quiet
        self.folder = folder
        self.token = system.token
        folder.mkdir(mode=0o700)

    async def asks(self, *command: str) -> Any:  # Any: the command's JSON document
        """Run `ipucloud <command> --json`; returns its output. Raises Refused."""
        return json.loads(await self.types(*command, "--json"))

    async def types(self, *command: str) -> str:
        """Run `ipucloud <command>`; returns its output. Raises Refused."""
        if not self._quiet:
            sys.stderr.write(f"$ ipucloud {shlex.join(command)}\n")
        environment = {
            "IPUCLOUD_URL": self._system.url,
            "IPUCLOUD_TOKEN": self.token,
            "IPUCLOUD_PROJECT": self._system.project,
            "IPUCLOUD_CONFIG_DIR": str(self.folder),
        }
        pipe = asyncio.subprocess.PIPE
        process = await start_bound(
            "ipucloud.cli.main", *command, environment=environment, out=pipe, err=pipe if self._quiet else None
        )
        return await finished(process, f"ipucloud {shlex.join(command)}", COMMAND_SECONDS)
