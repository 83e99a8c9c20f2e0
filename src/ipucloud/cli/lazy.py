"""Commands imported when called: `ipucloud --help` must not load an SSH client or a database driver."""

from __future__ import annotations

import gc
import importlib
from dataclasses import dataclass
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from ipucloud.cli.exits import Exit

_COMPLETION = {"install_completion", "show_completion"}


@dataclass(frozen=True)
class Entry:
    """A command or group: its name, the module with its `app` or `module:app`, its help and its help panel.

    `extra`: the extra of the distribution whose packages it needs; None: those of the client suffice. `hidden`: a
    former name, which still works. `group`: the group that it is in, followed by a space.
    """

    name: str
    module: str
    help: str
    panel: str
    extra: str | None = None
    hidden: bool = False
    group: str = ""


class LazyCommand(TyperCommand):
    """Placeholder of a command until it is called or completed."""

    def __init__(self, entry: Entry) -> None:
        super().__init__(entry.name, help=entry.help, rich_help_panel=entry.panel, hidden=entry.hidden)
        self._entry = entry

    def make_context(self, *args: Any, **extra: Any) -> Any:  # Any: Typer's context type has no public name
        command = typer.main.get_command(self._load())
        command.help = command.help or self.help
        command.params = [each for each in command.params if each.name not in _COMPLETION]  # `ipucloud` alone has them
        return command.make_context(*args, **extra)

    def _load(self) -> typer.Typer:
        module, _, name = self._entry.module.partition(":")
        try:
            app: typer.Typer = getattr(importlib.import_module(module), name or "app")
            return app
        except ModuleNotFoundError as missing:
            if self._entry.extra is None or not _is_left_out(missing.name or "ipucloud"):
                raise
        finally:
            if not gc.isenabled():  # by `main`
                gc.freeze()
                gc.enable()
        needs = f"`ipucloud {self._entry.group}{self.name}` needs more packages."
        typer.echo(f"ipucloud: {needs} In a checkout of ipucloud: pip install '.[{self._entry.extra}]'", err=True)
        raise typer.Exit(Exit.USAGE)


def _is_left_out(module: str) -> bool:
    """Whether an installation may lack the module: one of another package, or the laboratory, as in some images."""
    return not f"{module}.".startswith("ipucloud.") or f"{module}.".startswith("ipucloud.laboratory.")


class Listing(TyperGroup):
    """A group that lists when it is called without a command."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Any: as above
        bare = not args or (args[0].startswith("-") and args[0] not in ctx.help_option_names)
        return super().parse_args(ctx, ["list", *args] if bare and not ctx.resilient_parsing else args)


def group(app: typer.Typer, entries: tuple[Entry, ...]) -> TyperGroup:
    """`app` with `entries` as its commands."""
    command = typer.main.get_command(app)
    if not isinstance(command, TyperGroup):
        raise TypeError("an app with a callback is a group")
    for entry in entries:
        command.add_command(LazyCommand(entry))
    return command
