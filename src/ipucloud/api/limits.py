"""Requests per token: a bucket that fills at a steady rate.

The bucket lives in the process: N processes allow N times the rate. It protects a process from one caller; quotas and
limits on cost are the database's.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ipucloud.api.credentials import credential
from ipucloud.api.metrics import Metrics
from ipucloud.api.problems import problem_response
from ipucloud.api.trace import scope_trace
from ipucloud.api.used import UsedTokens
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import RATE_LIMITED, Problem

MOST_BUCKETS = 10_000
"""Callers remembered at a time; the longest silent one is forgotten first, which only ever fills its bucket."""


@dataclass(slots=True)
class Bucket:
    """`level` requests may come at once, as of the monotonic instant `at`."""

    level: float
    at: float


class RateLimiter:
    """Token buckets by caller: `burst` at once, `per_second` sustained."""

    def __init__(self, per_second: float, burst: int, clock: Clock) -> None:
        self.policy = f'"token";q={burst};w={math.ceil(burst / per_second)}'.encode()
        self._rate = per_second
        self._burst = burst
        self._clock = clock
        self._buckets: OrderedDict[Hashable, Bucket] = OrderedDict()

    def take(self, caller: Hashable) -> float:
        """What is left after this request; negative when it must be refused, and then nothing is taken."""
        now = self._clock.monotonic()
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = self._buckets[caller] = Bucket(self._burst, now)
            if len(self._buckets) > MOST_BUCKETS:
                self._buckets.popitem(last=False)
        else:
            self._buckets.move_to_end(caller)
            bucket.level = min(self._burst, bucket.level + (now - bucket.at) * self._rate)
            bucket.at = now
        left = bucket.level - 1
        if left >= 0:
            bucket.level = left
        return left

    def state(self, left: float) -> bytes:
        """The `RateLimit` header: requests left, and seconds until the bucket is full."""
        remaining = max(0, math.floor(left))
        return b'"token";r=%d;t=%d' % (remaining, math.ceil((self._burst - max(left, 0)) / self._rate))

    def retry_after(self, left: float) -> int:
        """Whole seconds until the refused request would be allowed."""
        return max(1, math.ceil(-left / self._rate))


class RateLimit:
    """ASGI middleware: reads the credential, notes its use, and refuses a caller who asks too often with 429.

    Callers without a possible token share a bucket per peer address.
    """

    def __init__(self, app: ASGIApp, *, limiter: RateLimiter, metrics: Metrics, used: UsedTokens) -> None:
        self._app = app
        self._used = used
        self._limiter = limiter
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith("/v1/"):
            await self._app(scope, receive, send)
            return
        trace = scope_trace(scope)
        trace.token_hash = credential(scope["headers"])
        peer = scope.get("client") or ("",)
        left = self._limiter.take(trace.token_hash or peer[0])
        headers = ((b"ratelimit-policy", self._limiter.policy), (b"ratelimit", self._limiter.state(left)))

        async def send_with_limits(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *headers]
                if trace.token_hash is not None and message["status"] < 400:
                    self._used.note(trace.token_hash)
            await send(message)

        if left < 0:
            self._metrics.rate_limited.inc()
            problem = Problem(
                RATE_LIMITED,
                "Wait as long as Retry-After says, and ask less often.",
                headers={"Retry-After": str(self._limiter.retry_after(left))},
            )
            await problem_response(problem, scope)(scope, receive, send_with_limits)
            return
        await self._app(scope, receive, send_with_limits)
