"""Lines on their way to a reader that is slow, gone or comes back."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from ipucloud.process.lines import LineStream, LineWriter
from tests.process import services
from tests.support.waiting import eventually

ROOM = 100_000
LINE = "x" * 99


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    with services.pipe() as ends:
        yield ends


def everything(reading: int, writing: int) -> list[str]:
    """The lines that a pipe holds and that nobody adds to any more."""
    os.close(writing)
    read = b""
    while chunk := os.read(reading, 1 << 16):
        read += chunk
    return read.decode().splitlines()


def test_lines_arrive_whole_and_in_order(pipe: tuple[int, int]) -> None:
    writer = LineWriter(pipe[1])
    lines = [f"{number}: ü {'y' * number}" for number in range(200)]
    for line in lines:
        writer.write_line(line)
    writer.close()
    assert everything(*pipe) == lines
    assert writer.lost == 0


def test_nobody_waits_for_a_pipe_that_is_not_read_and_lost_lines_are_counted(pipe: tuple[int, int]) -> None:
    writer = LineWriter(pipe[1], lambda count: f"lost {count}", room=ROOM)
    for _ in range(5000):
        writer.write_line(LINE)
    lost = writer.lost
    assert 5000 > lost > 5000 - (ROOM + 70_000) / 100
    arrived, counted = b"", 0
    while counted < 5000:  # the writer may count what is lost in several parts
        arrived += os.read(pipe[0], 1 << 16)
        whole = arrived[: arrived.rfind(b"\n") + 1].decode().splitlines()
        reported = sum(int(line.removeprefix("lost ")) for line in whole if line != LINE)
        counted = whole.count(LINE) + reported
    writer.close()
    assert (counted, reported) == (5000, lost)
    assert everything(*pipe) == []


def test_a_refused_line_is_lost_and_nothing_is_raised() -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    for descriptor in (full, -1):
        writer = LineWriter(descriptor)
        for _ in range(3):
            writer.write_line(LINE)
        writer.close()
        assert writer.lost == 3
    os.close(full)


def test_a_new_reader_gets_the_count_of_lost_lines_and_no_torn_line(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    first = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    writing = os.open(path, os.O_WRONLY)
    writer = LineWriter(writing, lambda count: f"lost {count}")
    begun = "a" * 300_000  # more than a pipe holds: its reader leaves in the middle
    writer.write_line(begun)
    eventually(lambda: bool(readable(first)), "the line is begun")
    os.close(first)
    for _ in range(2):
        writer.write_line(LINE)
    eventually(lambda: writer.lost == 2, "what nobody reads is lost")
    second = os.open(path, os.O_RDONLY)
    writer.write_line("again")
    read = b""
    while not read.endswith(b"again\n"):
        read += os.read(second, 1 << 16)
    end, *lines = read.decode().splitlines()
    assert set(end) <= {"a"}
    assert lines == ["lost 2", "again"]
    writer.close()
    for descriptor in (writing, second):
        os.close(descriptor)


def readable(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 1000)
    except BlockingIOError:
        return b""


def test_a_descriptor_that_somebody_made_non_blocking_is_waited_for(pipe: tuple[int, int]) -> None:
    os.set_blocking(pipe[1], False)
    writer = LineWriter(pipe[1])
    for _ in range(2000):
        writer.write_line(LINE)
    arrived = b""
    while len(arrived) < 2000 * 100:
        arrived += os.read(pipe[0], 1 << 16)
    assert arrived.decode().splitlines() == [LINE] * 2000
    writer.close()
    assert (everything(*pipe), writer.lost) == ([], 0)


def test_what_is_printed_becomes_lines() -> None:
    lines: list[str] = []
    stream = LineStream(2, lines.append)
    print("one", "two", file=stream)
    print("th", end="", file=stream)
    print("ree\nfour", file=stream)
    assert lines == ["one two", "three", "four"]
