"""Programs that are kept running, with real processes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from ipucloud.laboratory.keeper.child import Program, last_event
from ipucloud.laboratory.keeper.keeper import ChildError, Kept, RestartPolicy, Say, keeping
from ipucloud.laboratory.keeper.readiness import ReadyFile
from tests.support.waiting import PATIENCE, eventually

STEADY = "import pathlib, os, signal, time; pathlib.Path('{pid}').write_text(str(os.getpid())); time.sleep(600)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + STEADY
HASTY = "print('there is no such port'); raise SystemExit(3)"
SILENT = "import time; time.sleep(600)"
AT_SECOND_TRY = (
    "import pathlib; first = pathlib.Path('{pid}.first')\nif not first.exists(): first.touch(); exit(1)\n" + STEADY
)
QUICK = RestartPolicy(first_pause=0.01, longest_pause=0.04, slow=600.0)

Make = Callable[[str], Program]


@pytest.fixture
def pid_file(tmp_path: Path) -> Path:
    return tmp_path / "pid"


@pytest.fixture
def make(tmp_path: Path, pid_file: Path) -> Make:
    """A program with this source, ready once it has written its process id."""

    def make(source: str) -> Program:
        (tmp_path / "program_under_test.py").write_text(source.format(pid=pid_file))
        path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
        ready = ReadyFile(pid_file)
        log = tmp_path / "logs" / "program.log"
        return Program("The program", "program_under_test", (), {"PYTHONPATH": path}, log, ready)

    return make


def keep(program: Program, act: Callable[[Kept], Awaitable[None]], say: Say, policy: RestartPolicy = QUICK) -> None:
    """Keep the program while `act` lasts, as a command does."""

    async def block() -> None:
        async with keeping(say, policy) as keeper:
            await act(keeper.keep(program))

    asyncio.run(block())


async def until_ready(program_kept: Kept) -> None:
    await program_kept.ready()


async def for_ever(_: Kept) -> None:
    await asyncio.Event().wait()


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
    async with asyncio.timeout(PATIENCE):
        while not condition():
            await asyncio.sleep(0.01)


def test_it_runs_exactly_as_long_as_the_block(make: Make, pid_file: Path) -> None:
    async def act(program_kept: Kept) -> None:
        await program_kept.ready()
        await until(lambda: lives(pid_in(pid_file)))

    keep(make(STEADY), act, pytest.fail)
    assert not lives(pid_in(pid_file))


def test_one_that_ends_is_restarted_and_both_are_reported(make: Make, pid_file: Path) -> None:
    messages: list[str] = []

    async def act(program_kept: Kept) -> None:
        await program_kept.ready()
        await until(lambda: pid_in(pid_file) is not None)
        first = pid_in(pid_file)
        assert first is not None
        os.kill(first, signal.SIGKILL)
        await until(lambda: "The program is running again." in messages)
        await until(lambda: pid_in(pid_file) not in {None, first})

    keep(make(STEADY), act, messages.append)
    assert messages == ["The program was ended by signal 9; restarting it in 0.01 s.", "The program is running again."]
    assert not lives(pid_in(pid_file))


def test_one_that_ends_before_it_can_be_used_is_started_again(make: Make) -> None:
    messages: list[str] = []
    keep(make(AT_SECOND_TRY), until_ready, messages.append)
    assert messages[0] == "The program ended with status 1 (no log output); restarting it in 0.01 s."


def test_one_that_never_starts_is_given_up_with_its_last_word_and_its_log(make: Make) -> None:
    messages: list[str] = []
    program = make(HASTY)
    with pytest.raises(ChildError) as given_up:
        keep(program, for_ever, messages.append)
    how = "ended with status 3 (there is no such port)"
    pauses = ["0.01", "0.02", "0.04", "0.04"]
    assert messages == [f"The program {how}; restarting it in {pause} s." for pause in pauses]
    for part in (
        "The program cannot be kept running",
        "5 times in a row",
        how,
        str(program.log),
        "run the command again",
    ):
        assert part in str(given_up.value)


@pytest.mark.parametrize(
    ("logged", "sentence"),
    [
        ("", "no log output"),
        ("one\ntwo\n\n", "two"),
        ('{"event": "api_started"}\n{"event": "Port 8000 is taken.", "level": "error"}\n', "Port 8000 is taken."),
        ('{"event": "uncaught", "exception": "Traceback:\\n  x\\nOSError: full"}', "uncaught: OSError: full"),
        ('{"ready": true}', '{"ready": true}'),
        ("[1]", "[1]"),
    ],
)
def test_the_last_event_of_a_log_is_put_in_words(tmp_path: Path, logged: str, sentence: str) -> None:
    (tmp_path / "log").write_text(logged)
    assert last_event(tmp_path / "log") == sentence


def test_one_that_could_be_used_is_given_more_starts(make: Make, pid_file: Path) -> None:
    messages: list[str] = []

    async def act(program_kept: Kept) -> None:
        await kill_again_and_again(program_kept, pid_file, messages, times=5)
        await for_ever(program_kept)

    with pytest.raises(ChildError, match="It was started 5 times in a row; the last time it was ended by signal 9"):
        keep(make(STEADY), act, messages.append, replace(QUICK, first_starts=2, starts=5))
    assert messages.count("The program is running again.") == 4


def test_one_that_ran_well_begins_anew(make: Make, pid_file: Path) -> None:
    messages: list[str] = []

    async def act(program_kept: Kept) -> None:
        await kill_again_and_again(program_kept, pid_file, messages, times=5)
        await until(lambda: messages.count("The program is running again.") == 5)

    keep(make(STEADY), act, messages.append, replace(QUICK, settled=0.0, starts=3))
    assert {line for line in messages if "starting" in line} == {
        "The program was ended by signal 9; restarting it in 0.01 s."
    }


async def kill_again_and_again(program_kept: Kept, pid_file: Path, messages: list[str], times: int) -> None:
    await program_kept.ready()
    for starts in range(times):
        await until(partial(lambda starts: messages.count("The program is running again.") == starts, starts))
        await until(lambda: pid_in(pid_file) is not None)
        pid = pid_in(pid_file)
        assert pid is not None
        os.kill(pid, signal.SIGKILL)


def test_one_that_does_not_become_ready_is_ended_and_started_again(make: Make) -> None:
    messages: list[str] = []
    program = replace(make(SILENT), ready_seconds=0.01)
    with pytest.raises(ChildError, match=r"it was not ready within 0\.01 s"):
        keep(program, for_ever, messages.append, replace(QUICK, first_starts=2))
    assert messages == ["The program was not ready within 0.01 s; restarting it in 0.01 s."]


def test_a_slow_start_is_reported(make: Make) -> None:
    messages: list[str] = []
    program = make(SILENT)

    async def act(_: Kept) -> None:
        await until(lambda: bool(messages))

    keep(program, act, messages.append, replace(QUICK, slow=0.0))
    assert messages == [f"The program is slow to start. Its log is {program.log}."]


def test_one_that_cannot_be_started_is_given_up(make: Make, tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("a file is in the way of the directory")
    with pytest.raises(ChildError, match="could not be started"):
        keep(make(STEADY), for_ever, lambda _: None, replace(QUICK, first_starts=2))


def test_the_others_end_when_one_is_given_up(make: Make, pid_file: Path, tmp_path: Path) -> None:
    steady = make(STEADY)
    hasty = replace(steady, name="Another", module="hasty", ready=ReadyFile(tmp_path / "never"))
    (tmp_path / "hasty.py").write_text(HASTY)

    async def block() -> None:
        async with keeping(lambda _: None, QUICK) as keeper:
            await keeper.keep(steady).ready()
            await keeper.keep(hasty).ready()

    with pytest.raises(ChildError, match="Another cannot be kept running"):
        asyncio.run(block())
    assert not lives(pid_in(pid_file))


def test_it_can_be_left_while_one_waits_for_its_next_start(make: Make) -> None:
    messages: list[str] = []

    async def act(_: Kept) -> None:
        await until(lambda: bool(messages))

    keep(make(HASTY), act, messages.append, replace(QUICK, first_pause=600.0, longest_pause=600.0))
    assert messages == ["The program ended with status 3 (there is no such port); restarting it in 600 s."]


def test_one_that_does_not_listen_is_ended_anyway(make: Make, pid_file: Path) -> None:
    async def act(program_kept: Kept) -> None:
        await program_kept.ready()
        await until(lambda: lives(pid_in(pid_file)))

    keep(replace(make(DEAF), grace_seconds=0.1), act, pytest.fail)
    assert not lives(pid_in(pid_file))


KEEPER = """
import asyncio, os, pathlib, signal, sys
from ipucloud.laboratory.keeper.child import Program
from ipucloud.laboratory.keeper.keeper import RestartPolicy, keeping
from ipucloud.laboratory.keeper.readiness import ReadyFile
async def main():
    folder = pathlib.Path(sys.argv[1])
    ready = ReadyFile(folder / "pid")
    program = Program("The program", "program_under_test", (), dict(os.environ), folder / "log", ready)
    again = asyncio.Event()
    say = lambda sentence: again.set() if sentence.endswith("is running again.") else None
    async with keeping(say, RestartPolicy(first_pause=0.01)) as keeper:
        kept = keeper.keep(program)
        await kept.ready()
        if sys.argv[2] == "restarted":
            while not (folder / "pid").read_text():
                await asyncio.sleep(0.01)
            os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
            await again.wait()
        print("kept", flush=True)
        await asyncio.sleep(600)
asyncio.run(main())
"""


@pytest.mark.parametrize("source", [STEADY, DEAF], ids=["steady", "deaf"])
@pytest.mark.parametrize("start", ["first", "restarted"])
def test_it_ends_with_a_keeper_that_was_killed(source: str, start: str, tmp_path: Path, pid_file: Path) -> None:
    (tmp_path / "program_under_test.py").write_text(source.format(pid=pid_file))
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    command = [sys.executable, "-c", KEEPER, str(tmp_path), start]
    environment = {**os.environ, "PYTHONPATH": path}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "kept\n"
        eventually(lambda: lives(pid_in(pid_file)), "the program has written its process id")
        process.kill()
    eventually(lambda: not lives(pid_in(pid_file)), "the program ends with its keeper")


def test_what_a_terminal_exported_for_customers_does_not_reach_it(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IPUCLOUD_TOKEN", "secret")
    monkeypatch.setenv("OTHER", "kept")
    names = "print([n for n in ('IPUCLOUD_TOKEN', 'OTHER') if n in os.environ], flush=True)"
    program = make(f"import os; {names}; " + STEADY)
    keep(program, until_ready, pytest.fail)
    assert program.log.read_text() == "['OTHER']\n"
