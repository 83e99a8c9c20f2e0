"""Commands imported when called: `ipucloud --help` must not load an SSH client or a database driver."""

from __future__ import annotations

import gc
import importlib
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ipucloud.cli.entry import imported
from ipucloud.cli.exits import Exit

_COMPLETION = {"install_completion", "show_completion"}


@dataclass(frozen=True)
class Entry:
    """A command or group: its name, the module with its `app` or `module:app`, its help and the section of the help.

    `module`: relative to this package, or absolute. `extra`: the extra of the distribution whose packages it needs;
    None: those of the client suffice. `first`: the first page of the help shows it. `hidden`: a former name, which
    still works. `group`: the group that it is in, followed by a space.
    """

    name: str
    module: str
    help: str
    section: str = ""
    extra: str | None = None
    first: bool = False
    hidden: bool = False
    group: str = ""


class LazyCommand(TyperCommand):
    """Placeholder of a command until it is called or completed."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.name, help=entry.help, hidden=entry.hidden)
        self.entry = entry

    def make_context(self, *args: Any, **extra: Any) -> Any:  # Any: Typer's context type has no public name
        app = self._load()
        app.rich_markup_mode = None  # its tables cut the names of options in a narrow terminal
        command = typer.main.get_command(app)
        command.help = command.help or self.help
        command.params = [each for each in command.params if each.name not in _COMPLETION]  # `ipucloud` alone has them
        return command.make_context(*args, **extra)

    def _load(self) -> typer.Typer:
        module, _, name = self.entry.module.partition(":")
        try:
            app: typer.Typer = getattr(importlib.import_module(module, "ipucloud.cli"), name or "app")
            return app
        except ModuleNotFoundError as missing:
            if self.entry.extra is None or not _is_left_out(missing.name or "ipucloud"):
                raise
        finally:
            if not gc.isenabled():  # by `main`
                gc.freeze()
                gc.enable()
            imported()
        needs = f"`ipucloud {self.entry.group}{self.name}` needs more packages."
        typer.echo(f"ipucloud: {needs} In a checkout of ipucloud: pip install '.[{self.entry.extra}]'", err=True)
        raise typer.Exit(Exit.USAGE)


def _is_left_out(module: str) -> bool:
    """Whether an installation may lack the module: one of another package, the laboratory, or an optional part."""
    optional = ("ipucloud.laboratory.", "ipucloud.extras.")
    return not f"{module}.".startswith("ipucloud.") or f"{module}.".startswith(optional)


class Listing(TyperGroup):
    """A group that lists when it is called without a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Any: as above
        bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, ["list", *args] if bare and not ctx.resilient_parsing else args)


class FirstPage(TyperGroup):
    """The group of all commands. Its help has sections, with the commands that most people need.

    `ALL` in a context's `meta`: with all commands.
    """

    ALL = "ipucloud.all"

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # Any: as above
        every = ctx.meta.get(self.ALL, False)
        entries = [each.entry for each in self.commands.values() if isinstance(each, LazyCommand)]
        width = max(len(each.name) for each in entries)
        for section in dict.fromkeys(each.section for each in entries):
            shown = [each for each in entries if each.section == section and (every or each.first) and not each.hidden]
            with formatter.section(section):
                formatter.write_dl([(each.name.ljust(width), each.help) for each in shown])
        if not every:
            formatter.write_paragraph()
            formatter.write_text("All commands: ipucloud help --all. One of them: ipucloud help COMMAND.")


def group(app: typer.Typer, entries: tuple[Entry, ...]) -> TyperGroup:
    """`app` with `entries` as its commands."""
    command = typer.main.get_command(app)
    if not isinstance(command, TyperGroup):
        raise TypeError("an app with a callback is a group")
    for entry in entries:
        command.add_command(LazyCommand(entry))
    return command
