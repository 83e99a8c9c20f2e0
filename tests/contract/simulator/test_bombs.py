"""Programs that take all there is: bombs of processes, memory, files and output, in sandboxes with small limits.

The limits under test are what bounds them; each process ends by itself after half a minute of the processor's time.
"""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

import pytest

from ipucloud.laboratory.simulator.sandbox import cgroups, logins
from ipucloud.laboratory.simulator.sandbox.plan import Wall
from ipucloud.laboratory.simulator.sandbox.sandbox import Running, Sandbox
from ipucloud.laboratory.simulator.ssh import userland
from ipucloud.laboratory.simulator.ssh.disk import Disk
from ipucloud.laboratory.simulator.ssh.userland import Userland
from tests.support.machine import WALLS, Need, lack, need, program
from tests.support.waiting import until

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

MIB = 1 << 20
PROCESSES = 64
MEMORY = 256 * MIB
DISK = 16 * MIB
SPIN = "while :; do :; done"


class Box:
    """A server's sandbox, and the programs in it."""

    def __init__(self, sandbox: Sandbox) -> None:
        self.sandbox = sandbox

    async def login(self, command: str, **environment: str) -> Running:
        """A login that runs a command; nobody reads what it writes."""
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        try:
            return await self.sandbox.run([program("bash"), "-c", command], [nothing] * 3, environment, login=True)
        finally:
            os.close(nothing)

    async def does(self, command: str) -> int:
        """The exit status of a login."""
        running = await self.login(command)
        try:
            return await running.ended()
        finally:
            running.close()

    def processes(self) -> dict[int, str]:
        """The command lines of its programs, by their processes."""
        command_lines, pending = {}, [self.sandbox._process.pid]
        while pending:
            process = Path("/proc", str(pending.pop()))
            try:
                children = (process / "task" / process.name / "children").read_text().split()
                line = (process / "cmdline").read_bytes().rstrip(b"\0").replace(b"\0", b" ").decode()
            except OSError:
                continue
            pending += map(int, children)
            command_lines[int(process.name)] = line
        return {pid: line for pid, line in command_lines.items() if line and "simulator.sandbox" not in line}

    async def bears(self, bomb: Running) -> None:
        """Wait until a bomb of processes has gone off, and has as many as may be, or was ended since it had more.

        The kernel counts those of a user; where others have the same one, the watch counts those of the server.
        """
        plan = self.sandbox._plan
        if plan.wall == "namespaces" or plan.own_user:
            await until_true(lambda: len(self.processes()) > PROCESSES // 2, "the bomb has gone off")
            assert len(self.processes()) <= PROCESSES
        else:
            await bomb.ended()
            await self.runs(0)

    async def runs(self, number: int, text: str = "") -> None:
        """Wait until so many of its programs' command lines have a text."""

        async def so_many() -> bool:
            return sum(text in line for line in self.processes().values()) == number

        await until(so_many, f"{number} processes with {text!r} run")


Boxes = Callable[[Path], AbstractAsyncContextManager[Box]]


@pytest.fixture(params=WALLS)
def wall(request: pytest.FixtureRequest) -> Wall:
    need(WALLS[request.param])
    wall: Wall = request.param
    return wall


@pytest.fixture
def box(wall: Wall) -> Boxes:
    """Starts a server's sandbox, whose programs reach no process of this machine: a bomb of signals would."""

    @asynccontextmanager
    async def started(folder: Path) -> AsyncIterator[Box]:
        there = Userland(Disk(folder, "ubuntu", DISK), "bomb", {}, wall=wall)
        try:
            box = Box(await there.sandbox())
            outside = os.getpid() if wall == "landlock" else 2**22
            assert await box.does(f"! kill -0 {outside}") == 0
            yield box
        finally:
            await there.stop()

    return started


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: Mapping[str, int] = {"PROCESSES": PROCESSES, "MEMORY": MEMORY, "CPU_SECONDS": 30}
    for name, value in limits.items():
        monkeypatch.setattr(userland, name, value)


async def until_true(holds: Callable[[], bool], what: str) -> None:
    async def is_so() -> bool:
        return holds()

    await until(is_so, what)


async def test_a_bomb_of_processes_ends_with_its_login(box: Boxes, tmp_path: Path) -> None:
    async with box(tmp_path) as there:
        bomb = await there.login("bomb() { bomb | bomb & }; bomb; wait")
        await there.bears(bomb)
        assert await there.does("kill -0 1; exec true") == 0, "another login gets in"
        bomb.close()
        await there.runs(0)
        assert await there.does("exit 3") == 3


async def test_a_bomb_at_a_terminal_ends_with_it(box: Boxes, tmp_path: Path) -> None:
    """Whose jobs have process groups of their own."""
    async with box(tmp_path) as there:
        bomb = await there.sandbox.run_at_terminal([program("bash"), "-i"], (24, 80), {})
        assert bomb.terminal is not None
        os.write(bomb.terminal, b"set -m; bomb() { bomb | bomb & }; bomb\n")
        await there.bears(bomb)
        os.close(bomb.terminal)
        bomb.close()
        await there.runs(0)


@pytest.fixture(params=[signal.SIG_DFL, signal.SIG_IGN], ids=["as usual", "by nohup"])
def hangup(request: pytest.FixtureRequest) -> Iterator[None]:
    """How this process, which starts boxes, treats SIGHUP."""
    before = signal.signal(signal.SIGHUP, request.param)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup")
async def test_what_is_to_outlive_its_login_does(box: Boxes, tmp_path: Path) -> None:
    """However the site was started: its programs do not inherit that it ignores SIGHUP."""
    async with box(tmp_path) as there:
        login = await there.login(
            "nohup sleep 1001 & setsid sleep 1002 & sleep 1003 &"
            " bash -c 'trap : HUP; while :; do sleep 1004; done' & wait"
        )
        expected = {f"sleep {number}" for number in range(1001, 1005)}
        await until_true(lambda: expected <= {*there.processes().values()}, "all have begun")
        job = await there.sandbox.run(["sleep", "1005"], [0, 2, 2])
        login.close()
        outliving = ["sleep 1001", "sleep 1002", "sleep 1005"]
        # A look may miss a process that is given another parent meanwhile, so that one look proves nothing.
        await until_true(lambda: sorted(there.processes().values()) == outliving, "the others have ended")
        assert await there.does("kill -KILL -- -1") == 0, "everything that the customer has left"
        assert await job.ended() == -9
        job.close()


async def test_what_a_login_leaves_behind_ends_when_its_channel_does(box: Boxes, tmp_path: Path) -> None:
    """Its own program has ended before; until then the output of those that it started is waited for."""
    async with box(tmp_path) as there:
        login = await there.login("sleep 2001 & exit 4")
        assert await login.ended() == 4
        await there.runs(1, "sleep 2001")
        login.close()
        await there.runs(0)


async def test_a_bomb_of_memory_leaves_the_others_theirs(box: Boxes, tmp_path: Path) -> None:
    async with box(tmp_path) as there:
        hungry = "b = bytearray(b'x') * (48 << 20); import time; time.sleep(600)"
        bomb = await there.login(f'for i in $(seq 30); do python3 -c "{hungry}" & done; wait; exec sleep 600')
        most = 0

        async def over() -> bool:
            nonlocal most
            most = max(most, there.sandbox.used().memory)
            lines = there.processes().values()
            return sum("bytearray" in line for line in lines) <= MEMORY // (48 * MIB) + 1 and most > MEMORY // 2

        await until(over, "the largest were killed")
        assert most < 2 * MEMORY + 256 * MIB
        assert await there.does("exec true") == 0
        bomb.close()
        await there.runs(0)


@pytest.mark.parametrize(
    "bomb", ["i=0; while :; do i=$((i + 1)); : > f$i; done", "i=0; while :; do i=$((i + 1)); mkdir d$i; done"]
)
async def test_a_bomb_of_empty_files_ends_with_the_disk(box: Boxes, tmp_path: Path, bomb: str) -> None:
    async with box(tmp_path) as there:
        assert await there.does(f"mkdir bomb; cd bomb; {bomb}") == -9
        count = sum(1 for _ in (tmp_path / "home" / "ubuntu" / "bomb").iterdir())
        assert count >= DISK // 4096 // 2
        assert await there.does("rm -r bomb; echo room > room") == 0


async def test_a_bomb_of_output_waits_for_its_reader(box: Boxes, tmp_path: Path) -> None:
    async with box(tmp_path) as there:
        reading, writing = os.pipe2(os.O_CLOEXEC)
        nothing = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        login = await there.sandbox.run(["yes"], [nothing, writing, writing], login=True)
        os.close(writing)
        os.close(nothing)
        assert await asyncio.to_thread(os.read, reading, 2) == b"y\n"
        login.close()
        await there.runs(0)
        os.close(reading)


async def test_sandboxes_have_equal_shares_of_the_processors(box: Boxes, tmp_path: Path) -> None:
    if not any(os.access(folder, os.W_OK) for folder, _ in cgroups.places()):
        lack(Need.CONTROL_GROUPS)
    async with box(tmp_path / "many") as many, box(tmp_path / "one") as one:
        # In sessions of their own, or some kernels would count them as one without any control group.
        bombs = [
            await many.login(f"for i in $(seq 40); do setsid bash -c '{SPIN}' & done; wait"),
            await one.login(SPIN),
        ]
        await until_true(lambda: [*many.processes().values()].count(f"bash -c {SPIN}") == 40, "all have begun")
        before = many.sandbox.used().cpu_seconds, one.sandbox.used().cpu_seconds

        def cpu_seconds_used() -> tuple[float, float]:
            return many.sandbox.used().cpu_seconds - before[0], one.sandbox.used().cpu_seconds - before[1]

        await until_true(lambda: sum(cpu_seconds_used()) > 4.0, "they take the processors' time")
        of_many, of_one = cpu_seconds_used()
        assert of_one > of_many / 4, "each of the programs would have a fortieth"
        for bomb in bombs:
            bomb.close()


def test_a_process_that_ignores_the_end_of_its_login_belongs_to_none() -> None:
    assert not logins._belongs("0", 0), "there is no such process"
