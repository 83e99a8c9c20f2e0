"""Connections that wait for their clients, in order."""

from __future__ import annotations

from enum import IntEnum
from itertools import islice, takewhile
from typing import Protocol


class Wait(IntEnum):
    """What a connection waits for, in the order in which connections are closed to make room for others."""

    CLOSE = 0
    """It was refused, and may read why."""
    HEADER = 1
    IDLE = 2
    BODY = 3
    READ = 4
    """There is an answer that the client does not read."""


class Connection(Protocol):
    """What the connections of a listener have to do with one another."""

    address: str
    peer: Peer | None
    waiting: Wait | None

    def shed(self) -> None:
        """Close at once: another connection needs the room."""

    def overdue(self, now: float) -> None:
        """What it waits for has not come in time. Afterwards it does not wait for that since then."""


class Waits:
    """For every kind of waiting the connections that do, and since when; the longest first."""

    __slots__ = ("_since",)

    def __init__(self) -> None:
        self._since: list[dict[Connection, float]] = [{} for _ in Wait]

    def move(self, connection: Connection, kind: Wait | None, now: float) -> None:
        """Take it from where it waits, and have it wait for `kind`, if for anything."""
        if connection.waiting is not None:
            del self._since[connection.waiting][connection]
        if kind is not None:
            self._since[kind][connection] = now

    def first(self) -> Connection | None:
        """Who is closed first when there is no room: what says least, and of these the one that has waited longest."""
        for connections in self._since:
            for connection in connections:
                return connection
        return None

    def since(self, kind: Wait, before: float, limit: int) -> list[Connection]:
        """At most `limit` connections that wait since `before` or longer."""
        waiting = takewhile(lambda entry: entry[1] <= before, self._since[kind].items())
        return [connection for connection, _ in islice(waiting, limit)]


class Peer:
    """The connections that come from one address. `trusted`: it speaks for many clients and has no limit."""

    __slots__ = ("connections", "key", "trusted", "waits")

    def __init__(self, key: str, *, trusted: bool) -> None:
        self.key = key
        self.trusted = trusted
        self.connections = 0
        self.waits = Waits()
