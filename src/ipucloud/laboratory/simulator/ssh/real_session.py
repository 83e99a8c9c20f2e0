"""One SSH session on a server with a real userland: a shell, a command, or the server's files."""

from __future__ import annotations

import asyncio
import fcntl
import os
import re
import signal
import struct
import termios
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

import asyncssh

from ipucloud.laboratory.simulator.sandbox.sandbox import Running, Sandbox, SandboxProblem
from ipucloud.laboratory.simulator.ssh.streams import Sink, Source

STDERR = asyncssh.EXTENDED_DATA_STDERR
FAILED = 255
_ACCEPTED = re.compile(r"LANG|LC_[A-Z]+|COLORTERM|TZ")
"""The variables that a client may set: those that servers of ordinary distributions take, and two as harmless."""


class Place(Protocol):
    """Where a session takes place."""

    async def sandbox(self) -> Sandbox:
        """The server's sandbox, started if it is not yet. Raises SandboxProblem."""

    async def environment(self) -> dict[str, str]:
        """What a login finds in its environment."""


@dataclass
class _Terminal:
    kind: str
    rows: int
    columns: int

    @property
    def size(self) -> tuple[int, int]:
        return self.rows or 24, self.columns or 80


class RealSession(asyncssh.SSHServerSession[bytes]):
    """Joins a channel with a program in the sandbox. The channel carries bytes, and no line editor."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._terminal: _Terminal | None = None
        self._sink: Sink | None = None
        self._sources: set[Source] = set()
        self._drained = asyncio.Event()
        self._running: Running | None = None
        self._early: list[bytes] = []
        self._ended = self._paused = False
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, chan: asyncssh.SSHServerChannel[bytes]) -> None:
        self._channel = chan

    def connection_lost(self, exc: Exception | None) -> None:
        """A program that still runs is hung up."""
        if self._task is not None:
            self._task.cancel()

    def pty_requested(
        self, term_type: str, term_size: tuple[int, int, int, int], term_modes: Mapping[int, int]
    ) -> bool:
        self._terminal = _Terminal(term_type, term_size[1], term_size[0])
        return True

    def shell_requested(self) -> bool:
        return True

    def exec_requested(self, command: str) -> bool:
        return True

    def subsystem_requested(self, subsystem: str) -> bool:
        return subsystem == "sftp"

    def session_started(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._serve())

    def data_received(self, data: bytes, datatype: asyncssh.DataType) -> None:
        if self._sink is not None:
            self._sink.write(data)
        else:
            self._early.append(data)

    def eof_received(self) -> bool:
        self._ended = True
        # What closes a terminal's master takes the program's terminal away; its input merely ends.
        if self._sink is not None and self._terminal is None:
            self._sink.finish()
        return True

    def pause_writing(self) -> None:
        self._paused = True
        for source in self._sources:
            source.pause()

    def resume_writing(self) -> None:
        self._paused = False
        for source in self._sources:
            source.resume()

    def signal_received(self, signal_name: str) -> None:
        number = getattr(signal, f"SIG{signal_name}", None)
        if self._running is not None and isinstance(number, signal.Signals):
            self._running.signal(number)

    def break_received(self, msec: int) -> bool:
        self.signal_received("INT")
        return True

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        if self._terminal is not None:
            self._terminal.rows, self._terminal.columns = height, width
            if self._running is not None and self._running.terminal is not None:
                _set_size(self._running.terminal, self._terminal)

    async def _serve(self) -> None:
        try:
            status = await self._run()
        except SandboxProblem as problem:
            self._channel.write(f"ipucloud: {problem}\n".encode(), STDERR)
            self._channel.exit(FAILED)
        except OSError as error:
            self._channel.write(f"ipucloud: {error.strerror}\n".encode(), STDERR)
            self._channel.exit(FAILED)
        else:
            if status >= 0:
                self._channel.exit(status)
            else:
                self._channel.exit_with_signal(signal.Signals(-status).name.removeprefix("SIG"))
        finally:
            for source in list(self._sources):
                source.close()
            if self._sink is not None:
                self._sink.close()
            if self._running is not None:
                self._running.close()

    async def _run(self) -> int:
        """Run what the client asks for; answers its status, negative for a signal, once all it wrote is sent."""
        self._channel.pause_reading()  # until there is something that reads
        sandbox = await self._place.sandbox()
        if self._channel.get_subsystem() == "sftp":
            self._running = await self._with_pipes(sandbox.serve_sftp)
        else:
            environment = await self._environment()
            command = self._channel.get_command()
            argv = list(sandbox.login_shell) if command is None else ["bash", "-c", command]
            if self._terminal is not None:
                self._running = await self._at_terminal(self._terminal, sandbox, argv, environment)
            else:
                self._running = await self._with_pipes(
                    lambda streams: sandbox.run(argv, streams, environment, login=True)
                )
        status = await self._running.ended()
        await self._drained.wait()
        return status

    async def _environment(self) -> dict[str, str]:
        environment = await self._place.environment()
        client, server = (self._channel.get_extra_info(name) or ("", 0) for name in ("peername", "sockname"))
        environment["SSH_CLIENT"] = f"{client[0]} {client[1]} {server[1]}"
        environment["SSH_CONNECTION"] = f"{client[0]} {client[1]} {server[0]} {server[1]}"
        if self._terminal is not None:
            environment["TERM"] = self._terminal.kind or "dumb"
        sent = self._channel.get_environment()
        return environment | {name: value for name, value in sent.items() if _ACCEPTED.fullmatch(name)}

    async def _at_terminal(
        self, terminal: _Terminal, sandbox: Sandbox, argv: list[str], environment: dict[str, str]
    ) -> Running:
        running = await sandbox.run_at_terminal(argv, terminal.size, environment)
        if running.terminal is None:
            raise SandboxProblem("no terminal")
        _set_size(running.terminal, terminal)  # it may have changed meanwhile
        self._connect(os.dup(running.terminal), {running.terminal: None})
        return running

    async def _with_pipes(self, start: Callable[[list[int]], Awaitable[Running]]) -> Running:
        """Start a program between three pipes."""
        inside, outside = [], []
        try:
            for number in range(3):
                reading, writing = os.pipe2(os.O_CLOEXEC)
                inside.append(writing if number else reading)
                outside.append(reading if number else writing)
            running = await start(inside)
        except BaseException:
            for descriptor in outside:
                os.close(descriptor)
            raise
        finally:
            for descriptor in inside:
                os.close(descriptor)
        self._connect(outside[0], {outside[1]: None, outside[2]: STDERR})
        return running

    def _connect(self, target: int, sources: Mapping[int, int | None]) -> None:
        self._sink = Sink(target, self._channel.pause_reading, self._channel.resume_reading)
        for descriptor, kind in sources.items():
            self._add_source(descriptor, kind)
        for data in self._early:
            self._sink.write(data)
        self._early.clear()
        self._channel.resume_reading()
        if self._ended:
            self.eof_received()

    def _add_source(self, descriptor: int, kind: int | None) -> None:
        def ended() -> None:
            self._sources.discard(source)
            if self._running is not None:
                self._running.terminal = None
            if not self._sources:
                self._drained.set()

        source = Source(descriptor, lambda data: self._channel.write(data, kind), ended)
        self._sources.add(source)
        if self._paused:
            source.pause()


def _set_size(terminal: int, window: _Terminal) -> None:
    with suppress(OSError):  # it is gone already
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *window.size, 0, 0))
