"""Reading a body, in JSON or a form: bounded in size and depth, and strict."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from typing import Any, ClassVar, TypeVar
from urllib.parse import parse_qsl

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive

from ipucloud.kernel.errors import BODY_TOO_LARGE, MALFORMED_REQUEST, UNSUPPORTED_MEDIA_TYPE, Problem

DEEPEST = 32
_EXACT = 2**53
"""A double beyond this may not be the integer that was written (RFC 8259, section 6)."""
_MOST_FIELDS = 100
_LONGEST_KEY = 64
"""A longer key is not named in a refusal."""
_MERGE_PATCH = "application/merge-patch+json"
_CHARSETS = frozenset({"", "charset=utf-8", 'charset="utf-8"'})


class JsonRequest(Request):
    """A request whose body, if any, is JSON. `load` reads and checks it; `body` and `json` then give it."""

    media_types: tuple[str, ...] = ("application/json",)
    key_as_compared: ClassVar[Callable[[str], str] | None] = None
    """For bodies in which different texts are the same key."""
    _raw: bytes = b""
    _value: Any = None

    async def load(self, limit: int) -> None:
        """Read the body.

        Raises `Problem`: 413 beyond `limit` bytes, 415 for another media type or an encoding, 400 for invalid JSON,
        nesting deeper than `DEEPEST`, or a key that an object has twice.
        """
        self._raw = await self._bounded(limit)
        if not self._raw:
            return
        self._require_media_type()
        self._value = self._parsed()

    def _parsed(self) -> Any:
        try:
            value = orjson.loads(self._raw)
        except orjson.JSONDecodeError:
            raise malformed("The body is not valid JSON. Send one value in UTF-8 (RFC 8259).") from None
        value, keys = _checked(value)
        same = type(self).key_as_compared
        # Every member has a colon: where there are no more of them than keys were kept, none was dropped.
        if same is not None or self._raw.count(b":") > keys:
            _require_distinct_keys(self._raw, same or str)
        return value

    async def body(self) -> bytes:
        return self._raw

    async def json(self) -> Any:
        return self._value

    async def _bounded(self, limit: int) -> bytes:
        declared = self.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > limit:
            raise too_large(limit)
        received = bytearray()
        try:
            async for chunk in self.stream():
                received += chunk
                if len(received) > limit:
                    raise too_large(limit)
        except ClientDisconnect:  # or too slow: the server has responded and closes the connection
            raise malformed("The body was incomplete.") from None
        return bytes(received)

    def _require_media_type(self) -> None:
        media_type, _, parameter = self.headers.get("content-type", "").partition(";")
        identity = self.headers.get("content-encoding", "identity").lower() == "identity"
        charset = parameter.strip().lower() in _CHARSETS
        named = media_type.strip().lower()
        if named not in self.media_types or not charset or not identity:
            sentence = f"Send the body as `Content-Type: {self.media_types[0]}`, in UTF-8 and without Content-Encoding."
            if named == _MERGE_PATCH:
                sentence += " A field of it replaces the present one as a whole, also tags, which RFC 7396 would merge."
            accepted = {"Accept-Patch": ", ".join(self.media_types)} if self.method == "PATCH" else {}
            raise Problem(UNSUPPORTED_MEDIA_TYPE, sentence, headers=accepted)


class FormRequest(JsonRequest):
    """A request whose body is a form, as protocols of OAuth send it. `json` gives its fields; each is a text."""

    media_types = ("application/x-www-form-urlencoded",)

    def _parsed(self) -> dict[str, str]:
        try:
            pairs = parse_qsl(self._raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS)
        except ValueError:  # not UTF-8, or too many fields
            raise malformed("The body is not a form in UTF-8.") from None
        fields = dict(pairs)
        if len(fields) < len(pairs):
            raise malformed("The form has a field twice. Send each once.")
        return fields


def malformed(detail: str) -> Problem:
    """400 for a request that cannot be read."""
    return Problem(MALFORMED_REQUEST, detail)


def _require_distinct_keys(raw: bytes, same: Callable[[str], str]) -> None:
    """Refuse valid JSON with an object in which a key is twice: parsers differ in which of its values counts."""

    def distinct(members: list[tuple[str, object]]) -> None:
        keys: set[str] = set()
        for key, _ in members:
            if same(key) in keys:
                named = f" {json.dumps(key, ensure_ascii=False)}" if len(key) <= _LONGEST_KEY else ""
                raise malformed(f"The body has an object with the key{named} twice. Send each key once.")
            keys.add(same(key))

    json.loads(raw, object_pairs_hook=distinct)


def _checked(value: object) -> tuple[object, int]:
    """The value, and how many keys it has; `3.0` becomes the integer that JSON Schema says it is (2020-12, 4.2.3).

    Bounds the nesting, and refuses the one character PostgreSQL cannot store; without recursion.
    """
    whole: list[object] = [value]
    level: list[dict[str, object] | list[object]] = [whole]
    keys = 0
    for _ in range(DEEPEST + 1):
        below: list[dict[str, object] | list[object]] = []
        for container in level:
            if isinstance(container, dict):
                keys += len(container)
            pairs = container.items() if isinstance(container, dict) else enumerate(container)
            for place, item in pairs:
                if isinstance(item, dict | list):
                    below.append(item)
                elif isinstance(item, float) and item.is_integer() and abs(item) <= _EXACT:
                    container[place] = int(item)  # type: ignore[index]
                if _has_nul(place) or _has_nul(item):
                    raise malformed("A string in the body contains the character U+0000.")
        if not below:
            return whole[0], keys
        level = below
    raise malformed(f"The body is nested deeper than {DEEPEST} levels.")


def _has_nul(value: object) -> bool:
    return isinstance(value, str) and "\x00" in value


def too_large(limit: int) -> Problem:
    """413 for a body of more than `limit` bytes."""
    return Problem(
        BODY_TOO_LARGE, f"A body has at most {limit} bytes.", headers={"Connection": "close"}, extra={"limit": limit}
    )


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
