"""The ordinary commands of a simulated Poplar server's shell."""

from __future__ import annotations

# ruff: noqa: ARG001 - every command has the same signature
import asyncio
import shutil
import stat
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from ipucloud.simulator.ssh.shell import CommandProblem, Program, Shell, ShellExit
from ipucloud.simulator.ssh.terminal import CHUNK, ENCODING_ERRORS, Terminal

MAX_SLEEP = 3600.0


async def cat(shell: Shell, args: list[str], terminal: Terminal) -> int:
    for name in args or ["-"]:
        if name == "-":
            async for chunk in terminal.chunks():
                terminal.out(chunk)
            continue
        with _file(shell, "cat", name).open(errors=ENCODING_ERRORS, newline="") as file:
            while chunk := file.read(CHUNK):
                terminal.out(chunk)
    return 0


async def cd(shell: Shell, args: list[str], terminal: Terminal) -> int:
    target = shell.disk.absolute(args[0] if args else "~", shell.cwd)
    if not shell.disk.real(target).is_dir():
        raise CommandProblem(f"cd: {args[0] if args else target}: No such directory")
    shell.cwd = target
    shell.env["PWD"] = target
    return 0


async def cp(shell: Shell, args: list[str], terminal: Terminal) -> int:
    source, target = _two(args, "cp")
    await asyncio.to_thread(shutil.copyfile, _file(shell, "cp", source), _into(shell, target, source))
    return 0


async def date(shell: Shell, args: list[str], terminal: Terminal) -> int:
    terminal.out(datetime.now(UTC).strftime("%a %b %e %H:%M:%S UTC %Y\n"))
    return 0


async def echo(shell: Shell, args: list[str], terminal: Terminal) -> int:
    newline = "\n"
    if args and args[0] == "-n":
        newline, args = "", args[1:]
    terminal.out(" ".join(args) + newline)
    return 0


async def env(shell: Shell, args: list[str], terminal: Terminal) -> int:
    terminal.out("".join(f"{name}={value}\n" for name, value in shell.env.items()))
    return 0


async def exit_(shell: Shell, args: list[str], terminal: Terminal) -> int:
    raise ShellExit(int(args[0]) % 256 if args and args[0].isdigit() else shell.status)


async def export(shell: Shell, args: list[str], terminal: Terminal) -> int:
    for arg in args:
        name, separator, value = arg.partition("=")
        if not name.isidentifier():
            raise CommandProblem(f"export: '{arg}': not a valid identifier")
        if separator:
            shell.env[name] = value
    return 0


async def false(shell: Shell, args: list[str], terminal: Terminal) -> int:
    return 1


async def grep(shell: Shell, args: list[str], terminal: Terminal) -> int:
    """`grep [-c|-i|-v] TEXT` over standard input; TEXT is a plain text, not a pattern."""
    options = {a for a in args if a.startswith("-")}
    plain = [a for a in args if not a.startswith("-")]
    if len(plain) != 1 or not options <= {"-c", "-i", "-v", "-F"}:
        raise CommandProblem("usage: grep [-c] [-i] [-v] TEXT")
    fold = str.casefold if "-i" in options else str
    lines = (await terminal.text()).splitlines()
    found = [line for line in lines if (fold(plain[0]) in fold(line)) != ("-v" in options)]
    terminal.out(f"{len(found)}\n" if "-c" in options else "".join(line + "\n" for line in found))
    return 0 if found else 1


async def head(shell: Shell, args: list[str], terminal: Terminal) -> int:
    """`head [-n COUNT] [FILE]`"""
    count = 10
    if args[:1] == ["-n"] and len(args) > 1 and args[1].isdigit():
        count, args = int(args[1]), args[2:]
    text = await terminal.text() if not args else _file(shell, "head", args[0]).read_text(errors=ENCODING_ERRORS)
    terminal.out("".join(text.splitlines(keepends=True)[:count]))
    return 0


async def help_(shell: Shell, args: list[str], terminal: Terminal) -> int:
    terminal.out(
        "This is a simulated Poplar server. Its shell knows pipes, redirections, quotes and variables, and:\n"
        f"  {' '.join(sorted(shell.programs))}\n"
        "Files come and go by sftp and scp.\n"
    )
    return 0


async def hostname(shell: Shell, args: list[str], terminal: Terminal) -> int:
    terminal.out(f"{shell.hostname}\n")
    return 0


async def ls(shell: Shell, args: list[str], terminal: Terminal) -> int:
    options = {letter for arg in args if arg.startswith("-") for letter in arg[1:]}
    for name in [arg for arg in args if not arg.startswith("-")] or ["."]:
        path = shell.real(name)
        if not path.exists():
            raise CommandProblem(f"ls: cannot access '{name}': No such file or directory")
        entries = sorted(path.iterdir()) if path.is_dir() and "d" not in options else [path]
        for entry in entries:
            if "a" in options or not entry.name.startswith(".") or entry is path:
                shown = name if entry is path else entry.name
                terminal.out(_long(entry, shown, shell.disk.user) if "l" in options else f"{shown}\n")
    return 0


async def mkdir(shell: Shell, args: list[str], terminal: Terminal) -> int:
    parents = "-p" in args
    for name in [arg for arg in args if arg != "-p"]:
        path = shell.real(name)
        if path.exists() and not (parents and path.is_dir()):
            raise CommandProblem(f"mkdir: cannot create directory '{name}': File exists")
        if not parents and not path.parent.is_dir():
            raise CommandProblem(f"mkdir: cannot create directory '{name}': No such file or directory")
        path.mkdir(parents=parents, exist_ok=parents)
    return 0


