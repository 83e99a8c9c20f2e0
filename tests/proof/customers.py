"""Customers at work: they create, wait, read, delete, and repeat under the same key what was not confirmed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import httpx

from tests.api.support import cluster_json, key
from tests.support.factories import Project
from tests.support.waiting import PATIENCE

PAUSE = 0.05
HANG_SECONDS = 90.0
"""A request that takes longer than this is taken for one that hangs; how long the slowest took is a figure."""


@dataclass
class Register:
    """Requests and answers. `acknowledged`: the names of tokens whose creation was confirmed."""

    acknowledged: set[str] = field(default_factory=set)
    clusters: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    faults: list[str] = field(default_factory=list)
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    begun: float = field(default_factory=time.monotonic)
    _numbers: Any = field(default_factory=count)

    def fresh(self) -> str:
        return f"name-{next(self._numbers)}"

    def figures(self) -> dict[str, object]:
        return {
            "acknowledged": len(self.acknowledged),
            "clusters": self.clusters,
            "slowest_seconds": round(self.slowest, 2),
            "requests_per_second": round(self.answers.total() / (time.monotonic() - self.begun)),
            **self.answers,
        }


class Customer:
    """Sends every request to the next server of `servers()`. `strict`: nothing but success is taken.

    `pause`: seconds between two polls of something that is not done yet.
    """

    def __init__(
        self,
        project: Project,
        register: Register,
        servers: Callable[[], Sequence[httpx.AsyncClient]],
        *,
        strict: bool = False,
        pause: float = PAUSE,
    ) -> None:
        self._base = f"/v1/projects/{project.slug}"
        self._token = {"Authorization": f"Bearer {project.token.secret}"}
        self._register = register
        self._servers = servers
        self._turn = count()
        self._strict = strict
        self._pause = pause

    async def live(self) -> None:
        """Clusters, tokens and reads, until asked to stop; what was begun is finished."""
        while not self._register.stopping.is_set():
            await self._make_token()
            await self._make_cluster()

    async def only_tokens(self) -> None:
        while not self._register.stopping.is_set():
            await self._make_token()
            await self._send("GET", "/tokens")
            await self._send("GET", "/clusters")
            await asyncio.sleep(self._pause)

    async def _make_token(self) -> None:
        name = self._register.fresh()
        await self._send("POST", "/tokens", {"name": name, "role": "viewer"})
        self._register.acknowledged.add(name)

    async def _make_cluster(self) -> None:
        answer = await self._send("POST", "/clusters", cluster_json(self._register.fresh()))
        assert answer["kind"] == "cluster.create"
        done = await self._finished(answer["id"])
        assert done["state"] == "succeeded", done
        cluster = f"/clusters/{answer['target']['id']}"
        assert (await self._send("GET", cluster))["state"] == "active"
        gone = await self._send("DELETE", cluster)
        assert (await self._finished(gone["id"]))["state"] == "succeeded"
        self._register.clusters += 1

    async def _finished(self, operation: str) -> Mapping[str, Any]:
        while True:
            operation_json = await self._send("GET", f"/operations/{operation}")
            if operation_json["done"]:
                return operation_json
            await asyncio.sleep(self._pause)

    async def _send(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Mapping[str, Any]:
        """The answer's document; asks again under the same key until there is one."""
        headers = self._token | (key() if method == "POST" else {})
        while True:
            answer = await self._once(method, self._base + path, headers, body)
            if answer is not None:
                document: Mapping[str, Any] = answer.json() if answer.content else {}
                return document
            await asyncio.sleep(self._pause)

    async def _once(
        self, method: str, path: str, headers: Mapping[str, str], body: Mapping[str, object] | None
    ) -> httpx.Response | None:
        """None when the request has to be sent again."""
        servers = self._servers()
        client = servers[next(self._turn) % len(servers)]
        begun = time.monotonic()
        try:
            answer = await client.request(method, path, headers=headers, json=body, timeout=HANG_SECONDS)
        except httpx.TransportError as error:
            self._register.answers[type(error).__name__] += 1
            if self._strict or isinstance(error, httpx.ReadTimeout):
                self._register.faults.append(f"{method} {path}: {error!r}")
            return None
        finally:
            self._register.slowest = max(self._register.slowest, time.monotonic() - begun)
        self._register.answers[str(answer.status_code)] += 1
        if answer.is_success:
            return answer
        if self._strict or not _says_later(answer):
            self._register.faults.append(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
        return None


def _says_later(answer: httpx.Response) -> bool:
    """Unavailable, no turn behind others of the project, or the first try still under way: with the time after which
    to ask again, and nothing else.
    """
    later = answer.json().get("code") in {"unavailable", "rate_limited", "idempotency_in_progress"}
    return later and answer.status_code in {409, 429, 503} and int(answer.headers.get("retry-after", 0)) >= 1


async def more_writes(register: Register, number: int) -> float:
    """Return once so many more were acknowledged: service is back to normal. The seconds until the first of them."""
    begun, first = time.monotonic(), len(register.acknowledged)
    back: float | None = None
    async with asyncio.timeout(PATIENCE):
        while (acknowledged := len(register.acknowledged)) < first + number:
            if back is None and acknowledged > first:
                back = time.monotonic() - begun
            await asyncio.sleep(0.01)
    return time.monotonic() - begun if back is None else back


@dataclass(frozen=True)
class Crowd:
    """So many who make clusters, and so many who make tokens only."""

    builders: int
    scribes: int
    pause: float = PAUSE

    @asynccontextmanager
    async def at_work(
        self,
        project: Project,
        register: Register,
        servers: Callable[[], Sequence[httpx.AsyncClient]],
        *,
        strict: bool = False,
    ) -> AsyncIterator[None]:
        """They finish what they began when the block is left."""
        customers = [
            Customer(project, register, servers, strict=strict, pause=self.pause)
            for _ in range(self.builders + self.scribes)
        ]
        work = [each.live() for each in customers[: self.builders]]
        running = asyncio.gather(*work, *(each.only_tokens() for each in customers[self.builders :]))
        try:
            yield
            register.stopping.set()
            async with asyncio.timeout(PATIENCE):
                await running
        finally:
            running.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await running


FULL_CROWD = Crowd(24, 4, 0.2)
"""Clusters in the making at any time; two cores do not carry the fifty of the goal."""
