"""Programs and abilities of the machine are asked for at one place, and what it lacks is summed up at a run's end."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Container, Iterator
from pathlib import Path

import pytest

from tests.support import machine
from tests.support.machine import PROGRAMS
from tests.support.selection import ROOT, SLOW

TESTS = Path(__file__).parents[1]
ASKING = {"pytest.skip", "pytest.mark.skip", "pytest.mark.skipif", "pytest.importorskip", "shutil.which"}
STARTING = {
    *(f"subprocess.{name}" for name in ("run", "Popen", "call", "check_call", "check_output")),
    "asyncio.create_subprocess_exec",
}
EVERYWHERE = {"/bin/cat", "/bin/sh", "cksum", "cp", "sh", "sleep"}
"""Programs that are on every machine."""
REFUSED = {
    "import shutil\nshutil.which('git')": "shutil.which",
    "from shutil import which": "shutil.which",
    "pytest.skip('no git')": "pytest.skip",
    "@pytest.mark.skipif(True, reason='')\ndef test(): ...": "pytest.mark.skipif",
    "command = ['ssh', '-V']": "ssh",
    "subprocess.run(['strace', 'true'])": "strace",
    "subprocess.run(('strace', 'true'))": "strace",
    "asyncio.create_subprocess_exec('strace', 'true')": "strace",
}
LACKING = """
from tests.support.machine import Need, needs, program
import pytest

pytestmark = needs(Need.RSYNC)

@pytest.fixture(scope="module")
def repository():
    return program("git")

@pytest.mark.parametrize("number", range(3))
def test_marked(number):
    assert False
"""
LACKING_IN_A_FIXTURE = LACKING.replace("pytestmark", "unused").replace("(number)", "(repository, number)")


def past_the_one_place(source: str) -> Iterator[str]:
    """How a test learns by itself what the machine has, and what it starts without asking for it."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.ImportFrom():
                yield from {f"{node.module}.{each.name}" for each in node.names} & ASKING
            case ast.Attribute(attr="skip" | "skipif" | "importorskip" | "which"):
                yield from {ast.unparse(node)} & ASKING
            case ast.List(elts=[ast.Constant(value=str(name)), *_]) if name in PROGRAMS:
                yield name
            case ast.Call(func=ast.Attribute(value=ast.Name()) as of, args=[command, *_]) if (
                ast.unparse(of) in STARTING
            ):
                yield from _begins_with(command, EVERYWHERE | PROGRAMS.keys())


def _begins_with(command: ast.expr, known: Container[str]) -> Iterator[str]:
    match command:
        case (
            ast.Constant(value=str(name))
            | ast.List(elts=[ast.Constant(value=str(name)), *_])
            | ast.Tuple(elts=[ast.Constant(value=str(name)), *_])
        ) if name not in known:
            yield name


def test_tests_ask_for_what_the_machine_has_at_one_place() -> None:
    sources = {path: path.read_text() for path in TESTS.rglob("*.py") if str(path) != machine.__file__}
    ways_by_file = {str(path.relative_to(TESTS)): sorted(past_the_one_place(text)) for path, text in sources.items()}
    assert {path: ways for path, ways in ways_by_file.items() if ways} == {}


@pytest.mark.parametrize("source", REFUSED)
def test_other_ways_to_ask_are_found(source: str) -> None:
    assert list(past_the_one_place(source)) == [REFUSED[source]]


def test_what_was_lacking_is_summed_up_at_the_end(tmp_path: Path) -> None:
    (tmp_path / "test_marked.py").write_text(LACKING)
    (tmp_path / "test_fixture.py").write_text(LACKING_IN_A_FIXTURE)
    plugins = ["-p", "tests.support.machine", "-p", "xdist", "-n", "2"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-c", "/dev/null", "--rootdir", tmp_path, *plugins, tmp_path],
        capture_output=True, text=True, check=False, cwd=TESTS.parent,
        env={"PATH": str(tmp_path), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )  # fmt: skip
    summed = [line for line in done.stdout.splitlines() if line.startswith("not tried here")]
    assert sorted(summed) == [
        "not tried here: 3 tests want git: apt install git",
        "not tried here: 3 tests want rsync: apt install rsync",
    ], done.stdout + done.stderr


def test_what_is_listed_as_slow_exists() -> None:
    assert [str(path.relative_to(ROOT)) for path in sorted(SLOW) if not path.exists()] == []
