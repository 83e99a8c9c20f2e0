"""Following the log as it grows: one reader of it per process, however many follow it.

A subscription gets the events of its reader (a project, a billing account, or the operators) in the log's order,
none missing and none twice. It keeps few of them: when its subscriber is slow, or has only just come, it reads the log
itself until it has caught up.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from ipucloud.db.engine import Database
from ipucloud.events.feed import FeedEvent, Position
from ipucloud.events.news import Feed
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import Problem

POLL_SECONDS = 0.25
PAUSE_SECONDS = 1.0
"""After a read that failed."""
BATCH = 1000
"""Events of one read, for all subscriptions together."""
KEPT = 500
"""Events that a subscription keeps for its subscriber; they are shared by all subscriptions of a reader."""
PAGE = 200
"""Events of a read for one subscription."""

log = structlog.get_logger(__name__)


class Subscription:
    """The events of one reader, for one subscriber."""

    def __init__(self, feed: Feed, reader: UUID, database: Database) -> None:
        self.reader = reader
        self._feed = feed
        self._database = database
        self._kept: deque[FeedEvent] = deque()
        self._behind: Position | None = None
        """What comes after this is kept; what comes before has to be read. None: unknown."""
        self.caught_up = False
        """Nothing has to be read before what is kept."""
        self._woken = asyncio.Event()
        self.over = False
        """No more events will come."""

    async def after(self, position: Position, seconds: float) -> list[FeedEvent]:
        """The next events after a position; none if there are none within `seconds`, or when it is over.

        Positions never go back from one call to the next. Raises a `Problem` when the database does not answer.
        """
        if not self._kept and (self._behind is None or self.caught_up):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._woken.wait()
        self._woken.clear()
        if self._behind is None or self.over:
            return []
        if not self.caught_up and position < self._behind:
            return await self._read(position, self._behind)
        self.caught_up = True
        events = [event for event in self._kept if event.position > position]
        self._kept.clear()
        return events

    async def _read(self, position: Position, behind: Position) -> list[FeedEvent]:
        async with self._database.read() as connection:
            page = await self._feed.page(connection, self.reader, behind=position, limit=PAGE)
        if len(page) < PAGE and behind is self._behind:  # unless it fell behind again meanwhile
            self.caught_up = True
        return page

    def begin(self, position: Position) -> None:
        """Everything after this position is going to be put, or has been."""
        if self._behind is None:
            self._behind = position
            self._woken.set()

    def put(self, event: FeedEvent, end: Position) -> None:
        """An event of a batch that ends at a position."""
        if self._behind is None or event.position <= self._behind:
            return
        if len(self._kept) < KEPT:
            self._kept.append(event)
        else:
            self._kept.clear()
            self._behind, self.caught_up = end, False
        self._woken.set()

    def finish(self) -> None:
        self.over = True
        self._woken.set()


class Follower:
    """What a process reads of a feed, once for all. It reads only while somebody is subscribed."""

    def __init__(self, feed: Feed, database: Database, clock: Clock) -> None:
        self._feed = feed
        self._database = database
        self._clock = clock
        self._subscriptions: dict[UUID, set[Subscription]] = {}
        self._behind: Position | None = None
        self._asked = asyncio.Event()
        self._read_at = 0.0
        self._over = False

    @contextmanager
    def subscribed(self, reader: UUID) -> Iterator[Subscription]:
        """A subscription while the block lasts."""
        subscription = Subscription(self._feed, reader, self._database)
        if self._over:
            subscription.finish()
        if not self._subscriptions:
            self._read_at = self._clock.monotonic()
        self._subscriptions.setdefault(reader, set()).add(subscription)
        self._asked.set()
        try:
            yield subscription
        finally:
            others = self._subscriptions[reader]
            others.remove(subscription)
            if not others:
                del self._subscriptions[reader]

    def lag(self) -> float:
        """Seconds since the log was last read to its end; 0 while nobody is subscribed."""
        return self._clock.monotonic() - self._read_at if self._subscriptions else 0.0

    def finish(self) -> None:
        """End all subscriptions, now and from now on."""
        self._over = True
        for subscription in self._all():
            subscription.finish()

    async def run(self) -> None:
        """Read until cancelled."""
        while True:
            if not self._subscriptions:
                self._behind = None
                await self._asked.wait()
            self._asked.clear()
            try:
                more = await self._read()
            except (Problem, SQLAlchemyError) as error:
                log.warning("events_not_read", error=type(error).__name__)
                await self._clock.sleep(PAUSE_SECONDS)
                continue
            if not more:
                self._read_at = self._clock.monotonic()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(POLL_SECONDS):
                        await self._asked.wait()

    async def _read(self) -> bool:
        """Read one batch, and pass it on. True when there is more.

        Only who was there before the read gets it: the others' events were not asked for.
        """
        present, readers = self._all(), list(self._subscriptions)
        async with self._database.read() as connection:
            events, end, more = await self._feed.news(connection, readers, behind=self._behind, limit=BATCH)
        by_reader: dict[UUID, list[Subscription]] = {}
        for subscription in present:
            subscription.begin(self._behind or end)
            by_reader.setdefault(subscription.reader, []).append(subscription)
        for reader, event in events:
            for subscription in by_reader[reader]:
                subscription.put(event, end)
        self._behind = end
        return more

    def _all(self) -> list[Subscription]:
        return [each for subscriptions in self._subscriptions.values() for each in subscriptions]
