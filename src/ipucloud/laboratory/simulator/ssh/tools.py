"""The server's own commands, called from within its sandbox: `gc-info`, `vipu` and others run here. A launcher in the
sandbox sends a call to a port of the loopback address, with a token that only programs of this sandbox can read.

A call is a JSON line, `{"token": …, "program": …, "arguments": […], "environment": {…}, "folder": …}`; answers are
JSON lines, each `{"out": text}` or `{"err": text}`, and last `{"exit": status}`. The answer to `ipu-run`, and to `df`
of what is no volume, is instead `{"run": argv, "environment": {…}}`: the launcher becomes this command and leaves it
the connection, whose end says that the last process which had it is gone.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hmac import compare_digest
from typing import Any

import orjson

from ipucloud.laboratory.simulator.ssh.disk_files import ServerFiles
from ipucloud.laboratory.simulator.ssh.ipu_commands import IpuProgram
from ipucloud.laboratory.simulator.ssh.ipu_run import NAME, IpuRun
from ipucloud.laboratory.simulator.ssh.terminal import ENCODING_ERRORS, CommandProblem, Instead, Terminal, Writer

LONGEST_CALL = 1 << 20
MAX_CALLS = 64
MAX_HOLDERS = 512
"""Commands of a server that hold IPUs: no more than it has processes."""
PREFIXES = ("IPUCLOUD_", "IPUOF_", "POPLAR_", "VIPU_")
"""Of the variables that the commands know."""

_LAUNCHER = f"""\
import json, os, signal, socket, sys

signal.signal(signal.SIGPIPE, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.SIG_DFL)
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
try:
    folder = os.getcwd()
except OSError:
    folder = "/"
call = {{
    "program": os.path.basename(sys.argv[0]),
    "arguments": sys.argv[1:],
    "environment": {{name: value for name, value in os.environ.items() if name.startswith({PREFIXES!r})}},
    "folder": folder,
    "process": os.getpid(),
}}
status = 1
with socket.socket() as server:
    try:
        with open(FILE) as file:
            port, call["token"] = file.read().split()
        server.connect(("127.0.0.1", int(port)))
    except OSError as error:
        sys.exit(call["program"] + ": the server does not answer: " + str(error.strerror))
    server.sendall(json.dumps(call).encode() + b"\\n")
    for line in server.makefile("rb"):
        said = json.loads(line)
        if "run" in said:
            os.set_inheritable(server.fileno(), True)
            try:
                os.execvpe(said["run"][0], said["run"], {{**os.environ, **said["environment"]}})
            except OSError as error:
                print(call["program"] + ": " + said["run"][0] + ": " + str(error.strerror), file=sys.stderr)
                sys.exit(127 if isinstance(error, FileNotFoundError) else 126)
        status = said.get("exit", status)
        for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
            stream.buffer.write(said.get(name, "").encode(errors="surrogateescape"))
            stream.flush()
sys.exit(status)
"""


def launcher(python: str, file: str) -> str:
    """The program behind the names of the server's commands; `file` tells it where they are answered."""
    return f"#!{python} -IS\nFILE = {file!r}\n{_LAUNCHER}"


@dataclass(frozen=True)
class _Caller:
    env: Mapping[str, str]
    files: ServerFiles


class Tools:
    """Answers the calls of one sandbox."""

    def __init__(
        self,
        programs: Mapping[str, IpuProgram],
        ipu_run: IpuRun | None,
        files: Callable[[str], ServerFiles],
        token: str,
    ) -> None:
        self._programs = programs
        self._token = token
        self._ipu_run = ipu_run
        self._files = files
        self._calls: set[asyncio.Task[None]] = set()
        self._holders: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self, listener: socket.socket) -> None:
        self._server = await asyncio.start_server(self._accept, sock=listener, limit=LONGEST_CALL)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        calls = self._calls | self._holders
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if len(self._calls) >= MAX_CALLS:
            writer.close()
            return
        call = asyncio.create_task(self._answer(reader, writer))
        self._calls.add(call)
        call.add_done_callback(self._calls.discard)
        call.add_done_callback(self._holders.discard)
        call.add_done_callback(lambda _: writer.close())

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            try:
                call = _read(await reader.readline(), self._token)
            except ValueError:
                await _say(writer, err="ipucloud: the call is too long, or none\n")
                await _say(writer, exit=2)
                return
            if call.program == NAME and self._ipu_run is not None:
                await self._hold(self._ipu_run, call, reader, writer)
            else:
                try:
                    await _say(writer, exit=await self._run(call, writer))
                except Instead as program:
                    await _say(writer, run=program.command, environment={})

    async def _hold(
        self, ipu_run: IpuRun, call: _Call, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Let a command hold IPUs for as long as it has the connection."""
        caller = _Caller(call.environment, self._files(call.folder))
        try:
            attached = await ipu_run.attach(caller, call.arguments, call.process)
        except CommandProblem as problem:
            await _say(writer, err=f"{problem}\n")
            await _say(writer, exit=problem.status)
            return
        task = asyncio.current_task()
        try:
            if task is not None and len(self._holders) < MAX_HOLDERS:
                self._calls.discard(task)
                self._holders.add(task)
            await _say(writer, run=list(attached.command), environment=attached.environment)
            while await reader.read(LONGEST_CALL):  # nothing that it says has a meaning
                pass
        finally:
            attached.leave()

    async def _run(self, call: _Call, writer: asyncio.StreamWriter) -> int:
        terminal = Terminal(_writer(writer, "out"), _writer(writer, "err"))
        caller = _Caller(call.environment, self._files(call.folder))
        program = self._programs.get(call.program)
        try:
            if program is None:
                raise CommandProblem(f"{call.program}: command not found", 127)
            return await program(caller, call.arguments, terminal)
        except CommandProblem as problem:
            await terminal.err(f"{problem}\n")
            return problem.status
        except ConnectionError:
            raise
        except OSError as error:
            await terminal.err(f"{call.program}: {error.strerror or 'input/output error'}\n")
            return 1


@dataclass(frozen=True)
class _Call:
    program: str
    arguments: list[str]
    environment: dict[str, str]
    folder: str
    process: int


def _read(line: bytes, token: str) -> _Call:
    """A call as the customer sends it. Raises ValueError for anything else."""
    said = orjson.loads(line)
    if not isinstance(said, dict) or not compare_digest(str(said.get("token")).encode(), token.encode()):
        raise ValueError
    program, arguments, environment, folder = (
        said.get(name) for name in ("program", "arguments", "environment", "folder")
    )
    if not (isinstance(program, str) and isinstance(folder, str) and folder.startswith("/") and "\0" not in folder):
        raise ValueError
    process = said.get("process", 0)
    if not (isinstance(arguments, list) and isinstance(environment, dict) and isinstance(process, int)):
        raise ValueError
    if not all(isinstance(text, str) for text in (*arguments, *environment.values())):
        raise ValueError
    return _Call(program, arguments, environment, folder, process)


def _writer(writer: asyncio.StreamWriter, stream: str) -> Writer:
    async def write(text: str) -> None:
        await _say(writer, **{stream: text})

    return write


async def _say(writer: asyncio.StreamWriter, **said: Any) -> None:
    text = {name: _plain(value) if isinstance(value, str) else value for name, value in said.items()}
    writer.write(orjson.dumps(text, option=orjson.OPT_APPEND_NEWLINE))
    await writer.drain()


def _plain(text: str) -> str:
    """Without what JSON has no characters for."""
    return text.encode(errors=ENCODING_ERRORS).decode(errors="replace")
