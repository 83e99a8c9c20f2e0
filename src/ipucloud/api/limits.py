"""Requests per token, project or address: a bucket that fills at a steady rate.

Buckets are of a process, and `shared_limits` counts in them what the others gave. They protect the processes and their
database from one caller; quotas and cost limits are enforced in the database.

A token has its own bucket once it was authenticated. Until then it may be invalid, and checking it costs a query, so
the request counts against its source address. What the tokens, people and sessions of a project ask for together counts
against the project as well: whoever has many tokens has no more of the service than others. Operators do not count
there. The project is also whose turn it is at the database (`db.turns`).
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from uuid import UUID

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ipucloud.api.credentials import UsedTokens, credentials
from ipucloud.api.metrics import Metrics
from ipucloud.api.problems import problem_response
from ipucloud.api.trace import Trace, scope_trace
from ipucloud.db.turns import CALLER
from ipucloud.http.limits import subscriber
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import RATE_LIMITED, UNAUTHENTICATED, Problem
from ipucloud.parts import PARTS

MAX_BUCKETS = 10_000
"""Maximum number of buckets; the least recently used is dropped first, which can only refill it."""


LIMITED = ("/v1/", *(part.errors_below for part in PARTS if part.errors_below))
"""How paths begin that need a credential."""
PROBES = ("/livez", "/readyz")
"""What a load balancer asks, as often as it likes."""
OF_A_PAGE = 0.125
"""What any other path counts: a page of the control panel is dozens of small files."""
REFUSED_SECONDS = 1.0
"""A caller who was refused in the last so many seconds waits as long for its next refusal. One that asks again at once
would keep the processors busy with refusals, and `Retry-After` says a second at least."""
UNSHARED = 7 / 8
"""Part of a burst above which other processes do not hear of a caller."""


@dataclass(slots=True)
class Bucket:
    """`level` requests are available at the monotonic time `at`.

    `consumed`: how many were taken here that no other process knows of. `known`: how many all processes had taken
    together when that was last looked up, at the monotonic time `known_at`. `refused_at`: when the last request was
    refused.
    """

    level: float
    at: float
    consumed: float = 0
    known: int = 0
    known_at: float = -math.inf
    refused_at: float = -math.inf


class RateLimiter:
    """Token buckets by caller: `burst` at once, `per_second` sustained. `name` is the policy's name in headers."""

    def __init__(self, name: str, per_second: float, burst: int, clock: Clock) -> None:
        self._name = name
        self._window = math.ceil(burst / per_second)
        self._rate = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()
        self.policy = (name, per_second, burst)

    def __contains__(self, caller: Hashable) -> bool:
        return caller in self._buckets

    def forget(self, caller: Hashable) -> None:
        """Drop the caller's bucket, if there is one."""
        self._buckets.pop(caller, None)

    def take(self, caller: Hashable, cost: float = 1.0) -> float:
        """Requests left after this one; negative if it must be refused, in which case nothing is consumed."""
        now = self._clock.monotonic()
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = Bucket(self._burst, now)
            if len(self._buckets) > MAX_BUCKETS:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(caller)
            self._fill(bucket, now)
        remaining = bucket.level - cost
        if remaining >= 0:
            bucket.level = remaining
            bucket.consumed += cost
        return remaining

    def pause(self, caller: Hashable) -> float:
        """Seconds to wait before a refusal of the caller, of which there is one now, is sent."""
        now, bucket = self._clock.monotonic(), self._buckets[caller]
        pause = REFUSED_SECONDS if now - bucket.refused_at < REFUSED_SECONDS else 0.0
        bucket.refused_at = now
        return pause

    def busy(self) -> dict[Hashable, Bucket]:
        """Callers who took something of which others do not know, and more than an eighth of their burst.

        What others do not know of a caller with a full bucket is forgotten: it is as if it had not been taken.
        """
        buckets, now = {}, self._clock.monotonic()
        for caller, bucket in self._buckets.items():
            if not bucket.consumed:
                continue
            self._fill(bucket, now)
            if bucket.level >= self._burst:
                bucket.consumed = 0
            elif bucket.level < self._burst * UNSHARED:
                buckets[caller] = bucket
        return buckets

    def count_others(self, bucket: Bucket, own: int, total: int) -> None:
        """Take what others gave since the last time, out of `total` by all processes, which has `own` of this one.

        The level may be below zero, down to a burst: what others gave beyond the rate is made good here.
        Nothing if that is so long ago that the bucket would be full again.
        """
        now = self._clock.monotonic()
        if now - bucket.known_at < self._burst / self._rate:
            bucket.level = max(-self._burst, bucket.level - max(0, total - own - bucket.known))
        bucket.consumed -= own
        bucket.known, bucket.known_at = total, now

    def _fill(self, bucket: Bucket, now: float) -> None:
        bucket.level = min(self._burst, bucket.level + (now - bucket.at) * self._rate)
        bucket.at = now

    def headers(self, remaining: float) -> list[tuple[bytes, bytes]]:
        """`RateLimit-Policy`, and `RateLimit`: requests left, and seconds until the bucket is full."""
        seconds = math.ceil((self._burst - max(remaining, 0)) / self._rate)
        return [
            (b"ratelimit-policy", f'"{self._name}";q={self._burst};w={self._window}'.encode()),
            (b"ratelimit", f'"{self._name}";r={max(0, math.floor(remaining))};t={seconds}'.encode()),
        ]

    def retry_after(self, remaining: float) -> int:
        """Whole seconds until the refused request would be allowed."""
        return max(1, math.ceil(-remaining / self._rate))


