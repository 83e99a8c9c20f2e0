"""Whether the rows of a catalogue are consistent, and can be built by the product. Every check yields faults."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby

from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.catalogue import AllocatedThrough, ListPrice, Model
from ipucloud.kernel.money import MINOR_UNITS, UNIT_PRICE_LIMIT

_SHOWN_AT_ONCE = 5


@dataclass(frozen=True, slots=True)
class Fault:
    """One sentence about one place: a file, a row in it, a field in that. `row` and `field` are None for the whole."""

    file: str
    row: str | None
    field: str | None
    detail: str

    def __str__(self) -> str:
        place = f"{self.file}.toml" if self.row is None else f"{self.file}.toml, row {self.row}"
        return f"{place}: {self.detail}" if self.field is None else f"{place}: {self.field}: {self.detail}"


class CatalogueError(ValueError):
    """The data files cannot be used. `faults` has all faults, at least one; the message names the first ones."""

    def __init__(self, origin: str, faults: Sequence[Fault]) -> None:
        self.faults = tuple(faults)
        reported = "; ".join(map(str, self.faults[:_SHOWN_AT_ONCE]))
        more = len(self.faults) - _SHOWN_AT_ONCE
        rest = f"; and {more} more, which `ipucloud catalogue check` lists" if more > 0 else ""
        super().__init__(f"The catalogue in {origin} is not valid. {reported}{rest}")


IPUS_UNDER_V_IPU = 4
"""IPUs of every machine under a V-IPU controller: its agents have four each. Source: V-IPU Admin Guide."""

MACHINES = tuple(1 << power for power in range(9))
"""Machines that a pod can have: the sizes that the allocator places."""


def contradictions(catalogue: Catalogue) -> list[Fault]:
    """Every inconsistency between the rows; none in a catalogue that can be used."""
    return [fault for check in _CHECKS for fault in check(catalogue)]


def _references(catalogue: Catalogue) -> Iterator[Fault]:
    machine_types = {machine_type.id for machine_type in catalogue.machine_types}
    regions = {region.slug for region in catalogue.regions}
    skus = {machine_type.sku for machine_type in catalogue.machine_types} | {flavor.sku for flavor in catalogue.flavors}
    skus |= {article.id for article in catalogue.articles}
    yield from _unknown("machine_types", catalogue.machine_types, "ipu", {ipu.id for ipu in catalogue.ipus})
    yield from _unknown("pods", catalogue.pods, "ai_pflops", machine_types)
    yield from _unknown("regions", catalogue.regions, "machine_types", machine_types)
    yield from _unknown("flavors", catalogue.flavors, "regions", regions)
    yield from _unknown("images", catalogue.images, "regions", regions)
    yield from _unknown("prices", catalogue.prices, "region", regions)
    yield from _unknown("prices", catalogue.prices, "sku", skus)


def _hardware(catalogue: Catalogue) -> Iterator[Fault]:
    """The product can drive and place the machines and pods."""
    for machine_type in catalogue.machine_types:
        under_v_ipu = machine_type.allocated_through is AllocatedThrough.V_IPU
        if under_v_ipu and machine_type.ipus != IPUS_UNDER_V_IPU:
            detail = f"machines under V-IPU have {IPUS_UNDER_V_IPU}"
            yield Fault("machine_types", machine_type.id, "ipus", detail)
    for pod in catalogue.pods:
        if pod.machines not in MACHINES:
            yield Fault("pods", pod.id, "machines", f"a pod has 1 to {MACHINES[-1]} machines, a power of two")


def _regions(catalogue: Catalogue) -> Iterator[Fault]:
    """A region is found by its slug or its number, and by only one of them."""
    numbers = Counter(region.number for region in catalogue.regions)
    for region in catalogue.regions:
        if region.slug.isdecimal():
            yield Fault("regions", region.slug, "slug", "a slug of digits alone could be another region's number")
        if numbers[region.number] > 1:
            yield Fault("regions", region.slug, "number", "another region has it")


def _sales(catalogue: Catalogue) -> Iterator[Fault]:
    """Everything sold in a region exists there, and has a price and an image there."""
    priced = {(price.sku, price.region) for price in catalogue.prices}
    sold = {region.slug: region.machine_types for region in catalogue.regions}
    for flavor in catalogue.flavors:
        for slug in flavor.regions:
            if slug in sold and flavor.machine_type not in sold[slug]:
                yield Fault("flavors", flavor.name, "regions", f"{slug} does not sell its machine type")
            if slug in sold and (flavor.sku, slug) not in priced:
                yield Fault("flavors", flavor.name, "regions", f"it has no price in {slug}")
    for region in catalogue.regions:
        if catalogue.flavors_in(region.slug) and not catalogue.images_in(region.slug):
            yield Fault("regions", region.slug, None, "flavors are sold there, but images.toml offers no image there")


def _prices(catalogue: Catalogue) -> Iterator[Fault]:
    """The price book accepts the prices."""
    for price in catalogue.prices:
        if price.currency not in MINOR_UNITS:
            yield Fault(
                "prices", _label(price), "currency", f"{price.currency} is not the ISO 4217 code of a currency in use"
            )
        if price.unit_price >= UNIT_PRICE_LIMIT:
            yield Fault("prices", _label(price), "unit_price", f"a price is below {UNIT_PRICE_LIMIT:,}")
        for field, instant in (("valid_from", price.valid_from), ("valid_to", price.valid_to)):
            if instant is not None and instant.microsecond:
                yield Fault("prices", _label(price), field, "prices change at whole seconds")
        if price.valid_to is not None and price.valid_to <= price.valid_from:
            yield Fault("prices", _label(price), "valid_to", "a price ends after it begins")


def _price_times(catalogue: Catalogue) -> Iterator[Fault]:
    """Prices do not overlap, and from the first of an article on there always is one."""
    in_order = sorted(catalogue.prices, key=lambda price: (*_article(price), price.valid_from))
    for _, grouped in groupby(in_order, _article):
        versions = list(grouped)
        for earlier, after in zip(versions, [*versions[1:], None], strict=True):
            if earlier.valid_to is not None and (after is None or earlier.valid_to < after.valid_from):
                yield Fault("prices", _label(earlier), "valid_to", "no price follows: what runs then would have none")
        for earlier, later in combinations(versions, 2):
            if earlier.valid_to is None or earlier.valid_to > later.valid_from:
                yield Fault(
                    "prices", _label(later), "valid_from", f"it overlaps the price from {earlier.valid_from} on"
                )


_CHECKS: tuple[Callable[[Catalogue], Iterator[Fault]], ...] = (
    _references,
    _hardware,
    _regions,
    _sales,
    _prices,
    _price_times,
)


def _unknown(file: str, rows: Iterable[Model], field: str, known: Collection[str | None]) -> Iterator[Fault]:
    for row in rows:
        value = getattr(row, field)
        for name in (value,) if isinstance(value, str) else value:
            if name not in known:
                yield Fault(file, _label(row), field, f"there is no {name}")


def _article(price: ListPrice) -> tuple[str, str, str]:
    return price.sku, price.region, price.currency


def _label(row: Model) -> str:
    return " ".join(str(getattr(row, key)) for key in row.KEY)
