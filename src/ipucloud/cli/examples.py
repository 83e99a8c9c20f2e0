"""Examples in the help of commands."""

from __future__ import annotations

from typing import Any, ClassVar

from rich.markup import escape
from typer.core import TyperCommand


class Exemplified(TyperCommand):
    """A command whose help ends with examples. `examples`: what follows the command's name in each."""

    examples: ClassVar[tuple[str, ...]] = ("",)

    def format_help(self, ctx: Any, formatter: Any) -> None:  # Any: Typer's context type has no public name
        lines = (f"{ctx.command_path} {each}".rstrip() for each in self.examples)
        self.epilog = "\n".join(["Examples:" if len(self.examples) > 1 else "Example:", *map(escape, lines)])
        super().format_help(ctx, formatter)


def with_examples(*examples: str) -> type[Exemplified]:
    """The class of a command with these examples; without any, its bare name is the example."""
    return type("Command", (Exemplified,), {"examples": examples or ("",)})
