"""One SSH session: a single command, the lines of a script, or a conversation at a terminal."""

from __future__ import annotations

import asyncssh

from ipucloud.simulator.ssh.shell import Shell, ShellExit
from ipucloud.simulator.ssh.terminal import Terminal

GREETING = "Simulated Poplar server {name}. `help` lists the commands.\n"


class Session:
    """Connects a process of the SSH library with a shell."""

    def __init__(self, process: asyncssh.SSHServerProcess[str], shell: Shell) -> None:
        self._process = process
        self._shell = shell
        self._terminal = Terminal(process.stdin, process.stdout.write, process.stderr.write)

    async def run(self) -> None:
        """Serve the session to its end and send the exit status of its last command."""
        term = self._process.term_type
        if term is not None:
            self._shell.env["TERM"] = term
        try:
            if self._process.command is not None:
                status = await self._shell.run(self._process.command, self._terminal)
            elif term is None:
                status = await self._script()
            else:
                status = await self._conversation()
        except ShellExit as leave:
            status = leave.status
        except (asyncssh.BreakReceived, asyncssh.SignalReceived):
            status = 130
        except (BrokenPipeError, ConnectionError):
            return
        self._process.exit(status)

    async def _script(self) -> int:
        while line := await self._process.stdin.readline():
            await self._shell.run(line, self._terminal)
        return self._shell.status

    async def _conversation(self) -> int:
        self._terminal.out(GREETING.format(name=self._shell.hostname))
        while True:
            self._terminal.out(self._shell.prompt)
            line = await self._line()
            if line == "":
                self._terminal.out("logout\n")
                return self._shell.status
            try:
                await self._shell.run(line, self._terminal)
            except (asyncssh.BreakReceived, asyncssh.SignalReceived):
                self._terminal.out("^C\n")
                self._shell.status = 130

    async def _line(self) -> str:
        """The next line; a line feed alone for one that was broken off, nothing at the end of input."""
        while True:
            try:
                return await self._process.stdin.readline()
            except asyncssh.TerminalSizeChanged:
                continue
            except (asyncssh.BreakReceived, asyncssh.SignalReceived):
                if isinstance(self._process.channel, asyncssh.SSHLineEditorChannel):
                    self._process.channel.clear_input()
                self._terminal.out("^C\n")
                return "\n"
