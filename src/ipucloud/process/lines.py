"""Writes lines to standard output and standard error; a slow or absent reader cannot block or end the process."""

from __future__ import annotations

import io
import os
import queue
import select
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout

STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR = range(3)
ROOM_BYTES = 1 << 20
PATIENCE_SECONDS = 1.0


def sentence_of_loss(count: int) -> str:
    return f"ipucloud: {count} lines could not be written here and were dropped."


class LineWriter:
    """A thread that writes lines to a descriptor; callers neither wait nor fail.

    Up to `room` bytes wait for a slow reader. Lines beyond that, and lines that the descriptor refuses (a full disk, a
    pipe without a reader), are dropped and counted in `lost`. As soon as writing works again, the line that `report`
    makes of the count is written. A line that was partly written is finished before anything else.

    `write_line` may be called from any thread, from a signal handler and from a finalizer.
    """

    def __init__(
        self, descriptor: int, report: Callable[[int], str] = sentence_of_loss, *, room: int = ROOM_BYTES
    ) -> None:
        self.report = report
        self._descriptor = descriptor
        self._room = room
        self.lost = 0
        # Both reentrant: the garbage collector may run a finalizer that writes a line in the middle of a write.
        self._lock = threading.RLock()
        self._lines: queue.SimpleQueue[bytes | threading.Event] = queue.SimpleQueue()
        self._waiting = 0
        self._reported = 0
        self._begun = b""
        threading.Thread(target=self._run, name="line-writer", daemon=True).start()

    def write_line(self, line: str) -> None:
        data = line.encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            if self._waiting + len(data) > self._room:
                self.lost += 1
            else:
                self._waiting += len(data)
                self._lines.put(data)

    def close(self) -> None:
        """Wait until everything is written, for at most `PATIENCE_SECONDS`."""
        written = threading.Event()
        self._lines.put(written)
        written.wait(PATIENCE_SECONDS)

    def _run(self) -> None:
        while True:
            item = self._lines.get()
            self._report()
            if isinstance(item, threading.Event):
                item.set()
                continue
            written = self._write(item)
            with self._lock:
                self._waiting -= len(item)
                self.lost += not written

    def _report(self) -> None:
        lost = self.lost
        if lost > self._reported and self._write(self.report(lost - self._reported).encode() + b"\n"):
            self._reported = lost

    def _write(self, line: bytes) -> bool:
        """False when nothing of the line was written. The rest of a partly written line is written before the next."""
        if not self._finish():
            return False
        self._begun = line
        if not self._finish() and len(self._begun) == len(line):
            self._begun = b""
            return False
        return True

    def _finish(self) -> bool:
        while self._begun:
            try:
                self._begun = self._begun[os.write(self._descriptor, self._begun) :]
            except BlockingIOError:  # another process that shares the pipe made it non-blocking
                poll = select.poll()
                poll.register(self._descriptor, select.POLLOUT)
                poll.poll()
            except OSError:
                return False
        return True


class LineStream(io.TextIOBase):
    """Replaces `sys.stdout` or `sys.stderr`: passes every whole printed line to `take`."""

    def __init__(self, descriptor: int, take: Callable[[str], object]) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._take = take
        self._lock = threading.RLock()
        self._unfinished = ""

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor

    def isatty(self) -> bool:
        return os.isatty(self._descriptor)

    def write(self, text: str) -> int:
        with self._lock:
            *lines, self._unfinished = (self._unfinished + text).split("\n")
        for line in lines:
            self._take(line)
        return len(text)


def hold_standard_descriptors() -> None:
    """Open the null device for every standard stream that was closed at the start.

    Otherwise the next file or socket would get its number, and receive the lines meant for the stream.
    """
    for number in (STANDARD_INPUT, STANDARD_OUTPUT, STANDARD_ERROR):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # takes the lowest free number


@contextmanager
def patient_output() -> Iterator[None]:
    """While the block lasts, printing to standard output and standard error never blocks."""
    hold_standard_descriptors()
    out, err = LineWriter(STANDARD_OUTPUT), LineWriter(STANDARD_ERROR)
    with (
        redirect_stdout(LineStream(STANDARD_OUTPUT, out.write_line)),
        redirect_stderr(LineStream(STANDARD_ERROR, err.write_line)),
    ):
        try:
            yield
        finally:
            out.close()
            err.close()
