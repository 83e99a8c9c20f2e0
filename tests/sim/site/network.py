"""One worker's way to the site: every call is a boundary, is checked on arrival, and may go wrong in all known ways."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias, TypeVar

from ipucloud.site.ports import Budget, SiteBusy, SiteError, SiteRefused, SiteUnknown
from tests.sim.faults import Faults, SiteFault
from tests.sim.scheduler import Actor
from tests.sim.site.hardware import Hardware
from tests.sim.site.state import SiteState

Value = TypeVar("Value")
Observation: TypeAlias = Callable[[SiteState, float], Value]

CALL_SECONDS = 10.0
SLOW_SECONDS = (3.0, 9.0)


@dataclass(frozen=True, slots=True)
class Request:
    """A change on its way: what is asked, about which object, touching which machines and hosts, for which cluster."""

    call: str
    name: str
    touches: tuple[str, ...]
    sender: str


class Watch(Protocol):
    """Sees every change arrive at the site, whenever that is, and whether the site will refuse it."""

    def arrives(self, request: Request) -> None: ...
    def took_effect(self, request: Request) -> None: ...


@dataclass(eq=False, slots=True)
class Late:
    """A request that the network still holds, and how the site will have answered."""

    due: float
    request: Request
    effect: Callable[[], None]
    refusal: SiteError | None = None


class Network:
    """What is under way between the workers and one site.

    `distrusted_until`: until then the certificate of the V-IPU controller is not of the authority that workers know.
    """

    def __init__(
        self, hardware: Hardware, watch: Watch, *, faults: Faults, draw: random.Random, request_life: float
    ) -> None:
        self.hardware = hardware
        self.late: list[Late] = []
        self.changes: dict[str, int] = {}
        self.distrusted_until = 0.0
        self._watch = watch
        self._request_life = request_life
        self._faults = faults
        self._draw = draw

    def deliver(self, now: float) -> list[Late]:
        """Let the requests arrive whose time has come."""
        arrived = sorted((late for late in self.late if late.due <= now), key=lambda late: late.due)
        for late in arrived:
            self.late.remove(late)
            late.refusal = self._arrive(late.request, late.effect, now)
        return arrived

    async def read(
        self, actor: Actor, budget: Budget, what: str, observe: Observation[Value], *, secured: bool = False
    ) -> Value:
        """One observation; `secured`: of the controller, over TLS. Raises SiteError."""
        seconds, fault = await self._send(actor, budget, what, changes=False, secured=secured)
        self.hardware.advance(actor.scheduler.now)
        state, then = self.hardware.earlier() if fault is SiteFault.STALE else (self.hardware.state, self.hardware.now)
        observation = observe(state, then)
        if fault is SiteFault.SLOW:
            await actor.sleep(min(seconds, self._draw.choice(SLOW_SECONDS)), f"slow {what}", background=False)
        return observation

    async def change(
        self, actor: Actor, budget: Budget, request: Request, effect: Callable[[], None], *, secured: bool = False
    ) -> None:
        """Ask the site to change something; `secured`: the controller, over TLS. Raises SiteError."""
        what = f"{request.call} {request.name}"
        self.changes[request.sender] = self.changes.get(request.sender, 0) + 1
        seconds, fault = await self._send(actor, budget, what, changes=True, secured=secured)
        now = actor.scheduler.now
        refusal = None
        if fault in {SiteFault.GHOST, SiteFault.DUPLICATE}:
            self.late.append(Late(now + self._delay(), request, effect))
        if fault is SiteFault.SLOW:
            slow = Late(now + min(seconds, self._draw.choice(SLOW_SECONDS)), request, effect)
            self.late.append(slow)
            await actor.sleep(slow.due - now, f"slow {what}", background=False)
            refusal = slow.refusal
        elif fault is not SiteFault.GHOST:
            refusal = self._arrive(request, effect, now)
        if fault in {SiteFault.GHOST, SiteFault.LOST_AFTER}:
            await actor.sleep(seconds, f"no answer to {what}", background=False)
            raise SiteUnknown(f"{what}: no answer")
        if fault is SiteFault.ERROR_AFTER:
            raise SiteUnknown(f"{what}: status 500")
        if refusal is not None:
            actor.note(str(refusal))
            raise refusal

    def _delay(self) -> float:
        """How late a request can take effect: often as late as it can."""
        longest = self._request_life
        return self._draw.choice((self._draw.uniform(1.0, longest), longest - self._draw.uniform(0.0, 10.0)))

    async def _send(
        self, actor: Actor, budget: Budget, what: str, *, changes: bool, secured: bool
    ) -> tuple[float, SiteFault]:
        """Reach the site, or raise what a caller sees that does not. Answers the call's time-out and its fate."""
        await actor.boundary(what)
        seconds = min(CALL_SECONDS, budget())
        if secured and actor.scheduler.now < self.distrusted_until:
            self._faults.untrusted(what.split(maxsplit=1)[0])
            raise SiteUnknown(f"{what}: the certificate is not trusted")
        fault = self._faults.site(what.split(maxsplit=1)[0], changes=changes)
        if fault is not SiteFault.NONE:
            actor.note(f"{what}: {fault}")
        match fault:
            case SiteFault.LOST_BEFORE:
                await actor.sleep(seconds, f"no answer to {what}", background=False)
                raise SiteUnknown(f"{what}: no answer")
            case SiteFault.ERROR_BEFORE:
                raise SiteUnknown(f"{what}: status 503")
            case SiteFault.REFUSED:
                raise SiteRefused(f"{what}: refused")
            case SiteFault.BUSY:
                raise SiteBusy(f"{what}: busy")
        return seconds, fault

    def _arrive(self, request: Request, effect: Callable[[], None], now: float) -> SiteError | None:
        self.hardware.advance(now)
        self._watch.arrives(request)
        try:
            effect()
        except SiteError as refusal:
            return refusal
        self._watch.took_effect(request)
        self.hardware.remember()
        return None
