"""Writes tests/crash/failpoints.md from the points in the code.

Run it from anywhere, in the project's environment: python docs/generate_failpoints.py
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ipucloud.site.calls import Call

SOURCE = Path(__file__).parents[1] / "src" / "ipucloud"
PAGE = Path(__file__).parents[1] / "tests" / "crash" / "failpoints.md"
NOTICE = "<!-- Written by docs/generate_failpoints.py; do not edit. -->"
FAMILIES = {"site.before": Call, "site.after": Call}
"""Points that stand for many: with a second argument that is one of these."""


@dataclass(frozen=True, order=True)
class Point:
    """A point in the code of a module; `family`: it stands for one point per call."""

    name: str
    module: str
    family: bool = False

    @property
    def names(self) -> list[str]:
        """The full names of the points that this is."""
        return [f"{self.name}:{which}" for which in FAMILIES[self.name]] if self.family else [self.name]


def points() -> list[Point]:
    """Every point of the product. Raises ValueError for one that is not named by a literal."""
    return sorted({point for path in SOURCE.rglob("*.py") for point in _in_module(path)})


def names() -> list[str]:
    """The full name of every point."""
    return sorted({name for point in points() for name in point.names})


def _in_module(path: Path) -> Iterator[Point]:
    module = path.relative_to(SOURCE).as_posix()
    text = path.read_text()
    if "failpoint(" in text:  # looking through the trees of all others takes long
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "failpoint":
                yield _point(node, module)


def _point(call: ast.Call, module: str) -> Point:
    match call.args:
        case [ast.Constant(value=str(name))]:
            return Point(name, module)
        case [ast.Constant(value=str(name)), ast.Attribute(attr=which)]:
            return Point(f"{name}:{FAMILIES[name][which]}", module)
        case [ast.Constant(value=str(name)), ast.Name()]:
            return Point(name, module, family=True)
    raise ValueError(f"{module}, line {call.lineno}: a failpoint is named by a literal")


def page() -> str:
    """The text of the page."""
    modules: dict[str, list[str]] = {}
    for point in points():
        modules.setdefault(point.module, []).append(f"`{point.name}{':<call>' if point.family else ''}`")
    return "\n".join(
        [
            NOTICE,
            "",
            "# Failpoints",
            "",
            f"For people who change the code: the {len(names())} places at which a test may end or stop a process, by",
            "module. [Crashes](README.md) describes their use.",
            "",
            "| module | points |",
            "|---|---|",
            *(f"| `{module}` | {', '.join(found)} |" for module, found in sorted(modules.items())),
            "",
            "A `<call>` is one of " + ", ".join(f"`{call}`" for call in Call) + ".",
            "",
        ]
    )


def main() -> None:
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
