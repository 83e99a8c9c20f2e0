"""Differences between a database and a catalogue. None is an error: existing clusters and prices are unaffected."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple

from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.catalogue import AllocatedThrough, Flavor
from ipucloud.db.engine import Database
from ipucloud.db.rows import Query
from ipucloud.kernel.money import written


class _Clusters(NamedTuple):
    """Clusters alike."""

    region: str
    flavor: str
    image: str
    machine_type: str
    machines: int
    ipus: int
    allocated_through: AllocatedThrough
    sku: str
    number: int


class _Machines(NamedTuple):
    region: str
    machine_type: str
    servers: bool
    number: int


class _Quotas(NamedTuple):
    region: str
    machine_type: str
    number: int


class _Price(NamedTuple):
    sku: str
    region: str
    currency: str
    unit_price: Decimal
    now: datetime


_CLUSTERS = Query(
    """
    SELECT region, flavor, image, machine_type, machines, ipus, allocated_through, sku, count(*) AS number
      FROM clusters WHERE deleted_at IS NULL
     GROUP BY region, flavor, image, machine_type, machines, ipus, allocated_through, sku
     ORDER BY region, flavor, image
    """,
    _Clusters,
)
_MACHINES = Query(
    """
    SELECT pods.region, pods.machine_type, bool_and(pods.vipu_cluster_id IS NULL) AS servers, count(*) AS number
      FROM pods JOIN machines ON machines.pod_id = pods.id
     GROUP BY pods.region, pods.machine_type ORDER BY pods.region, pods.machine_type
    """,
    _Machines,
)
_QUOTAS = Query(
    """
    SELECT region, machine_type, count(*) AS number FROM quotas WHERE machine_limit > 0
     GROUP BY region, machine_type ORDER BY region, machine_type
    """,
    _Quotas,
)
_PRICES = Query(
    """
    SELECT sku, region, currency, unit_price, app_now() AS now FROM prices
     WHERE valid_from <= app_now() AND (valid_to IS NULL OR valid_to > app_now())
     ORDER BY sku, region, currency
    """,
    _Price,
)
_SAME = ("machine_type", "machines", "ipus", "allocated_through", "sku")
"""Properties that a cluster keeps from its flavor."""


async def notes(database: Database, catalogue: Catalogue, currency: str) -> list[str]:
    """Messages for an operator who is about to use the catalogue with this database and `currency`.

    Raises `Problem` unavailable.
    """
    async with database.read() as connection:
        clusters = await _CLUSTERS.all(connection)
        machines = await _MACHINES.all(connection)
        quotas = await _QUOTAS.all(connection)
        prices = await _PRICES.all(connection)
    return [
        *_of_clusters(catalogue, clusters),
        *_of_machines(catalogue, machines),
        *_of_quotas(catalogue, quotas),
        *_of_prices(catalogue, prices, currency),
    ]


def _of_clusters(catalogue: Catalogue, rows: Iterable[_Clusters]) -> Iterator[str]:
    images = {(image.name, region) for image in catalogue.images for region in image.regions}
    for row in rows:
        those = _clusters(row)
        flavor = catalogue.find_flavor(row.flavor)
        if flavor is None or row.region not in flavor.regions:
            yield f"{those} {row.flavor} in {row.region}, which is not sold there. Clusters are unaffected."
        elif _differs(flavor, row):
            yield f"{those} {row.flavor} in {row.region} in an earlier version. Clusters are unaffected."
        if (row.image, row.region) not in images:
            yield f"{those} {row.flavor} in {row.region} with image {row.image}, which is not offered there."


def _clusters(row: _Clusters) -> str:
    return "1 cluster is a" if row.number == 1 else f"{row.number} clusters are each a"


def _differs(flavor: Flavor, row: _Clusters) -> bool:
    return any(getattr(flavor, field) != getattr(row, field) for field in _SAME)


def _of_machines(catalogue: Catalogue, rows: Sequence[_Machines]) -> Iterator[str]:
    known = {(row.region, row.machine_type): row for row in rows}
    sold = {(region, flavor.machine_type): flavor for flavor in catalogue.flavors for region in flavor.regions}
    for (region, machine_type), flavor in sold.items():
        row = known.get((region, machine_type))
        if row is None:
            yield (
                f"No {machine_type} machine is known in {region}: no cluster can be created there until the site lists "
                "some and `ipucloud site sync` or a worker has read them."
            )
        elif row.servers != (flavor.allocated_through is AllocatedThrough.HOST_DEVICES):
            through = AllocatedThrough.HOST_DEVICES if row.servers else AllocatedThrough.V_IPU
            yield f"The site has {machine_type} in {region} as {through}; the catalogue differs."
    for (region, machine_type), row in known.items():
        if (region, machine_type) not in sold:
            yield f"{_count(row.number, f'{machine_type} machine')} in {region}: no flavor sells them."


def _of_quotas(catalogue: Catalogue, rows: Iterable[_Quotas]) -> Iterator[str]:
    sold = {(region.slug, machine_type) for region in catalogue.regions for machine_type in region.machine_types}
    for row in rows:
        if (row.region, row.machine_type) not in sold:
            yield f"{_count(row.number, 'quota')} for {row.machine_type} in {row.region}, which are not sold there."


def _of_prices(catalogue: Catalogue, rows: Sequence[_Price], currency: str) -> Iterator[str]:
    booked = {(row.sku, row.region, row.currency): row for row in rows}
    for flavor in catalogue.flavors:
        for region in flavor.regions:
            if (flavor.sku, region, currency) not in booked:
                yield (
                    f"{flavor.name} has no price in {region} in {currency} now, so it cannot be created there: add one "
                    "to the price book, or run `ipucloud catalogue install-prices` if the catalogue has it."
                )
    for price in catalogue.prices:
        row = booked.get((price.sku, price.region, price.currency))
        if row is None or not price.valid_from <= row.now or (price.valid_to and price.valid_to <= row.now):
            continue
        if price.unit_price != row.unit_price:
            booked_price, listed_price = (
                f"{written(each.unit_price, price.currency)} {price.currency}" for each in (row, price)
            )
            yield (
                f"{price.sku} in {price.region} costs {booked_price} in the price book, which applies, and "
                f"{listed_price} in the catalogue."
            )
    known = {flavor.sku for flavor in catalogue.flavors} | {article.id for article in catalogue.articles}
    known |= {machine_type.sku or "" for machine_type in catalogue.machine_types}
    for sku in dict.fromkeys(row.sku for row in rows):
        if sku not in known:
            yield f"{sku} has a price but is not in the catalogue: the price is shown as per machine-minute."


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
