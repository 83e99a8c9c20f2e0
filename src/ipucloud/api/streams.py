"""Responses that stay open: server-sent events, how many of them there may be, and when they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

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
        self._per_token = settings.streams_per_token
        self._metrics = metrics
        self._open: Counter[bytes] = Counter()

    @contextmanager
    def admitted(self, token_hash: bytes) -> Iterator[None]:
        """One more stream of a token while the block lasts. Raises `Problem` 429 or 503."""
        if self._open[token_hash] >= self._per_token:
            raise Problem(
                TOO_MANY_CONNECTIONS,
                f"This token has {self._per_token} open streams. Close some of them, or share one.",
                headers=AGAIN,
                extra={"limit": self._per_token},
            )
        if self._open.total() >= self._limit:
            raise Problem(UNAVAILABLE, "All streams of this server are in use. Try again shortly.", headers=AGAIN)
        self._open[token_hash] += 1
        self._metrics.streams.inc()
        try:
            yield
        finally:
            self._metrics.streams.dec()
            self._open[token_hash] -= 1
            if not self._open[token_hash]:
                del self._open[token_hash]


class EventStream(StreamingResponse):
    """Server-sent events. `held` is closed at the end, also when the client leaves before the first event."""

    media_type = "text/event-stream"

    def __init__(self, content: AsyncIterator[bytes], held: ExitStack) -> None:
        super().__init__(content, headers=_UNBUFFERED)
        self._held = held

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._held:
            await super().__call__(scope, receive, send)
