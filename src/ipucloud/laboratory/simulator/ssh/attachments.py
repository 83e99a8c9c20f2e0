"""Which program holds which IPU, on all servers of a site.

An IPU is held by one program at a time, as on hardware: whoever attaches to one that is taken is refused, on whichever
server of a cluster. What holds is a connection, so that the kernel ends it with the program.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

Ipu = tuple[str, int]
"""A machine's name, and the number of an IPU in it."""


@dataclass(frozen=True)
class Holder:
    """A program that holds IPUs: its process on its server, the command, and when it attached (`Attachments.now`)."""

    server: str
    process: int
    command: str
    user: str
    since: float

    def __str__(self) -> str:
        return f"{self.command} (process {self.process} on {self.server})"


@dataclass
class Attachments:
    """The IPUs of a site that are held."""

    now: Callable[[], float] = time.monotonic
    _holders: dict[Ipu, Holder] = field(default_factory=dict)

    def holder(self, ipu: Ipu) -> Holder | None:
        """Who holds an IPU."""
        return self._holders.get(ipu)

    def acquire(self, ipus: Iterable[Ipu], holder: Holder) -> None:
        """Let `holder` hold these IPUs, which must be free."""
        holders = dict.fromkeys(ipus, holder)
        if not self._holders.keys().isdisjoint(holders):
            raise ValueError("one of these IPUs is held")
        self._holders.update(holders)

    def leave(self, ipus: Iterable[Ipu]) -> None:
        """These IPUs are free again."""
        for ipu in ipus:
            self._holders.pop(ipu, None)


@dataclass(frozen=True)
class Load:
    """What a server's tools need to know of the IPUs that are held: all of them, and which are held from here."""

    attachments: Attachments
    server: str

    def is_busy(self, ipu: Ipu) -> bool:
        return self.attachments.holder(ipu) is not None

    def here(self, ipu: Ipu) -> Holder | None:
        """The program of this server that holds an IPU; the vendor's tools show those of no other."""
        holder = self.attachments.holder(ipu)
        return holder if holder is not None and holder.server == self.server else None

    def seconds(self, holder: Holder) -> int:
        """For how long it has held its IPUs."""
        return int(self.attachments.now() - holder.since)


def by_holder(holders: Iterable[tuple[int, Holder | None]]) -> Mapping[Holder, list[int]]:
    """The device ids that each program holds."""
    together: dict[Holder, list[int]] = {}
    for number, holder in holders:
        if holder is not None:
            together.setdefault(holder, []).append(number)
    return together
