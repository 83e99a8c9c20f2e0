"""The ordinary commands of a simulated Poplar server's shell."""

from __future__ import annotations

# ruff: noqa: ARG001 - every command has the same signature
import asyncio
import os
import shlex
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path

from ipucloud.laboratory.simulator.ssh.ipu_run import IpuRun
from ipucloud.laboratory.simulator.ssh.shell import Program, Shell, ShellExit
from ipucloud.laboratory.simulator.ssh.terminal import CHUNK, ENCODING_ERRORS, CommandProblem, Terminal


async def cat(shell: Shell, args: list[str], terminal: Terminal) -> int:
    for name in args or ["-"]:
        with shell.reading(name, terminal) as source:
            async for chunk in source.chunks():
                await terminal.out(chunk)
    return 0


async def cd(shell: Shell, args: list[str], terminal: Terminal) -> int:
    target = shell.disk.absolute(args[0] if args else "~", shell.cwd)
    if not shell.disk.real(target).is_dir():
        raise CommandProblem(f"cd: {args[0] if args else target}: No such directory")
    shell.cwd = target
    shell.env["PWD"] = target
    return 0


async def cp(shell: Shell, args: list[str], terminal: Terminal) -> int:
    source, target = _two(shell, args, "cp")
    with FileIO(source) as reader, shell.disk.open(target, "w") as writer:
        while chunk := reader.read(CHUNK):
            shell.disk.write(writer, chunk)
            await asyncio.sleep(0)
    return 0


async def echo(shell: Shell, args: list[str], terminal: Terminal) -> int:
    bare = args[:1] == ["-n"]
    await terminal.out(" ".join(args[1:]) if bare else " ".join(args) + "\n")
    return 0


async def exit_(shell: Shell, args: list[str], terminal: Terminal) -> int:
    raise ShellExit(int(args[0][-9:]) % 256 if args and args[0].isdecimal() else shell.status)


async def export(shell: Shell, args: list[str], terminal: Terminal) -> int:
    for arg in args:
        name, separator, value = arg.partition("=")
        if not name.isidentifier():
            raise CommandProblem(f"export: '{arg}': not a valid identifier")
        if separator:
            shell.env[name] = value
    return 0


async def grep(shell: Shell, args: list[str], terminal: Terminal) -> int:
    """`grep [-c|-i|-v] TEXT` over standard input; TEXT is a plain text, not a pattern."""
    options, names = _split(args)
    if len(names) != 1 or not options <= set("civF"):
        raise CommandProblem("usage: grep [-c] [-i] [-v] TEXT", 2)
    fold = str.casefold if "i" in options else str
    wanted, count = fold(names[0]), 0
    async for line in terminal.lines():
        if (wanted in fold(line)) != ("v" in options):
            count += 1
            if "c" not in options:
                await terminal.out(line)
    if "c" in options:
        await terminal.out(f"{count}\n")
    return 0 if count else 1


async def ls(shell: Shell, args: list[str], terminal: Terminal) -> int:
    options, names = _split(args)
    for name in names or ["."]:
        await asyncio.sleep(0)
        path = shell.real(name)
        if not path.exists():
            raise CommandProblem(f"ls: cannot access '{name}': No such file or directory")
        inside = path.is_dir() and "d" not in options
        for entry in sorted(entry.name for entry in path.iterdir()) if inside else [""]:
            if "a" in options or not entry.startswith("."):
                line = _long(path / entry, shell.disk.user) if "l" in options else ""
                await terminal.out(f"{line}{entry or name}\n")
    return 0


async def mkdir(shell: Shell, args: list[str], terminal: Terminal) -> int:
    options, names = _split(args)
    for name in names:
        await asyncio.sleep(0)
        path = shell.real(name)
        if "p" in options:
            for folder in [*reversed(path.parents), path]:
                if not folder.is_dir():
                    shell.disk.mkdir(folder)
        elif path.exists() or not path.parent.is_dir():
            cause = "File exists" if path.exists() else "No such file or directory"
            raise CommandProblem(f"mkdir: cannot create directory '{name}': {cause}")
        else:
            shell.disk.mkdir(path)
    return 0


async def mv(shell: Shell, args: list[str], terminal: Terminal) -> int:
    shell.disk.move(*_two(shell, args, "mv"))
    return 0


async def rm(shell: Shell, args: list[str], terminal: Terminal) -> int:
    options, names = _split(args)
    home = shell.real("~")
    for name in names:
        await asyncio.sleep(0)
        path = shell.real(name)
        if path == home or path in home.parents:
            raise CommandProblem(f"rm: cannot remove '{name}': Permission denied")
        if path.is_dir() and not options & set("rR"):
            raise CommandProblem(f"rm: cannot remove '{name}': Is a directory")
        if not path.exists() and "f" not in options:
            raise CommandProblem(f"rm: cannot remove '{name}': No such file or directory")
        for folder, folders, files in os.walk(path, topdown=False):
            for entry in files:
                shell.disk.remove(Path(folder, entry))
                await asyncio.sleep(0)
            for entry in folders:
                shell.disk.rmdir(Path(folder, entry))
        if path.exists():
            (shell.disk.rmdir if path.is_dir() else shell.disk.remove)(path)
    return 0


