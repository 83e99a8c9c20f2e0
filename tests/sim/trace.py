"""What happened, as a hash: two runs of a seed that differ anywhere differ here."""

from hashlib import blake2b
from typing import TextIO


class Trace:
    """Takes one line per event; prints it too when given somewhere to."""

    def __init__(self, echo: TextIO | None = None) -> None:
        self._hash = blake2b(digest_size=8)
        self._echo = echo
        self.events = 0

    def add(self, now: float, actor: str, event: str) -> None:
        line = f"{now:.2f} {actor} {event}\n"
        self._hash.update(line.encode())
        self.events += 1
        if self._echo is not None:
            self._echo.write(line)

    @property
    def digest(self) -> str:
        return self._hash.hexdigest()
