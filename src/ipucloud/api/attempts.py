"""How often passwords and invitations can be tried: for a person at an address, an address, a person.

Where the person signed in before, with the browser or from the address, only the attempts there count: whoever guesses
from ever new addresses does not keep the person out.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

from starlette.requests import Request

from ipucloud.api.cookies import Devices
from ipucloud.api.limits import MAX_BUCKETS, RateLimiter, address_of
from ipucloud.kernel.clock import Clock
from ipucloud.kernel.errors import RATE_LIMITED, Problem

ANYBODY = ""
"""For attempts that name nobody."""


class Attempts:
    """Counts attempts, and refuses too many."""

    def __init__(self, clock: Clock, devices: Devices) -> None:
        self._devices = devices
        self._familiar: OrderedDict[tuple[str, str], None] = OrderedDict()
        self._here = RateLimiter("sign-in", 1 / 30, 10, clock)
        self._address = RateLimiter("sign-in", 1 / 5, 60, clock)
        self._person = RateLimiter("sign-in", 1 / 10, 100, clock)

    @property
    def limiters(self) -> tuple[RateLimiter, ...]:
        """What other processes count as well."""
        return self._here, self._address, self._person

    def take(self, request: Request, email: str) -> None:
        """Count an attempt before the password is looked at. Raises `Problem` rate_limited."""
        for limiter, caller in self._limits(request, email):
            remaining = limiter.take(caller)
            if remaining < 0:
                raise Problem(
                    RATE_LIMITED,
                    "There were too many attempts to sign in. Wait for the time in Retry-After.",
                    headers={"Retry-After": str(limiter.retry_after(remaining))},
                )

    def _limits(self, request: Request, email: str) -> list[tuple[RateLimiter, Hashable]]:
        address = address_of(request.scope)
        if email == ANYBODY:
            return [(self._address, address)]
        device = self._devices.known(request, email)
        if device is not None:
            return [(self._here, (device, email))]
        if (address, email) in self._familiar:
            return [(self._here, (address, email))]
        return [(self._address, address), (self._here, (address, email)), (self._person, email)]

    def succeeded(self, request: Request, email: str) -> None:
        """The person is who they say: their earlier attempts here do not count, and this address is familiar."""
        here = (address_of(request.scope), email)
        self._here.forget(here)
        self._familiar[here] = None
        self._familiar.move_to_end(here)
        if len(self._familiar) > MAX_BUCKETS:
            self._familiar.popitem(last=False)
