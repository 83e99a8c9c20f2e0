"""How a clean-up step deals with hardware that cannot be cleaned now: it is left, isolated, to be cleaned later.

The step waits for hardware that works on it. Hardware that has failed, or does not answer although the site does, is
left once `SIGHTINGS` checks in a row have shown that, over `Isolation.after` seconds; and after `Isolation.patience`
seconds whatever is not done. What is left stays out of allocation by its report `not_clean`, and
`policies/leftovers.py` clears that once the hardware was observed clean.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal, Protocol, TypeVar

from ipucloud.clusters.inputs import ClusterInputs, Isolation
from ipucloud.clusters.step_objects import listed
from ipucloud.inventory.cleanings import Evidence
from ipucloud.operations.results import Achieved, Pending, StepResult
from ipucloud.site.ports import Site, SiteError, SiteRefused

SIGHTINGS = 3
"""Checks in a row that must show that hardware is in trouble: one missing answer says nothing."""


class Named(Protocol):
    @property
    def id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def not_clean(self) -> bool: ...


Object = TypeVar("Object", bound=Named)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far one machine or host is. `trouble`: why it cannot get there by itself, to continue a sentence.

    `observed`: what the site showed of it.
    """

    done: bool
    trouble: str | None = None
    observed: Evidence = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Wait:
    """Since when a step has waited for a machine or host without a break, in seconds since the step began.

    `troubled_since`, `sightings`: the same for its trouble, and how many checks in a row have shown that.
    """

    since: float
    troubled_since: float = 0.0
    sightings: int = 0

    def after_check(self, now: float, *, in_trouble: bool) -> Wait:
        """After another check."""
        if not in_trouble:
            return Wait(self.since)
        return Wait(self.since, self.troubled_since if self.sightings else now, self.sightings + 1)

    def lost(self, now: float, isolation: Isolation) -> bool:
        """Whether the step goes on without it."""
        if self.sightings == 0:
            return now - self.since > isolation.patience
        return self.sightings >= SIGHTINGS and now - self.troubled_since >= isolation.after


@dataclass(frozen=True, slots=True)
class Leftover:
    """A machine or host that a clean-up leaves as it is, and why."""

    kind: Literal["machine", "host"]
    name: str
    why: str


@dataclass(frozen=True, slots=True)
class Cleaned(Achieved):
    """The goal of a clean-up step, except for what it leaves; and what the site showed of the rest, by id."""

    leftovers: tuple[Leftover, ...] = ()
    observed: Mapping[str, Evidence] = field(default_factory=dict)


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
    targets = [each for each in objects if not each.not_clean]
    results = await asyncio.gather(*(act(each) for each in targets), return_exceptions=True)
    pairs = [(each, _progress(kind, each.name, result)) for each, result in zip(targets, results, strict=True)]
    observed = {each.id: progress.observed for each, progress in pairs if progress.done}
    waiting = [(each.name, progress.trouble) for each, progress in pairs if not progress.done]
    now, known = cluster.operation.step.running_for, cluster.operation.step.notes or {}
    waits = {
        name: Wait(**known.get(f"{kind} {name}", {"since": now})).after_check(now, in_trouble=trouble is not None)
        for name, trouble in waiting
    }
    notes = {f"{kind} {name}": asdict(wait) for name, wait in waits.items()}
    if not waiting:
        return Cleaned(observed=observed)
    if any(isinstance(result, SiteError) for result in results):
        # Only a site that answers shows that it is the hardware which does not.
        await site.networks.get(cluster.external_name)
    sentence = f"{doing} {listed(kind, [name for name, _ in waiting])}"
    troubles = "".join(f"; {trouble}" for _, trouble in waiting if trouble is not None)
    isolated = [
        Leftover(kind, name, trouble or f"{kind} {name} did not finish")
        for name, trouble in waiting
        if waits[name].lost(now, cluster.isolation)
    ]
    if len(isolated) < len(waiting):
        return Pending(sentence + troubles, notes=notes)
    if len(isolated) > cluster.isolation.budget:
        sentence += f"{troubles}; so much hardware is in trouble that an operator must act"
        return Pending(sentence, notes=notes, blocked=True)
    return Cleaned(
        tuple(isolated),
        observed,
        note=f"left {listed(kind, [each.name for each in isolated])} isolated, to be cleaned later{troubles}",
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
