"""What a caller sends, read ahead, so that it shows while an answer is awaited that the caller has hung up."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.requests import ClientDisconnect
from starlette.types import Message, Receive

Result = TypeVar("Result")


class Incoming:
    """The messages of one request. `receive` stands for that of ASGI; `close` once it was answered.

    One message is read ahead: what the server holds back for lack of a reader is no more than that.
    """

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._ahead: asyncio.Queue[Message] = asyncio.Queue(1)
        self._gone = asyncio.Event()
        self._listening: asyncio.Task[None] | None = None

    async def receive(self) -> Message:
        self._listen()
        return await self._ahead.get()

    async def unless_hung_up(self, work: Coroutine[Any, Any, Result]) -> Result:
        """The result of `work`, which is cancelled when the caller is gone. Raises ClientDisconnect then."""
        self._listen()
        working = asyncio.create_task(work)
        gone = asyncio.create_task(self._gone.wait())
        try:
            await asyncio.wait({working, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                raise ClientDisconnect
            return working.result()
        finally:
            gone.cancel()
            working.cancel()
            await asyncio.wait({working, gone})

    def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()

    def _listen(self) -> None:
        if self._listening is None:
            self._listening = asyncio.create_task(self._run(), name="incoming")

    async def _run(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "http.disconnect":
                self._gone.set()
            await self._ahead.put(message)
