"""What a timeline costs: usage intervals x price versions → charges.

A minute takes the quantity and the price in force at the instant it starts. A charge is therefore a run of minutes
of one interval under one price version, and its cost is minutes x quantity x unit price, unrounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from itertools import pairwise
from typing import NamedTuple
from uuid import UUID

from ipucloud.billing.metering.minutes import SECOND, minutes_before, minutes_between, utc_second
from ipucloud.kernel.money import product, total, unit_price

MINUTES_PER_HOUR = 60
MINUTES_PER_DAY = 24 * MINUTES_PER_HOUR
MINUTES_PER_MONTH = 730 * MINUTES_PER_HOUR
"""A twelfth of a 365-day year; for estimates only. A bill counts the minutes themselves."""


class PriceOverlapError(ValueError):
    """Two price versions claim the same instant."""


class PriceMissingError(LookupError):
    """No price is in force at an instant that has to be charged."""


class PriceKey(NamedTuple):
    """What has a price: a SKU (`ipu-m2000`) in a region in a currency (ISO 4217)."""

    sku: str
    region: str
    currency: str


@dataclass(frozen=True, slots=True)
class PriceVersion:
    """A price per machine-minute, in force in [valid_from, valid_to); open-ended while `valid_to` is None.

    `account` None is the list price; an account's own (contract) price goes before it.
    """

    id: UUID
    key: PriceKey
    unit_price: Decimal
    valid_from: datetime
    valid_to: datetime | None = None
    account: UUID | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "unit_price", unit_price(self.unit_price))
        object.__setattr__(self, "valid_from", utc_second(self.valid_from))
        if self.valid_to is not None:
            object.__setattr__(self, "valid_to", utc_second(self.valid_to))
            if self.valid_to <= self.valid_from:
                raise ValueError(f"price {self.id} ends before it starts")

    def covers(self, instant: datetime) -> bool:
        return self.valid_from <= instant and (self.valid_to is None or instant < self.valid_to)


@dataclass(frozen=True, slots=True)
class UsageInterval:
    """A fact: `quantity` machines were billable in [started_at, ended_at); `ended_at` None while they still are.

    `anchor_at` is the cluster's own start of minutes, the same for all its intervals.
    """

    anchor_at: datetime
    key: PriceKey
    quantity: int
    started_at: datetime
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Charge:
    """`minutes` minutes of one interval under one price version, all started in [started_at, ended_at).

    `first_minute` numbers the first of them from the cluster's own start, so that a cluster's charges tile its
    minutes without gap or overlap.
    """

    started_at: datetime
    ended_at: datetime
    first_minute: int
    minutes: int
    quantity: int
    price: PriceVersion

    @property
    def unit_price(self) -> Decimal:
        return self.price.unit_price

    @property
    def cost(self) -> Decimal:
        """minutes x quantity x unit price, exact."""
        return product(self.minutes, self.quantity, self.unit_price)


@dataclass(frozen=True, slots=True)
class Rate:
    """What a quantity costs while its price lasts. Only `per_minute` is ever billed; the rest is for display."""

    per_minute: Decimal
    price: PriceVersion

    @property
    def per_hour(self) -> Decimal:
        return product(self.per_minute, MINUTES_PER_HOUR)

    @property
    def per_day(self) -> Decimal:
        return product(self.per_minute, MINUTES_PER_DAY)

    @property
    def per_month(self) -> Decimal:
        """Of 730 hours."""
        return product(self.per_minute, MINUTES_PER_MONTH)


class PriceBook:
    """Price versions that never overlap per key and account."""

    def __init__(self, versions: Iterable[PriceVersion]) -> None:
        """Raises `PriceOverlapError`."""
        self._versions: dict[tuple[PriceKey, UUID | None], list[PriceVersion]] = {}
        for version in sorted(versions, key=lambda version: version.valid_from):
            self._versions.setdefault((version.key, version.account), []).append(version)
        for listed in self._versions.values():
            for earlier, later in pairwise(listed):
                if earlier.valid_to is None or earlier.valid_to > later.valid_from:
                    raise PriceOverlapError(f"prices {earlier.id} and {later.id} overlap")

    def in_force(self, key: PriceKey, at: datetime, account: UUID | None = None) -> PriceVersion:
        """The account's own price at that instant, else the list price. Raises `PriceMissingError`."""
        price = self._find(key, utc_second(at), account)
        if price is None:
            raise PriceMissingError(f"{key.sku} has no price in {key.currency} in {key.region} at {at.isoformat()}")
        return price

    def changes(self, key: PriceKey, account: UUID | None = None) -> list[datetime]:
        """The instants at which another version, or none, comes into force, ascending."""
        edges = {
            edge
            for version in self._candidates(key, account)
            for edge in (version.valid_from, version.valid_to)
            if edge is not None
        }
        return [
            edge
            for edge in sorted(edges)
            if self._find(key, edge, account) is not self._find(key, edge - SECOND, account)
        ]

    def rate(self, key: PriceKey, quantity: int, at: datetime, account: UUID | None = None) -> Rate:
        """What `quantity` machines cost from `at` on. Raises `PriceMissingError`."""
        price = self.in_force(key, at, account)
        return Rate(product(quantity, price.unit_price), price)

    def _find(self, key: PriceKey, second: datetime, account: UUID | None) -> PriceVersion | None:
        return next((price for price in self._candidates(key, account) if price.covers(second)), None)

    def _candidates(self, key: PriceKey, account: UUID | None) -> list[PriceVersion]:
        """The account's own versions, then the list's."""
        own = self._versions.get((key, account), []) if account is not None else []
        return own + self._versions.get((key, None), [])


def charge(
    intervals: Iterable[UsageInterval],
    book: PriceBook,
    *,
    until: datetime,
    account: UUID | None = None,
    cuts: Sequence[datetime] = (),
) -> tuple[Charge, ...]:
    """The charges for all minutes that start before `until`, interval by interval, each in time order.

    `until` ends what is still open: with the present it gives the live cost so far. `cuts` (hours, months) split
    charges without changing their sum. Slices in which no minute starts, and intervals of quantity 0, give no
    charge. Raises `PriceMissingError` when a minute to charge has no price.
    """
    return tuple(part for usage in intervals for part in _parts(usage, book, until, account, cuts))


def cost(charges: Iterable[Charge]) -> Decimal:
    """The exact sum of the charges' costs."""
    return total(part.cost for part in charges)


def _parts(
    usage: UsageInterval, book: PriceBook, until: datetime, account: UUID | None, cuts: Sequence[datetime]
) -> Iterator[Charge]:
    start, end = utc_second(usage.started_at), utc_second(until)
    if usage.ended_at is not None:
        end = min(end, utc_second(usage.ended_at))
    inner = [*book.changes(usage.key, account), *map(utc_second, cuts)]
    edges = [start, *sorted({edge for edge in inner if start < edge < end}), end]
    for left, right in pairwise(edges):
        minutes = minutes_between(usage.anchor_at, left, right)
        if minutes and usage.quantity:
            yield Charge(
                started_at=left,
                ended_at=right,
                first_minute=minutes_before(usage.anchor_at, left),
                minutes=minutes,
                quantity=usage.quantity,
                price=book.in_force(usage.key, left, account),
            )
