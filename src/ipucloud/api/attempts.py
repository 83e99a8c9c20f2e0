"""How often passwords and invitations can be tried: for a person at an address, an address, a person.

The limit of a person is the widest: whoever guesses from many addresses must not keep the person out for long.
"""

from __future__ import annotations

from collections.abc import Hashable

from starlette.requests import Request

from ipucloud.api.limits import RateLimiter, address_of
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import RATE_LIMITED, Problem

ANYBODY = ""
"""For attempts that name nobody."""


class Attempts:
    """Counts attempts, and refuses too many."""

    def __init__(self, clock: Clock) -> None:
        self._here = RateLimiter("sign-in", 1 / 30, 10, clock)
        self._address = RateLimiter("sign-in", 1 / 5, 60, clock)
        self._person = RateLimiter("sign-in", 1 / 10, 100, clock)

    @property
    def limiters(self) -> tuple[RateLimiter, ...]:
        """What other processes count as well."""
        return self._here, self._address, self._person

    def take(self, request: Request, email: str) -> None:
        """Count an attempt before the password is looked at. Raises `Problem` rate_limited."""
        address = address_of(request.scope)
        limits: list[tuple[RateLimiter, Hashable]] = [(self._address, address)]
        if email != ANYBODY:
            limits += [(self._here, (address, email)), (self._person, email)]
        for limiter, caller in limits:
            left = limiter.take(caller)
            if left < 0:
                raise Problem(
                    RATE_LIMITED,
                    "There were too many attempts to sign in. Wait for the time in Retry-After.",
                    headers={"Retry-After": str(limiter.retry_after(left))},
                )

    def succeeded(self, request: Request, email: str) -> None:
        """The person is who they say: their earlier attempts at this address do not count."""
        self._here.forget((address_of(request.scope), email))
