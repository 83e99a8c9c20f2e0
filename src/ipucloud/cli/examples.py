"""Examples in the help of commands."""

from __future__ import annotations

from typing import Any, ClassVar

from typer.core import TyperCommand

COMMAND = "COMMAND"
"""The metavar of a last argument that is another program's command line: from its first word on, nothing is ours."""


class Exemplified(TyperCommand):
    """A command whose help ends with examples. `examples`: what follows the command's name in each."""

    examples: ClassVar[tuple[str, ...]] = ("",)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:  # Any: Typer's context type has no public name
        return super().parse_args(ctx, self._separated(args))

    def _separated(self, args: list[str]) -> list[str]:
        """`args` with `--` before another program's command line, whose options are not ours."""
        arguments: list[Any] = [each for each in self.params if each.param_type_name == "argument"]
        if not arguments or arguments[-1].metavar != COMMAND:
            return args
        options: list[Any] = [each for each in self.params if each.param_type_name == "option"]
        with_value = {name for each in options if not each.is_flag for name in each.opts}
        ours, words = len(arguments) - 1, iter(enumerate(args))
        for place, word in words:
            if word == "--":
                break
            if word in with_value:
                next(words, None)
            elif not word.startswith("-"):
                if not ours:
                    return [*args[:place], "--", *args[place:]]
                ours -= 1
        return args

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # Any: as above
        with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
            for each in self.examples:  # not wrapped, to be copied
                formatter.write(f"  {ctx.command_path} {each}".rstrip() + "\n")

    def get_short_help_str(self, limit: int = 0) -> str:
        """The whole sentence, however narrow the terminal is."""
        return " ".join((self.help or "").split("\n\n")[0].split())


def with_examples(*examples: str) -> type[Exemplified]:
    """The class of a command with these examples; without any, its bare name is the example."""
    return type("Command", (Exemplified,), {"examples": examples or ("",)})
