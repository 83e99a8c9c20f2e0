"""Responses that stay open: server-sent events, how many of them there may be, and when they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from uuid import UUID

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from ipucloud.api.metrics import Metrics
from ipucloud.config import Settings
from ipucloud.events.following import Follower
from ipucloud.kernel.errors import TOO_MANY_CONNECTIONS, UNAVAILABLE, Problem

RETRY_MILLISECONDS = 1000
"""How long browsers wait before they open an ended stream again."""
AGAIN = {"Retry-After": "5"}
_UNBUFFERED = {"X-Accel-Buffering": "no"}
"""nginx and others pass on what they get at once."""


@dataclass(frozen=True, slots=True)
class Followers:
    """What reads the event log for the streams of this process."""

    projects: Follower
    accounts: Follower
    operators: Follower

    def __iter__(self) -> Iterator[Follower]:
        yield from (self.projects, self.accounts, self.operators)

    def lag(self) -> float:
        """As `Follower.lag`, of the one that is furthest behind."""
        return max(each.lag() for each in self)


class Streams:
    """The open streams of one process."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self._limit = settings.stream_limit
        self._per_project = settings.streams_per_project
        self._metrics = metrics
        self._open: Counter[UUID] = Counter()

    @contextmanager
    def admitted(self, reader: UUID) -> Iterator[None]:
        """One more stream of a project, or of an account, while the block lasts. Raises `Problem` 429 or 503."""
        if self._open[reader] >= self._per_project:
            raise Problem(
                TOO_MANY_CONNECTIONS,
                f"{self._per_project} streams of these events are open. Close some of them, or share one.",
                headers=AGAIN,
                extra={"limit": self._per_project},
            )
        if self._open.total() >= self._limit:
            raise Problem(UNAVAILABLE, "All streams of this server are in use. Try again shortly.", headers=AGAIN)
        self._open[reader] += 1
        self._metrics.streams.inc()
        try:
            yield
        finally:
            self._metrics.streams.dec()
            self._open[reader] -= 1
            if not self._open[reader]:
                del self._open[reader]


class EventStream(StreamingResponse):
    """Server-sent events. `held` is closed at the end, also when the client leaves before the first event."""

    media_type = "text/event-stream"

    def __init__(self, content: AsyncIterator[bytes], held: ExitStack) -> None:
        super().__init__(content, headers=_UNBUFFERED)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._held:
            await super().__call__(scope, receive, send)
