"""Bytes between descriptors of this process and whoever wants or has them, without ever waiting for either."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress

CHUNK = 32 * 1024
HIGH_WATER = 64 * 1024


class Source:
    """Feeds what a descriptor gives, and says when it has ended. Owns the descriptor."""

    def __init__(self, descriptor: int, feed: Callable[[bytes], None], ended: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._feed = feed
        self._ended = ended
        self._loop = asyncio.get_running_loop()
        self._open = self._reading = True
        os.set_blocking(descriptor, False)
        self._loop.add_reader(descriptor, self._ready)

    def pause(self) -> None:
        if self._open and self._reading:
            self._reading = False
            self._loop.remove_reader(self._descriptor)

    def resume(self) -> None:
        if self._open and not self._reading:
            self._reading = True
            self._loop.add_reader(self._descriptor, self._ready)

    def close(self) -> None:
        if self._open:
            self.pause()
            self._open = False
            os.close(self._descriptor)

    def _ready(self) -> None:
        try:
            data = os.read(self._descriptor, CHUNK)
        except BlockingIOError:
            return
        except OSError:  # a terminal whose last program is gone
            data = b""
        if data:
            self._feed(data)
        else:
            self.close()
            self._ended()


class Sink:
    """Writes to a descriptor what it is given, and asks for a pause while too much waits. Owns the descriptor."""

    def __init__(self, descriptor: int, pause: Callable[[], None], resume: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._pause = pause
        self._resume = resume
        self._loop = asyncio.get_running_loop()
        self._waiting = bytearray()
        self._open, self._finished, self._paused = True, False, False
        os.set_blocking(descriptor, False)

    def write(self, data: bytes) -> None:
        if not self._open or self._finished:
            return
        if not self._waiting:
            self._loop.add_writer(self._descriptor, self._ready)
        self._waiting += data
        if len(self._waiting) > HIGH_WATER and not self._paused:
            self._paused = True
            self._pause()

    def finish(self) -> None:
        """Close once everything is written."""
        self._finished = True
        if not self._waiting:
            self.close()

    def close(self) -> None:
        if self._open:
            if self._waiting:
                self._loop.remove_writer(self._descriptor)
                self._waiting.clear()
            self._open = False
            os.close(self._descriptor)
            self._let_on()

    def _ready(self) -> None:
        written = 0
        with suppress(BlockingIOError):
            try:
                written = os.write(self._descriptor, self._waiting[:CHUNK])
            except BlockingIOError:
                raise
            except OSError:  # nobody reads any more
                self.close()
                return
        del self._waiting[:written]
        if not self._waiting:
            self._loop.remove_writer(self._descriptor)
            if self._finished:
                self.close()
        if len(self._waiting) <= HIGH_WATER:
            self._let_on()

    def _let_on(self) -> None:
        if self._paused:
            self._paused = False
            self._resume()
