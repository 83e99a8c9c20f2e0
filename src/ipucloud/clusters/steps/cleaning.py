"""How a clean-up step deals with hardware that cannot be cleaned now: it is left, isolated, to be cleaned later.

The step waits for hardware that works on it. Hardware that has failed, or does not answer although the site does, is
left after `Isolation.after` seconds; after `PATIENT` times as many, whatever is not done. What is left stays out of
allocation by its report `not_clean`, and `clusters/leftovers.py` clears that once the hardware was observed clean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from ipucloud.clusters.inputs import ClusterInputs
from ipucloud.clusters.objects import listed
from ipucloud.operations.results import Achieved, Pending, StepResult
from ipucloud.site.errors import SiteError, SiteRefused
from ipucloud.site.ports import Site

PATIENT = 5
"""How many times longer hardware may take that answers and has not failed."""


class Named(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def not_clean(self) -> bool: ...


Object = TypeVar("Object", bound=Named)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one machine or host is. `trouble`: why it cannot get there by itself, to continue a sentence."""

    done: bool
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Left:
    """A machine or host that a clean-up leaves as it is, and why."""

    kind: Literal["machine", "host"]
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Cleaned(Achieved):
    """The goal of a clean-up step, except for what it leaves."""

    left: tuple[Left, ...] = ()


async def clean(
    site: Site,
    cluster: ClusterInputs,
    objects: Sequence[Object],
    act: Callable[[Object], Awaitable[Progress]],
    *,
    kind: Literal["machine", "host"],
    doing: str,
) -> StepResult:
    """Let `act` work on each object until all are done; `doing` begins the sentence that says what is waited for.

    Objects that an earlier step left are not waited for. Raises SiteError when the site itself does not answer.
    """
    wanted = [each for each in objects if not each.not_clean]
    found = await asyncio.gather(*(act(each) for each in wanted), return_exceptions=True)
    seen = [(each.name, _progress(kind, each.name, result)) for each, result in zip(wanted, found, strict=True)]
    waiting = [(name, progress.trouble) for name, progress in seen if not progress.done]
    if not waiting:
        return Cleaned()
    if any(isinstance(result, SiteError) for result in found):
        # Only a site that answers shows that it is the hardware which does not.
        await site.networks.get(cluster.external_name)
    sentence = f"{doing} {listed(kind, [name for name, _ in waiting])}"
    troubles = "".join(f"; {trouble}" for _, trouble in waiting if trouble is not None)
    left = [
        Left(kind, name, trouble or f"{kind} {name} did not finish")
        for name, trouble in waiting
        if _lost(cluster, trouble)
    ]
    if len(left) < len(waiting):
        return Pending(sentence + troubles)
    if len(left) > cluster.isolation.budget:
        return Pending(f"{sentence}{troubles}; so much hardware is in trouble that an operator must act")
    return Cleaned(
        tuple(left), note=f"left {listed(kind, [each.name for each in left])} isolated, to be cleaned later{troubles}"
    )


def _progress(kind: str, name: str, result: Progress | BaseException) -> Progress:
    match result:
        case Progress():
            return result
        case SiteRefused():
            return Progress(done=False, trouble=f"{kind} {name} refused")
        case SiteError():
            return Progress(done=False, trouble=f"{kind} {name} did not answer")
        case _:
            raise result


def _lost(cluster: ClusterInputs, trouble: str | None) -> bool:
    return cluster.operation.step.running_for > cluster.isolation.after * (PATIENT if trouble is None else 1)
