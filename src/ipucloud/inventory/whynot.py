"""Why a cluster cannot be placed, in sentences that help a customer decide what to do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from ipucloud.inventory.allocator import Fit
from ipucloud.inventory.snapshot import DOMAIN, Pod, SlotState, machines_in, usable


class Reason(StrEnum):
    """Why there is no room.

    - `quota`: the project may not hold so many machines (checked before the allocator).
    - `capacity`: the region has no such place at all; or too few machines are unheld, even if all were healthy and
    perfectly packed; or too few are free until those being cleaned or validated are free too.
    - `health`, `maintenance`: a block would exist if the unhealthy machines, or those in maintenance, were usable; of
    `health` are also those whose V-IPU controller does not answer.
    Reported before `fragmentation`: a repair makes room without any customer leaving.
    - `fragmentation`: enough machines are free, but no aligned block of them.
    """

    QUOTA = "quota"
    CAPACITY = "capacity"
    HEALTH = "health"
    MAINTENANCE = "maintenance"
    FRAGMENTATION = "fragmentation"


@dataclass(frozen=True, slots=True)
class Shortage:
    """The figures behind a reason, in machines of the region and type that no cluster holds.

    `largest` is the largest cluster that fits now (0: none). `missing` is the fewest machines that would have to become
    free for a block to exist; 0 when that is not the reason.
    """

    wanted: int
    free: int
    cleaning: int
    validating: int
    unhealthy: int
    maintenance: int
    silent: int
    largest: int
    missing: int = 0

    @property
    def unheld(self) -> int:
        return self.free + self.soon + self.unhealthy + self.maintenance + self.silent

    @property
    def soon(self) -> int:
        """Those that become free by themselves."""
        return self.cleaning + self.validating


@dataclass(frozen=True, slots=True)
class WhyNot:
    """No room: the reason, a sentence for the customer, and the figures."""

    reason: Reason
    detail: str
    numbers: Shortage


_SOON = (SlotState.FREE, SlotState.CLEANING, SlotState.VALIDATING)
_SILENT = "under a V-IPU controller that does not answer or is not supported"
_REMEDIES = (
    (Reason.HEALTH, (*_SOON, SlotState.SILENT), _SILENT),
    (Reason.HEALTH, (*_SOON, SlotState.UNHEALTHY), "unhealthy"),
    (Reason.MAINTENANCE, (*_SOON, SlotState.MAINTENANCE), "in maintenance"),
    (Reason.HEALTH, (*_SOON, SlotState.UNHEALTHY, SlotState.MAINTENANCE), "unhealthy or in maintenance"),
    (
        Reason.HEALTH,
        (*_SOON, SlotState.UNHEALTHY, SlotState.MAINTENANCE, SlotState.SILENT),
        f"unhealthy, in maintenance, or {_SILENT}",
    ),
)


def explain(pods: Sequence[Pod], machines: int, ipus_per_machine: int = 4) -> WhyNot:
    """Why `machines` do not fit. Call only when no free block of that size exists."""
    say, numbers = _Words(ipus_per_machine), _count(pods, machines)
    if next(Fit(pods, usable(pods, *SlotState)).blocks(machines), None) is None:
        return WhyNot(Reason.CAPACITY, say.no_such_place(machines), numbers)
    if numbers.unheld < machines:
        return WhyNot(Reason.CAPACITY, say.too_few(numbers), numbers)
    if missing := _fewest_missing(pods, machines, _SOON):
        reason = Reason.CAPACITY if numbers.free < machines else Reason.FRAGMENTATION
        waited_for = _waited_for(pods, machines, missing)
        return WhyNot(reason, say.wait(machines, waited_for), replace(numbers, missing=missing))
    for reason, states, condition in _REMEDIES:
        if missing := _fewest_missing(pods, machines, states):
            return WhyNot(reason, say.broken(numbers, missing, condition), replace(numbers, missing=missing))
    if numbers.free + numbers.soon < machines:
        return WhyNot(Reason.CAPACITY, say.too_few(numbers), numbers)
    return WhyNot(Reason.FRAGMENTATION, say.scattered(numbers), numbers)


def _count(pods: Sequence[Pod], machines: int) -> Shortage:
    counts = {state: machines_in(pods, state) for state in SlotState}
    fit = Fit(pods, usable(pods, SlotState.FREE))
    smaller = (1 << power for power in reversed(range(machines.bit_length() - 1)))
    return Shortage(
        wanted=machines,
        free=counts[SlotState.FREE],
        cleaning=counts[SlotState.CLEANING],
        validating=counts[SlotState.VALIDATING],
        unhealthy=counts[SlotState.UNHEALTHY],
        maintenance=counts[SlotState.MAINTENANCE],
        silent=counts[SlotState.SILENT],
        largest=next((size for size in smaller if fit.count(size)), 0),
    )


def _fewest_missing(pods: Sequence[Pod], machines: int, states: Sequence[SlotState]) -> int | None:
    """Of all blocks of machines in `states`, the smallest number of machines that are not yet free."""
    free = usable(pods, SlotState.FREE)
    return min(
        (
            sum((mask & ~free[pod]).bit_count() for pod, mask in block)
            for block in Fit(pods, usable(pods, *states)).blocks(machines)
        ),
        default=None,
    )


def _waited_for(pods: Sequence[Pod], machines: int, missing: int) -> tuple[int, int]:
    """Of the first block that lacks the fewest machines: how many are being cleaned, and how many validated."""
    cleaning, validating = usable(pods, SlotState.CLEANING), usable(pods, SlotState.VALIDATING)
    for block in Fit(pods, usable(pods, *_SOON)).blocks(machines):
        cleaned = sum((mask & cleaning[pod]).bit_count() for pod, mask in block)
        validated = sum((mask & validating[pod]).bit_count() for pod, mask in block)
        if cleaned + validated == missing:
            return cleaned, validated
    raise ValueError("no block lacks so few machines")


@dataclass(frozen=True, slots=True)
class _Words:
    """The sentences for machines with this many IPUs."""

    ipus_per_machine: int

    def no_such_place(self, machines: int) -> str:
        if machines > DOMAIN:
            return (
                f"The region has no {machines // DOMAIN} neighbouring IPU-Link domains of this machine type, "
                f"which {self._size(machines)} need. Choose a smaller flavor or another region."
            )
        return (
            f"The region has no {self._size(machines)} of this type in one IPU-Link domain. "
            "Choose a smaller flavor or another region."
        )

    def too_few(self, numbers: Shortage) -> str:
        return (
            f"This takes {self._size(numbers.wanted)}; the region has {numbers.free} free{_soon(numbers)}. "
            f"{self._what_fits(numbers)} "
            "Try again later, or choose a smaller flavor or another region."
        )

    def wait(self, machines: int, waited_for: tuple[int, int]) -> str:
        steps = zip(("still being cleaned", "being validated"), waited_for, strict=True)
        stages = ", ".join(f"{step}: {count}" for step, count in steps if count)
        return f"A place for {self._size(machines)} is being made ready ({stages}). Try again in a few minutes."

    def broken(self, numbers: Shortage, missing: int, condition: str) -> str:
        return (
            f"A place for {self._size(numbers.wanted)} exists, but not all of it can be used "
            f"(at least {missing} {condition}). {self._what_fits(numbers)} "
            "Try again later, or choose a smaller flavor or another region."
        )

    def scattered(self, numbers: Shortage) -> str:
        where = "in one IPU-Link domain" if numbers.wanted <= DOMAIN else "as whole neighbouring IPU-Link domains"
        soon = _soon(numbers) if numbers.free < numbers.wanted else ""
        return (
            f"The region has {numbers.free} free{soon}, but nowhere {self._size(numbers.wanted)} side by side "
            f"{where}. {self._what_fits(numbers)} "
            "Choose a smaller flavor, or try again when other clusters have been deleted."
        )

    def _what_fits(self, numbers: Shortage) -> str:
        if numbers.largest == 0:
            return "No cluster fits now."
        return f"The largest cluster that fits now has {self._size(numbers.largest)}."

    def _size(self, machines: int) -> str:
        noun = "machine" if machines == 1 else "machines"
        return f"{machines} {noun} ({machines * self.ipus_per_machine} IPUs)"


def _soon(numbers: Shortage) -> str:
    """Those that become free by themselves, after the number of those that are."""
    steps = ((numbers.cleaning, "being cleaned"), (numbers.validating, "being validated"))
    return "".join(f" and {count} {step}" for count, step in steps if count)
