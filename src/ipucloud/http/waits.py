"""Connections that wait for their clients, in order."""

from __future__ import annotations

from enum import IntEnum
from itertools import islice, takewhile
from typing import Protocol


class Wait(IntEnum):
    """What a connection waits for, in the order in which connections are closed to make room."""

    CLOSE = 0
    """It was refused, and may read the reason."""
    HEADER = 1
    IDLE = 2
    BODY = 3
    READ = 4
    """The client does not read its answer."""


class Connection(Protocol):
    """What a listener's connections require of each other."""

    address: str
    peer: Peer | None
    waiting: Wait | None

    def shed(self) -> None:
        """Close at once: another connection needs the room."""

    def overdue(self, now: float) -> None:
        """Its deadline has passed. It is no longer counted as waiting."""


class Waits:
    """The connections in each kind of waiting, and since when; the longest first."""

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since: list[dict[Connection, float]] = [{} for _ in Wait]

    def move(self, connection: Connection, kind: Wait | None, now: float) -> None:
        """Move it to waiting for `kind`, or to no waiting."""
        if connection.waiting is not None:
            del self._since[connection.waiting][connection]
        if kind is not None:
            self._since[kind][connection] = now

    def first(self) -> Connection | None:
        """The first to close when there is no room: the most silent kind, and of these the longest waiting."""
        for connections in self._since:
            for connection in connections:
                return connection
        return None

    def since(self, kind: Wait, before: float, limit: int) -> list[Connection]:
        """At most `limit` connections that have waited since `before` or longer."""
        waiting = takewhile(lambda entry: entry[1] <= before, self._since[kind].items())
        return [connection for connection, _ in islice(waiting, limit)]


class Peer:
    """The connections from one address. `trusted`: it serves many clients and has no limit."""

    __slots__ = ("connections", "key", "trusted", "waits")

    def __init__(self, key: str, *, trusted: bool) -> None:
        self.key = key
        self.trusted = trusted
        self.connections = 0
        self.waits = Waits()
