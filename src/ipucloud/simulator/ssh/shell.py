"""The shell of a simulated Poplar server: its own few commands, run in this process, never this machine's shell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from ipucloud.simulator.ssh.disk import Disk
from ipucloud.simulator.ssh.language import Command, Step, SyntaxProblem, Word, expand, parse
from ipucloud.simulator.ssh.terminal import ENCODING_ERRORS, Terminal, TextReader

MAX_COMMAND_LENGTH = 64 * 1024


class ShellExit(Exception):
    """The customer asked to leave."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


class CommandProblem(Exception):
    """A command failed; the text is what it says on standard error."""


@dataclass
class Shell:
    """One login: its environment, working directory and last exit status."""

    disk: Disk
    hostname: str
    env: dict[str, str]
    programs: Mapping[str, Program]
    cwd: str = ""
    status: int = 0

    def __post_init__(self) -> None:
        self.cwd = self.cwd or self.disk.home

    @property
    def prompt(self) -> str:
        home = self.disk.home
        here = "~" + self.cwd[len(home) :] if (self.cwd + "/").startswith(home + "/") else self.cwd
        return f"{self.disk.user}@{self.hostname}:{here}$ "

    async def run(self, text: str, terminal: Terminal) -> int:
        """Run a text and answer the exit status of its last command. Raises ShellExit for `exit`."""
        try:
            if len(text) > MAX_COMMAND_LENGTH:
                raise SyntaxProblem(f"the command is longer than {MAX_COMMAND_LENGTH} characters")
            steps = parse(text)
        except SyntaxProblem as problem:
            terminal.err(f"{problem}\n")
            self.status = 2
            return self.status
        for step in steps:
            if self._wanted(step):
                self.status = await self._pipeline(step.pipeline, terminal)
        return self.status

    def _wanted(self, step: Step) -> bool:
        return step.operator == ";" or (step.operator == "&&") == (self.status == 0)

    async def _pipeline(self, pipeline: list[Command], terminal: Terminal) -> int:
        status = 0
        for number, command in enumerate(pipeline):
            if number + 1 == len(pipeline):
                return await self._command(command, terminal)
            passed: list[str] = []
            status = await self._command(command, terminal.with_output(passed.append))
            terminal = replace(terminal, stdin=TextReader("".join(passed)))
        return status

    async def _command(self, command: Command, terminal: Terminal) -> int:
        words = [value for word in command.words if (value := self._value(word)) is not None]
        with ExitStack() as files:
            try:
                terminal = self._redirect(command, terminal, files)
                return await self._program(words, terminal)
            except CommandProblem as problem:
                terminal.err(f"{problem}\n")
            except OSError as error:
                terminal.err(f"{words[0] if words else 'shell'}: {error.strerror or 'input/output error'}\n")
        return 1

    async def _program(self, words: list[str], terminal: Terminal) -> int:
        while words and "=" in words[0] and words[0].split("=", 1)[0].isidentifier():
            name, value = words.pop(0).split("=", 1)
            self.env[name] = value
        if not words:
            return 0
        program = self.programs.get(words[0].removeprefix("/usr/bin/").removeprefix("/bin/"))
        if program is None:
            terminal.err(f"{words[0]}: command not found (`help` lists this simulated server's commands)\n")
            return 127
        return await program(self, words[1:], terminal)

    def _redirect(self, command: Command, terminal: Terminal, files: ExitStack) -> Terminal:
        for operator, word in command.redirects:
            if operator == "2>&1":
                terminal = replace(terminal, err=terminal.out)
                continue
            name = self._value(word) or ""
            if operator == "<":
                source = files.enter_context(self._open(name, "r"))
                terminal = replace(terminal, stdin=TextReader(source.read()))
                continue
            sink = _discard if name == "/dev/null" else self._sink(name, operator, files)
            terminal = replace(
                terminal,
                out=terminal.out if operator.startswith("2") else sink,
                err=sink if operator.startswith(("2", "&")) else terminal.err,
            )
        return terminal

    def _sink(self, name: str, operator: str, files: ExitStack) -> Callable[[str], None]:
        file = files.enter_context(self._open(name, "a" if operator.endswith(">>") else "w"))

        def write(text: str) -> None:
            file.write(text)

        return write

    def _open(self, name: str, mode: str) -> IO[str]:
        try:
            return self.real(name).open(mode, errors=ENCODING_ERRORS, newline="")
        except OSError as error:
            raise CommandProblem(f"{name}: {error.strerror}") from error

    def real(self, path: str) -> Path:
        """Where a path of the customer lies, from the working directory on."""
        return self.disk.real(path, self.cwd)

    def _value(self, word: Word) -> str | None:
        return expand(word, self.env, self.status, self.disk.home)


Program = Callable[[Shell, list[str], Terminal], Awaitable[int]]


def _discard(text: str) -> None:
    """What is written to /dev/null."""
