"""The client for asyncio code: `Client` with coroutines."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Self, TypeVar

import httpx

from ipucloud.client.call import Call, Ref, Tagged
from ipucloud.client.exchange import (
    Effect,
    Exchange,
    Flow,
    Lost,
    Outcome,
    Pause,
    Progress,
    Received,
    configured,
)
from ipucloud.client.models import Operation, Page
from ipucloud.client.retry import Retry
from ipucloud.client.streaming import Resumed
from ipucloud.client.transport import is_stream, lost, options, received

Result = TypeVar("Result")


class AsyncClient:
    """Runs calls against one service, as one token; see `Client` for every argument and error."""

    def __init__(
        self,
        url: str | None = None,
        token: str | None = None,
        *,
        project: str | None = None,
        retry: Retry | None = None,
        timeout: float = 30.0,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self._exchange = Exchange(*configured(url, token, project), retry or Retry(), timeout, clock)
        self._sleep = sleep
        self._http = httpx.AsyncClient(transport=transport, **options(self.url))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    @property
    def url(self) -> str:
        """URL of the service, without a trailing slash."""
        return self._exchange.url

    async def close(self) -> None:
        await self._http.aclose()

    async def run(self, call: Call[Result]) -> Result:
        """Run `call`. Raises ApiError, UnreachableError or UnexpectedAnswerError."""
        return await self._drive(self._exchange.run(call))

    async def run_tagged(self, call: Call[Result]) -> Tagged[Result]:
        """As `run`, with the entity tag for `if_match` of a change."""
        return await self._drive(self._exchange.tagged(call))

    async def send(
        self,
        method: str,
        path: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        hold: float = 0.0,
        repeat: bool = True,
    ) -> Received:
        """Send a request to a path of the service; see `Client.send`."""
        return await self._drive(self._exchange.send(method, path, headers or {}, content, hold=hold, repeat=repeat))

    async def items(self, call: Call[Page[Result]]) -> AsyncIterator[Result]:
        """Every item of a list, fetched page by page."""
        while True:
            page = await self.run(call)
            for item in page.items:
                yield item
            if page.next_cursor is None:
                return
            call = call.after(page.next_cursor)

    async def wait(
        self,
        operation: Operation | Ref,
        on_progress: Progress | None = None,
        *,
        patience: float | None = None,
        hold: int = 20,
        project: str | None = None,
    ) -> Operation:
        """Wait until the operation has succeeded; see `Client.wait`."""
        return await self._drive(self._exchange.wait(operation, on_progress, patience, hold, project))

    async def until(
        self,
        call: Call[Result],
        done: Callable[[Result], bool],
        on_progress: Callable[[Result], None] | None = None,
        *,
        patience: float | None = None,
        pause: float = 1.0,
    ) -> Result:
        """Read an object until `done` of it; see `Client.until`."""
        return await self._drive(self._exchange.until(call, done, on_progress, patience, pause))

    async def stream(self, call: Call[Result], on_gap: Callable[[], None] | None = None) -> AsyncIterator[Result]:
        """Items of a stream, as they come; see `Client.stream`."""
        resumed = Resumed(self._exchange, await self._drive(self._exchange.request(call)), call, on_gap)
        while True:
            request = resumed.request()
            outcome: Received | Lost | None = None
            try:
                async with self._http.stream(
                    request.method, request.url, headers=request.headers, timeout=request.timeout
                ) as response:
                    if is_stream(response):
                        async for piece in response.aiter_bytes():
                            for item in resumed.items(piece):
                                yield item
                    else:
                        await response.aread()
                        outcome = received(response)
            except httpx.TransportError as error:
                outcome = lost(error)
            await self._sleep(resumed.pause(outcome))

    async def _drive(self, flow: Flow[Result]) -> Result:
        outcome: Outcome = None
        try:
            while True:
                outcome = await self._perform(flow.send(outcome))
        except StopIteration as end:
            result: Result = end.value
            return result

    async def _perform(self, effect: Effect) -> Outcome:
        if isinstance(effect, Pause):
            await self._sleep(effect.seconds)
            return None
        try:
            return received(
                await self._http.request(
                    effect.method, effect.url, headers=effect.headers, content=effect.content, timeout=effect.timeout
                )
            )
        except httpx.TransportError as error:
            return lost(error)
