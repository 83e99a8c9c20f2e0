"""`ipucloud help` and `version`."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ipucloud.cli.examples import with_examples
from ipucloud.cli.lazy import FirstPage

app = typer.Typer()


@app.command("help", cls=with_examples("", "--all", "clusters create"))
def show_help(
    context: typer.Context,
    command: Annotated[list[str] | None, typer.Argument(help="The command; by default, the first page.")] = None,
    *,
    every: Annotated[bool, typer.Option("--all", help="List all commands.")] = False,
) -> None:
    """Show this page, all commands, or the help of one."""
    here: Any = context.find_root()  # Any: the type of a command's context has no public name
    here.meta[FirstPage.ALL] = every
    for word in command or ():
        group = here.command
        if not isinstance(group, TyperGroup) or (named := group.resolve_command(here, [word])[1]) is None:
            raise typer.BadParameter(f"{here.command_path} has no commands.", here)
        here = named.make_context(word, [], parent=here, resilient_parsing=True)
        here.resilient_parsing = False
    typer.echo(here.get_help())


version_app = typer.Typer()


@version_app.command("version", cls=with_examples())
def write_version() -> None:
    """Show the version."""
    typer.echo(f"ipucloud {version('ipucloud')}")
