"""Programs that are kept running, with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ipucloud.cli.service import child
from ipucloud.cli.service.child import ChildError, Program, kept
from tests.support.waiting import eventually

STEADY = "import pathlib, os, signal, time; pathlib.Path('{pid}').write_text(str(os.getpid())); time.sleep(600)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + STEADY
HASTY = "print('there is no such port'); raise SystemExit(3)"

Make = Callable[[str], Program]


@pytest.fixture
def pid_file(tmp_path: Path) -> Path:
    return tmp_path / "pid"


@pytest.fixture
def make(tmp_path: Path, pid_file: Path) -> Make:
    """A program with this source, ready once it has written its process id."""

    def make(source: str) -> Program:
        (tmp_path / "program_under_test.py").write_text(source.format(pid=pid_file))

        async def ready() -> bool:
            return pid_in(pid_file) is not None

        path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        return Program("thing", "program_under_test", (), {"PYTHONPATH": path}, tmp_path / "logs" / "thing.log", ready)

    return make


def pid_in(path: Path) -> int | None:
    """The process id in the file, None when there is none yet."""
    text = path.read_text() if path.exists() else ""
    return int(text) if text else None


def lives(pid: int | None) -> bool:
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return False


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not condition():
            await asyncio.sleep(0.01)


def test_it_runs_exactly_as_long_as_the_block(make: Make, pid_file: Path) -> None:
    async def block() -> None:
        async with kept(make(STEADY), pytest.fail) as thing:
            await thing.ready()
            assert lives(pid_in(pid_file))

    asyncio.run(block())
    assert not lives(pid_in(pid_file))


def test_one_that_ends_is_started_again_and_that_is_said(
    make: Make, pid_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(child, "FIRST_PAUSE", 0.01)
    said: list[str] = []

    async def block() -> None:
        async with kept(make(STEADY), said.append) as thing:
            await thing.ready()
            first = pid_in(pid_file)
            assert first is not None
            os.kill(first, signal.SIGKILL)
            await until(lambda: pid_in(pid_file) not in {None, first})

    asyncio.run(block())
    assert len(said) == 1
    assert "thing ended (signal 9)" in said[0]
    assert not lives(pid_in(pid_file))


def test_one_that_cannot_start_is_reported_with_its_last_word(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "LET_GO_SECONDS", 0.1)
    monkeypatch.setattr(child, "FIRST_PAUSE", 0.01)

    async def block() -> None:
        async with kept(make(HASTY), pytest.fail) as thing:
            await thing.ready()

    with pytest.raises(ChildError, match=r"status 3.*there is no such port"):
        asyncio.run(block())


def test_one_that_cannot_start_yet_is_tried_again(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "FIRST_PAUSE", 0.01)
    program = make(
        "import pathlib; first = pathlib.Path('{pid}.first')\nif not first.exists(): first.touch(); exit(1)\n" + STEADY
    )

    async def block() -> None:
        async with kept(program, pytest.fail) as thing:
            await thing.ready()

    asyncio.run(block())


def test_one_that_does_not_listen_is_ended_anyway(make: Make, pid_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "GRACE_SECONDS", 0.1)

    async def block() -> None:
        async with kept(make(DEAF), pytest.fail) as thing:
            await thing.ready()
            assert lives(pid_in(pid_file))

    asyncio.run(block())
    assert not lives(pid_in(pid_file))


@pytest.mark.parametrize("source", [STEADY, DEAF], ids=["steady", "deaf"])
def test_it_ends_with_a_keeper_that_was_killed(source: str, tmp_path: Path, pid_file: Path) -> None:
    (tmp_path / "program_under_test.py").write_text(source.format(pid=pid_file))
    keeper = f"""
import asyncio, pathlib, os
from ipucloud.cli.service import leash
from ipucloud.cli.service.child import Program, kept
async def ready():
    return pathlib.Path({str(pid_file)!r}).exists()
async def main():
    log = pathlib.Path({str(tmp_path / "log")!r})
    program = Program("thing", "program_under_test", (), dict(os.environ), log, ready)
    async with kept(program, print) as thing:
        await thing.ready()
        print("kept", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-c", keeper], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": path}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "kept\n"
        process.kill()
    eventually(lambda: not lives(pid_in(pid_file)), "the program ends with its keeper")


def test_what_the_terminal_exported_for_customers_does_not_reach_it(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IPUCLOUD_TOKEN", "secret")
    monkeypatch.setenv("OTHER", "kept")
    names = "print([n for n in ('IPUCLOUD_TOKEN', 'OTHER') if n in os.environ], flush=True)"
    program = make(f"import os; {names}; " + STEADY)

    async def block() -> None:
        async with kept(program, pytest.fail) as thing:
            await thing.ready()

    asyncio.run(block())
    assert program.log.read_text() == "['OTHER']\n"