async def mv(shell: Shell, args: list[str], terminal: Terminal) -> int:
    source, target = _two(args, "mv")
    path = shell.real(source)
    if not path.exists():
        raise CommandProblem(f"mv: cannot stat '{source}': No such file or directory")
    await asyncio.to_thread(shutil.move, path, _into(shell, target, source))
    return 0


async def printenv(shell: Shell, args: list[str], terminal: Terminal) -> int:
    if not args:
        return await env(shell, args, terminal)
    terminal.out("".join(f"{shell.env[name]}\n" for name in args if name in shell.env))
    return 0 if all(name in shell.env for name in args) else 1


async def pwd(shell: Shell, args: list[str], terminal: Terminal) -> int:
    terminal.out(f"{shell.cwd}\n")
    return 0


async def rm(shell: Shell, args: list[str], terminal: Terminal) -> int:
    options = {letter for arg in args if arg.startswith("-") for letter in arg[1:]}
    home = shell.disk.real("~")
    for name in [arg for arg in args if not arg.startswith("-")]:
        path = shell.real(name)
        if path == home or path in home.parents:
            raise CommandProblem(f"rm: cannot remove '{name}': Permission denied")
        if path.is_dir():
            if not options & {"r", "R"}:
                raise CommandProblem(f"rm: cannot remove '{name}': Is a directory")
            await asyncio.to_thread(shutil.rmtree, path)
        elif path.exists():
            path.unlink()
        elif "f" not in options:
            raise CommandProblem(f"rm: cannot remove '{name}': No such file or directory")
    return 0


async def sh(shell: Shell, args: list[str], terminal: Terminal) -> int:
    """`bash -c TEXT`, or the lines of standard input."""
    texts = [arg for arg in args if not arg.startswith("-")]
    if len(texts) > 1 or (texts and not any(a.startswith("-") and a.endswith("c") for a in args)):
        raise CommandProblem("sh: this shell runs `-c TEXT` or its standard input, no script files")
    inner = replace(shell, env=dict(shell.env))
    try:
        return await inner.run(texts[0] if texts else await terminal.text(), terminal)
    except ShellExit as leave:
        return leave.status


async def sleep(shell: Shell, args: list[str], terminal: Terminal) -> int:
    try:
        seconds = float(args[0])
    except (IndexError, ValueError):
        raise CommandProblem("usage: sleep SECONDS") from None
    await asyncio.sleep(min(max(seconds, 0.0), MAX_SLEEP))
    return 0


async def touch(shell: Shell, args: list[str], terminal: Terminal) -> int:
    for name in args:
        shell.real(name).touch()
    return 0


async def true(shell: Shell, args: list[str], terminal: Terminal) -> int:
    return 0


async def uname(shell: Shell, args: list[str], terminal: Terminal) -> int:
    version = "5.4.0-simulated #1 SMP"
    terminal.out(f"Linux {shell.hostname} {version} x86_64 GNU/Linux\n" if "-a" in args else "Linux\n")
    return 0


async def wc(shell: Shell, args: list[str], terminal: Terminal) -> int:
    names = [arg for arg in args if not arg.startswith("-")]
    if names:
        text = _file(shell, "wc", names[0]).read_text(errors=ENCODING_ERRORS)
    else:
        text = await terminal.text()
    counts = {
        "-l": text.count("\n"),
        "-w": len(text.split()),
        "-c": len(text.encode(errors=ENCODING_ERRORS)),
    }
    wanted = [arg for arg in args if arg in counts] or list(counts)
    terminal.out(" ".join([*(str(counts[option]) for option in wanted), *names[:1]]) + "\n")
    return 0


async def whoami(shell: Shell, args: list[str], terminal: Terminal) -> int:
    terminal.out(f"{shell.disk.user}\n")
    return 0


COMMANDS: dict[str, Program] = {
    "bash": sh,
    "cat": cat,
    "cd": cd,
    "cp": cp,
    "date": date,
    "echo": echo,
    "env": env,
    "exit": exit_,
    "export": export,
    "false": false,
    "grep": grep,
    "head": head,
    "help": help_,
    "hostname": hostname,
    "logout": exit_,
    "ls": ls,
    "mkdir": mkdir,
    "mv": mv,
    "printenv": printenv,
    "pwd": pwd,
    "rm": rm,
    "sh": sh,
    "sleep": sleep,
    "touch": touch,
    "true": true,
    "uname": uname,
    "wc": wc,
    "whoami": whoami,
}


def _file(shell: Shell, command: str, name: str) -> Path:
    path = shell.real(name)
    if path.is_dir():
        raise CommandProblem(f"{command}: {name}: Is a directory")
    if not path.exists():
        raise CommandProblem(f"{command}: {name}: No such file or directory")
    return path


def _two(args: list[str], command: str) -> tuple[str, str]:
    if len(args) != 2:
        raise CommandProblem(f"usage: {command} SOURCE TARGET")
    return args[0], args[1]


def _into(shell: Shell, target: str, source: str) -> Path:
    path = shell.real(target)
    return path / Path(source).name if path.is_dir() else path


def _long(path: Path, shown: str, user: str) -> str:
    info = path.stat()
    when = datetime.fromtimestamp(info.st_mtime, UTC).strftime("%b %e %H:%M")
    return f"{stat.filemode(info.st_mode)} 1 {user} {user} {info.st_size:>10} {when} {shown}\n"