class RateLimit:
    """ASGI middleware: reads the credential, notes its use, and refuses a caller who asks too often with 429.

    `tokens` has a bucket for each recently authenticated token; every other request counts against its `addresses`
    bucket. `projects` has one for each project of such tokens.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        tokens: RateLimiter,
        projects: RateLimiter,
        addresses: RateLimiter,
        metrics: Metrics,
        used: UsedTokens,
        clock: Clock,
    ) -> None:
        self._app = app
        self._tokens = tokens
        self._projects = projects
        self._addresses = addresses
        self._homes: OrderedDict[bytes, UUID] = OrderedDict()
        self._metrics = metrics
        self._used = used
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"} or scope["path"] in PROBES:
            await self._app(scope, receive, send)
            return
        if not scope["path"].startswith(LIMITED) and self._addresses.take(address_of(scope), OF_A_PAGE) >= 0:
            await self._app(scope, receive, send)
            return
        trace = scope_trace(scope)
        trace.token_hash, trace.by_cookie = credentials(scope)
        limiter, caller, remaining = self._consume(scope, trace.token_hash)
        headers = limiter.headers(remaining)

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "websocket.accept":
                self._judged(trace, 101)
            elif message["type"].removeprefix("websocket.") == "http.response.start":
                message["headers"] = [*message["headers"], *(self._judged(trace, message["status"]) or headers)]
            await send(message)

        if remaining < 0:
            self._metrics.rate_limited.inc()
            problem = Problem(
                RATE_LIMITED,
                "Wait for the time in Retry-After, and send requests less often.",
                headers={"Retry-After": str(limiter.retry_after(remaining))},
            )
            await self._clock.sleep(limiter.pause(caller))
            await problem_response(problem, scope)(scope, receive, send_with_limits)
            return
        await self._app(scope, receive, send_with_limits)

    def _consume(self, scope: Scope, token: bytes | None) -> tuple[RateLimiter, Hashable, float]:
        """The limiter that decides, who is counted there, and what is left of that after this request."""
        if token is None or token not in self._tokens:
            address = address_of(scope)
            CALLER.set(address)
            return self._addresses, address, self._addresses.take(address)
        remaining, home = self._tokens.take(token), self._homes.get(token)
        CALLER.set(home or token)
        if home is None or remaining < 0:
            return self._tokens, token, remaining
        of_project = self._projects.take(home)
        return (self._projects, home, of_project) if of_project < remaining else (self._tokens, token, remaining)

    def _judged(self, trace: Trace, status: int) -> list[tuple[bytes, bytes]] | None:
        """Note from the response whether the token is valid; return its limit if it has a new bucket."""
        token = trace.token_hash
        if token is None:
            return None
        if status == UNAUTHENTICATED.status and not trace.forwarded:
            self._tokens.forget(token)
            return None
        if not trace.admitted:
            return None
        if trace.home is not None:
            self._homes[token] = trace.home
            self._homes.move_to_end(token)
            if len(self._homes) > MAX_BUCKETS:
                self._homes.popitem(last=False)
        if status < 400:
            self._used.note(token)
        return None if token in self._tokens else self._tokens.headers(self._tokens.take(token))


def address_of(scope: Scope) -> str:
    """The bucket's key for a request without a known token."""
    return subscriber((scope.get("client") or ("",))[0])