async def sh(shell: Shell, args: list[str], terminal: Terminal) -> int:
    """`bash -c TEXT`, or the lines of standard input."""
    options, texts = _split(args)
    if len(texts) > 1 or (texts and "c" not in options):
        raise CommandProblem("sh: this shell runs `-c TEXT` or its standard input, no script files", 127)
    inner = shell.inner()
    try:
        if texts:
            return await inner.run(texts[0], terminal)
        async for line in terminal.lines():
            await inner.run(line, terminal)
        return inner.status
    except ShellExit as leave:
        return leave.status


async def sleep(shell: Shell, args: list[str], terminal: Terminal) -> int:
    try:
        seconds = float(args[0])
    except (IndexError, ValueError):
        seconds = -1
    if not seconds >= 0:
        raise CommandProblem("usage: sleep SECONDS")
    await asyncio.sleep(seconds)
    return 0


async def touch(shell: Shell, args: list[str], terminal: Terminal) -> int:
    for name in args:
        await asyncio.sleep(0)
        path = shell.real(name)
        with shell.disk.changing(path, room=shell.disk.room_for(path)):
            path.touch()
    return 0


async def wc(shell: Shell, args: list[str], terminal: Terminal) -> int:
    options, names = _split(args)
    lines = words = size = 0
    with shell.reading(names[0] if names else "-", terminal) as source:
        async for line in source.lines():
            lines += line.endswith("\n")
            words += len(line.split())
            size += len(line.encode(errors=ENCODING_ERRORS))
    counts = {"l": lines, "w": words, "c": size}
    shown = [str(count) for letter, count in counts.items() if letter in options or not options]
    await terminal.out(" ".join([*shown, *names[:1]]) + "\n")
    return 0


def ipu_run_in_shell(ipu_run: IpuRun) -> Program:
    """`ipu-run` for the commands of this shell, which are no processes."""

    async def program(shell: Shell, args: list[str], terminal: Terminal) -> int:
        attached = await ipu_run.attach(shell, args, 0)
        try:
            inner = shell.inner()
            inner.env.update(attached.environment)
            return await inner.run(shlex.join(attached.command), terminal)
        except ShellExit as leave:
            return leave.status
        finally:
            attached.leave()

    return program


def _says(text: Callable[[Shell], str], status: int = 0) -> Program:
    async def program(shell: Shell, args: list[str], terminal: Terminal) -> int:
        await terminal.out(text(shell))
        return status

    return program


def _help(shell: Shell) -> str:
    return (
        "This is a simulated Poplar server. Its built-in shell knows pipes, redirections, quotes and variables, and:\n"
        f"  {' '.join(sorted(shell.programs))}\n"
        "Files come and go by sftp and scp.\n"
    )


COMMANDS: dict[str, Program] = {
    "bash": sh,
    "cat": cat,
    "cd": cd,
    "cp": cp,
    "echo": echo,
    "env": _says(lambda shell: "".join(f"{name}={value}\n" for name, value in shell.env.items())),
    "exit": exit_,
    "export": export,
    "false": _says(lambda _: "", status=1),
    "grep": grep,
    "help": _says(_help),
    "hostname": _says(lambda shell: f"{shell.hostname}\n"),
    "logout": exit_,
    "ls": ls,
    "mkdir": mkdir,
    "mv": mv,
    "pwd": _says(lambda shell: f"{shell.cwd}\n"),
    "rm": rm,
    "sh": sh,
    "sleep": sleep,
    "touch": touch,
    "true": _says(lambda _: ""),
    "uname": _says(lambda _: "Linux\n"),
    "wc": wc,
    "whoami": _says(lambda shell: f"{shell.disk.user}\n"),
}


def _split(args: list[str]) -> tuple[set[str], list[str]]:
    """The letters of the options, and the other words."""
    options = {letter for arg in args if arg.startswith("-") for letter in arg[1:]}
    return options, [arg for arg in args if not arg.startswith("-")]


def _two(shell: Shell, args: list[str], command: str) -> tuple[Path, Path]:
    """Source and target; a folder as the target takes the source's name."""
    if len(args) != 2:
        raise CommandProblem(f"usage: {command} SOURCE TARGET")
    source, target = map(shell.real, args)
    target = target / source.name if target.is_dir() else target
    if not source.exists():
        raise CommandProblem(f"{command}: cannot stat '{args[0]}': No such file or directory")
    if source == target:
        raise CommandProblem(f"{command}: '{args[0]}' and '{args[1]}' are the same file")
    return source, target


def _long(path: Path, user: str) -> str:
    info = path.stat()
    when = datetime.fromtimestamp(info.st_mtime, UTC).strftime("%b %e %H:%M")
    return f"{stat.filemode(info.st_mode)} 1 {user} {user} {info.st_size:>10} {when} "
