"""cloud-init of a server: carries out its user data at the first boot, in its sandbox, and tells how that went.

What was begun is written down outside of the disk before it begins, so that nothing runs twice.
"""

from __future__ import annotations

import asyncio
import os
import shlex
import signal
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import orjson
from pydantic import TypeAdapter

from ipucloud.laboratory.simulator.sandbox.sandbox import Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.ssh.ipu_commands import Caller
from ipucloud.laboratory.simulator.ssh.terminal import CommandProblem, Terminal
from ipucloud.laboratory.simulator.store import read_document, replace_file
from ipucloud.wire.site import CloudInit
from ipucloud.wire.user_data import Command, UserData, WrittenFile

SECONDS = 600.0
"""How long all of it may take."""
LOG = "/var/log/cloud-init-output.log"
INTERRUPTED = "the server went down before it was done"
_SCRIPTS = "/var/lib/cloud/instance/scripts"
_WRITE = 'mkdir -p -- "$(dirname -- "$1")" && {{ cat {} "$1"; }} && chmod -- "$2" "$1"'
_LOGGED = 'mkdir -p "$(dirname "$1")" && exec >> "$1" 2>&1 < /dev/null; cd /; shift; exec "$@"'
_PROGRAM = 'mkdir -p "$(dirname "$1")" && cat > "$1" && chmod 700 "$1"'
_USAGE = "usage: cloud-init status [--long] [--wait] [--format json]"


@dataclass
class _Record:
    """What is kept of it. `status`: as in CloudInit."""

    status: str
    errors: list[str] = field(default_factory=list)
    updated: str = ""


_RECORD = TypeAdapter(_Record)


class FirstBoot:
    """The user data of one server; `file` keeps how it went."""

    def __init__(self, user_data: UserData, file: Path) -> None:
        self._user_data = user_data
        self._file = file
        self._done = asyncio.Event()
        stored = read_document(file)
        self._record = _Record("done") if stored is None else _RECORD.validate_json(stored)
        self._begun = stored is not None
        if self._record.status == "running":
            self._finish([INTERRUPTED])
        elif self._begun or not user_data.does_something:
            self._done.set()

    @property
    def due(self) -> bool:
        """Whether it is still to be carried out."""
        return self._user_data.does_something and not self._begun

    @property
    def report(self) -> CloudInit | None:
        """How it stands; None for a server without anything to do."""
        if not self._user_data.does_something:
            return None
        return CloudInit(status=self._record.status, errors=self._record.errors)

    @property
    def summary(self) -> str:
        """How it stands, in a line."""
        return "; ".join([self._record.status, *self._record.errors])

    def begin(self) -> None:
        """Note that it begins."""
        self._begun = True
        self._keep(_Record("running"))

    async def carry_out(self, sandbox: Callable[[], Awaitable[Sandbox]]) -> None:
        """Carry it out in the sandbox that `sandbox` starts."""
        errors: list[str] = []
        try:
            async with asyncio.timeout(SECONDS):
                await self._all(await sandbox(), errors)
        except TimeoutError:
            errors.append(f"it took longer than {SECONDS:g} seconds")
        except (SandboxProblem, OSError) as problem:
            errors.append(f"user data was not carried out: {problem}")
        self._finish(errors)

    async def program(self, caller: Caller, args: list[str], terminal: Terminal) -> int:
        """The command `cloud-init`."""
        options = {"--long", "-l", "--wait", "-w", "--format", "json", "--format=json"}
        if args[:1] != ["status"] or not set(args[1:]) <= options:
            raise CommandProblem(_USAGE, 2)
        if set(args) & {"--wait", "-w"}:
            await self._done.wait()
        record = self._record
        if any("json" in arg for arg in args):
            document = {"status": record.status, "errors": record.errors, "last_update": record.updated}
            await terminal.out(orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n")
        else:
            await terminal.out(f"status: {record.status}\n")
        if set(args) & {"--long", "-l"}:
            await terminal.out(f"last_update: {record.updated}\ndetail: {self._detail()}\n")
            listed = "".join(f"\n    - {error}" for error in record.errors) or " []"
            await terminal.out(f"errors:{listed}\n")
        return 1 if record.status == "error" else 0

    def _detail(self) -> str:
        if not self._user_data.does_something:
            return "no user data"
        if self._user_data.skipped:
            return f"{', '.join(self._user_data.skipped)}: skipped, the programs of this server cannot be changed"
        return "user data"

    async def _all(self, sandbox: Sandbox, errors: list[str]) -> None:
        user_data = self._user_data
        if user_data.skipped:
            await _run(sandbox, ["echo", f"cloud-init: {self._detail()}"])
        await self._part(sandbox, "bootcmd", user_data.boot_commands, errors)
        failed = [file.path for file in user_data.files if await _write(sandbox, file)]
        errors += [f"write_files: {path} could not be written" for path in failed]
        await self._part(sandbox, "runcmd", user_data.run_commands, errors)
        if user_data.script is not None:
            await _script(sandbox, "part-001", user_data.script, errors)

    async def _part(self, sandbox: Sandbox, name: str, commands: Sequence[Command], errors: list[str]) -> None:
        """All commands are one script of the shell, as in cloud-init: the last one's status is its own."""
        if commands:
            lines = [line if isinstance(line, str) else shlex.join(line) for line in commands]
            await _script(sandbox, name, "\n".join(["#!/bin/sh", *lines, ""]), errors)

    def _finish(self, errors: list[str]) -> None:
        self._keep(_Record("error" if errors else "done", errors))
        self._done.set()

    def _keep(self, record: _Record) -> None:
        record.updated = datetime.now(UTC).strftime("%a, %d %b %Y %H:%M:%S +0000")
        self._record = record
        with suppress(FileNotFoundError):  # the server was wiped meanwhile
            replace_file(self._file, orjson.dumps(record), fsync=False)


async def _script(sandbox: Sandbox, name: str, text: str, errors: list[str]) -> None:
    place = sandbox.place(f"{_SCRIPTS}/{name}")
    status = await _run(sandbox, ["sh", "-c", _PROGRAM, "cloud-init", place], text.encode(), logged=False)
    status = status or await _run(sandbox, [place])
    if status:
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        errors.append(f"{name} {how}; its output is in {LOG}")


async def _write(sandbox: Sandbox, file: WrittenFile) -> int:
    argv = [
        "sh",
        "-c",
        _WRITE.format(">>" if file.append else ">"),
        "cloud-init",
        sandbox.place(file.path),
        f"{file.mode:o}",
    ]
    return await _run(sandbox, argv, file.content, logged=False)


async def _run(sandbox: Sandbox, argv: Sequence[str], content: bytes = b"", *, logged: bool = True) -> int:
    """Run a program to its end, with `content` as its input; answers its status. `logged`: its output is kept."""
    command = ["sh", "-c", _LOGGED, "cloud-init", sandbox.place(LOG), *argv] if logged else list(argv)
    source, target = os.pipe2(os.O_CLOEXEC)
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    try:
        running = await sandbox.run(command, [source, nowhere, nowhere])
    except BaseException:
        os.close(target)
        raise
    finally:
        os.close(source)
        os.close(nowhere)
    try:
        await asyncio.to_thread(_fill, target, content)
        return await running.ended()
    finally:
        running.close()


def _fill(target: int, content: bytes) -> None:
    with suppress(BrokenPipeError), os.fdopen(target, "wb") as file:
        file.write(content)
