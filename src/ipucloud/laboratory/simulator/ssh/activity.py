"""Whether anybody uses a Poplar server: open logins, and IPUs that programs hold."""

from __future__ import annotations

import time
from collections.abc import Callable


class Activity:
    """Counts logins, of clients that have proved who they are, and attached IPUs. Idle times count from the boot."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._logins: set[object] = set()
        self._last = now()
        self.attached_ipus = 0

    @property
    def sessions(self) -> int:
        return len(self._logins)

    @property
    def idle_seconds(self) -> float:
        """Whole seconds since it was last in use; 0 while it is."""
        return 0.0 if self._logins or self.attached_ipus else float(int(self._now() - self._last))

    def login(self, connection: object) -> None:
        self._logins.add(connection)

    def logout(self, connection: object) -> None:
        """The connection has ended; one that never logged in is no use."""
        if connection in self._logins:
            self._logins.discard(connection)
            self._last = self._now()

    def attach(self, ipus: int) -> None:
        """A program has attached to so many IPUs; negative: it has left them."""
        self.attached_ipus += ipus
        self._last = self._now()
