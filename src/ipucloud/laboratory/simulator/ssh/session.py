"""One SSH session: a single command, the lines of a script, or a conversation at a terminal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import cast

import asyncssh

from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.sftp import DiskSftp
from ipucloud.laboratory.simulator.ssh.shell import Shell, ShellExit
from ipucloud.laboratory.simulator.ssh.terminal import CHUNK, Terminal, Writer

GREETING = """\
Simulated Poplar server {name}, with a built-in shell instead of programs: this machine does not confine any
({problem}).
`help` lists the commands.
"""
KILLED = 137


class Login(asyncssh.SSHServerProcess[str]):
    """What a client of a server has opened: a shell, a command, or a transfer of files."""

    def __init__(self, disk: Disk, serve: Callable[[Login], Awaitable[None]]) -> None:
        super().__init__(
            lambda _: serve(self),
            lambda channel: DiskSftp(cast("asyncssh.SSHServerChannel[bytes]", channel), disk),
            sftp_version=3,
            allow_scp=True,
        )

    def terminal_size_changed(self, width: int, height: int, pixwidth: int, pixheight: int) -> None:
        """No program here draws on the whole terminal."""


class Session:
    """Connects a login with a shell. A command that takes longer than `seconds` is killed.

    `problem`: why there is this shell, and no real one.
    """

    def __init__(self, login: Login, shell: Shell, seconds: float, problem: str) -> None:
        self._problem = problem
        self._login = login
        self._shell = shell
        self._seconds = seconds
        err = login.stderr if login.term_type is None else login.stdout  # a terminal has both
        self._terminal = Terminal(login.stdin, self._writer(login.stdout), self._writer(err))

    async def run(self) -> None:
        """Serve the session to its end and send the exit status of its last command."""
        term = self._login.term_type
        if term is not None:
            self._shell.env["TERM"] = term
        try:
            if self._login.command is not None:
                status = await self._run(self._login.command)
            elif term is None:
                status = await self._script()
            else:
                status = await self._conversation()
        except ShellExit as leave:
            status = leave.status
        except (asyncssh.BreakReceived, asyncssh.SignalReceived):
            status = 130
        except ConnectionError:
            return
        self._login.exit(status)

    async def _run(self, text: str) -> int:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._shell.run(text, self._terminal)
        except TimeoutError:
            await self._terminal.err("Killed\n")
            self._shell.status = KILLED
            return KILLED

    async def _script(self) -> int:
        stdin = self._login.stdin
        while line := await stdin.readline():
            if not line.endswith("\n") and not stdin.at_eof():
                await self._terminal.err("bash: the line is too long\n")
                return 2
            await self._run(line)
        return self._shell.status

    async def _conversation(self) -> int:
        await self._terminal.out(GREETING.format(name=self._shell.hostname, problem=self._problem))
        while True:
            await self._terminal.out(self._shell.prompt)
            line = await self._line()
            if line == "":
                await self._terminal.out("logout\n")
                return self._shell.status
            try:
                await self._run(line)
            except (asyncssh.BreakReceived, asyncssh.SignalReceived):
                await self._terminal.out("^C\n")
                self._shell.status = 130

    async def _line(self) -> str:
        """The next line; a line feed alone for one that was broken off, nothing at the end of input."""
        try:
            return await self._login.stdin.readline()
        except (asyncssh.BreakReceived, asyncssh.SignalReceived):
            if isinstance(self._login.channel, asyncssh.SSHLineEditorChannel):
                self._login.channel.clear_input()
            await self._terminal.out("^C\n")
            return "\n"

    def _writer(self, stream: asyncssh.SSHWriter[str]) -> Writer:
        async def write(text: str) -> None:
            for begin in range(0, len(text), CHUNK):
                stream.write(text[begin : begin + CHUNK])
                await asyncio.sleep(0)
                await stream.drain()

        return write
