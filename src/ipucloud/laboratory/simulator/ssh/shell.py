"""The shell of a simulated Poplar server: its own few commands, run in this process, never this machine's shell."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.disk_files import DiskFiles
from ipucloud.laboratory.simulator.ssh.language import Command, Step, SyntaxProblem, expand, parse
from ipucloud.laboratory.simulator.ssh.terminal import (
    ENCODING_ERRORS,
    MEMORY,
    CommandProblem,
    Pipe,
    Terminal,
    TextReader,
    Writer,
)

MAX_SHELLS = 8
"""Shells within each other."""


class ShellExit(Exception):
    """The shell ends, because the customer asks to leave."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


@dataclass
class Shell:
    """One login: its environment, working directory and last exit status. `depth` counts the shells around it."""

    disk: Disk
    hostname: str
    env: dict[str, str]
    programs: Mapping[str, Program]
    cwd: str = ""
    status: int = 0
    depth: int = 0

    def __post_init__(self) -> None:
        self.cwd = self.cwd or self.disk.home

    @property
    def files(self) -> DiskFiles:
        """The disk's files, from the working directory on."""
        return DiskFiles(self.disk, self.cwd)

    @property
    def prompt(self) -> str:
        home = self.disk.home
        here = "~" + self.cwd[len(home) :] if (self.cwd + "/").startswith(home + "/") else self.cwd
        return f"{self.disk.user}@{self.hostname}:{here}$ "

    def inner(self) -> Shell:
        """A shell that is started within this one."""
        if self.depth == MAX_SHELLS:
            raise CommandProblem("fork: retry: Resource temporarily unavailable", 254)
        return replace(self, env=dict(self.env), depth=self.depth + 1)

    async def run(self, text: str, terminal: Terminal) -> int:
        """Run a text and answer the exit status of its last command. Raises ShellExit for `exit`."""
        text = text.replace("\0", "")
        try:
            steps = list(parse(text))  # nothing of a text runs unless all of it can be read
        except SyntaxProblem as problem:
            await terminal.err(f"{problem}\n")
            self.status = 2
            return self.status
        for step in steps:
            await asyncio.sleep(0)
            if self._wanted(step):
                self.status = await self._pipeline(step.pipeline, terminal)
        return self.status

    def real(self, path: str) -> Path:
        """Where a path of the customer lies, from the working directory on."""
        return self.disk.real(path, self.cwd)

    @contextmanager
    def reading(self, name: str, terminal: Terminal) -> Iterator[Terminal]:
        """The terminal with a file for standard input; as it is for the name `-`."""
        if name == "-":
            yield terminal
            return
        try:
            file = self.real(name).open(errors=ENCODING_ERRORS, newline="")
        except OSError as error:
            raise CommandProblem(f"{name}: {error.strerror}") from error
        with file:
            yield replace(terminal, stdin=TextReader(file))

    def _wanted(self, step: Step) -> bool:
        return step.operator == ";" or (step.operator == "&&") == (self.status == 0)

    async def _pipeline(self, pipeline: list[Command], terminal: Terminal) -> int:
        *before, last = pipeline
        for command in before:
            pipe = Pipe()
            await self._command(command, replace(terminal, out=pipe.write))
            pipe.turn()
            terminal = replace(terminal, stdin=pipe)
        return await self._command(last, terminal)

    async def _command(self, command: Command, terminal: Terminal) -> int:
        await asyncio.sleep(0)
        name = "bash"
        with ExitStack() as files:
            try:
                terminal = self._redirect(command, terminal, files)
                words = self._values(command.words)
                name = words[0] if words else name
                return await self._program(words, terminal)
            except CommandProblem as problem:
                await terminal.err(f"{problem}\n")
                return problem.status
            except ConnectionError:
                raise
            except OSError as error:
                await terminal.err(f"{name}: {error.strerror or 'input/output error'}\n")
        return 1

    async def _program(self, words: list[str], terminal: Terminal) -> int:
        assigned = {}
        while words and "=" in words[0] and words[0].split("=", 1)[0].isidentifier():
            name, value = words.pop(0).split("=", 1)
            assigned[name] = value
        if not words:
            self.env |= assigned
            return 0
        program = self.programs.get(words[0].removeprefix("/usr/bin/").removeprefix("/bin/"))
        if program is None:
            problem = f"{words[0]}: command not found (`help` lists this simulated server's commands)"
            raise CommandProblem(problem, 127)
        if not assigned:
            return await program(self, words[1:], terminal)
        with self._set(assigned):
            return await program(self, words[1:], terminal)

    @contextmanager
    def _set(self, assigned: Mapping[str, str]) -> Iterator[None]:
        """Variables of one command: `NAME=value command`."""
        before = {name: self.env.get(name) for name in assigned}
        self.env |= assigned
        try:
            yield
        finally:
            for name, value in before.items():
                if value is None:
                    self.env.pop(name, None)
                else:
                    self.env[name] = value

    def _redirect(self, command: Command, terminal: Terminal, files: ExitStack) -> Terminal:
        for operator, word in command.redirects:
            if operator == "2>&1":
                terminal = replace(terminal, err=terminal.out)
                continue
            name = "".join(self._values([word]))
            if operator == "<":
                terminal = files.enter_context(self.reading(name, terminal))
                continue
            sink = _discard if name == "/dev/null" else self._sink(name, operator, files)
            terminal = replace(
                terminal,
                out=terminal.out if operator.startswith("2") else sink,
                err=sink if operator.startswith(("2", "&")) else terminal.err,
            )
        return terminal

    def _sink(self, name: str, operator: str, files: ExitStack) -> Writer:
        try:
            file = files.enter_context(self.disk.open(self.real(name), "a" if operator.endswith(">>") else "w"))
        except OSError as error:
            raise CommandProblem(f"bash: {name}: {error.strerror}") from error

        async def write(text: str) -> None:
            await asyncio.sleep(0)
            self.disk.write(file, text.encode(errors=ENCODING_ERRORS))

        return write

    def _values(self, words: Iterable[str]) -> list[str]:
        total = 0

        def variable(name: str) -> str:
            nonlocal total
            value = str(self.status) if name == "?" else self.env.get(name, "")
            total += len(value)
            if total > MEMORY:
                raise CommandProblem(f"bash: xrealloc: cannot allocate {total} bytes", 2)
            return value

        values = (expand(word, variable, self.disk.home) for word in words)
        return [value for value in values if value is not None]


Program = Callable[[Shell, list[str], Terminal], Awaitable[int]]


async def _discard(text: str) -> None:
    """What is written to /dev/null."""
