"""Reads the data files, once, and refuses a catalogue that contradicts itself.

Every file `data/<name>.toml` holds an array `rows`. An error names the file and the row.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TypeVar

from pydantic import ValidationError

from ipucloud.catalogue.models import (
    AllocatedThrough,
    Article,
    Flavor,
    FlavorRow,
    Image,
    IpuGeneration,
    ListPrice,
    MachineType,
    Model,
    Pod,
    Recipe,
    Region,
    Source,
    StageDuration,
    Tool,
)
from ipucloud.catalogue.queries import Catalogue

AnyModel = TypeVar("AnyModel", bound=Model)


class CatalogueError(ValueError):
    """A data file is wrong; the message names it and the row."""

    def __init__(self, file: str, row: str, fault: str) -> None:
        super().__init__(f"{file}.toml, row {row}: {fault}")


@cache
def load() -> Catalogue:
    """The catalogue shipped with the package. Raises `CatalogueError`."""
    return read(files("ipucloud.catalogue") / "data")


def read(folder: Traversable) -> Catalogue:
    """A catalogue from a folder of data files. Raises `CatalogueError`."""
    sources = {source.id: source for source in _rows(folder, "sources", Source)}
    context = {"sources": sources}
    machine_types = _rows(folder, "machine_types", MachineType, context)
    pods = _rows(folder, "pods", Pod, context)
    rows = _rows(folder, "flavors", FlavorRow, context)
    catalogue = Catalogue(
        sources=tuple(sources.values()),
        ipus=_rows(folder, "ipus", IpuGeneration, context),
        machine_types=machine_types,
        pods=pods,
        regions=_rows(folder, "regions", Region, context),
        flavors=_flavors(rows, machine_types, pods),
        images=_rows(folder, "images", Image, context),
        tools=_rows(folder, "tools", Tool, context),
        recipes=_rows(folder, "recipes", Recipe, context),
        articles=_rows(folder, "articles", Article, context),
        prices=_rows(folder, "prices", ListPrice, context),
        durations=_rows(folder, "durations", StageDuration, context),
    )
    _check_references(catalogue)
    _check_sales(catalogue)
    return catalogue


def _rows(
    folder: Traversable, file: str, model: type[AnyModel], context: Mapping[str, object] | None = None
) -> tuple[AnyModel, ...]:
    try:
        raw = tomllib.loads((folder / f"{file}.toml").read_text("utf-8"))["rows"]
    except (OSError, tomllib.TOMLDecodeError, KeyError) as fault:
        raise CatalogueError(file, "-", f"the file cannot be read: {fault}") from fault
    rows: dict[str, AnyModel] = {}
    for values in raw:
        label = " ".join(str(values.get(field)) for field in model.KEY)
        if label in rows:
            raise CatalogueError(file, label, "the row is there twice")
        try:
            rows[label] = model.model_validate(values, context=dict(context or {}))
        except ValidationError as refused:
            first = refused.errors(include_url=False)[0]
            field = ".".join(map(str, first["loc"])) or "row"
            raise CatalogueError(file, label, f"{field}: {first['msg']}") from refused
    return tuple(rows.values())


def _flavors(
    rows: Sequence[FlavorRow], machine_types: Iterable[MachineType], pods: Iterable[Pod]
) -> tuple[Flavor, ...]:
    """The rows with what follows from their machine type and pod."""
    types = {machine_type.id: machine_type for machine_type in machine_types}
    sizes = {pod.id: pod for pod in pods}
    _check("flavors", rows, "machine_type", types)
    _check("flavors", [row for row in rows if row.pod is not None], "pod", sizes)
    flavors = []
    for row in rows:
        machine_type = types[row.machine_type]
        sku = row.sku or machine_type.sku
        if sku is None:
            raise CatalogueError("flavors", row.name, "machine_type: it has no SKU to be billed as")
        size = _server(row, machine_type) if row.pod is None else _pod(row, machine_type, sizes[row.pod])
        facts = {**dict(row), "sku": sku, "allocated_through": machine_type.allocated_through, **size}
        flavors.append(Flavor.model_validate(facts))
    return tuple(flavors)


def _pod(row: FlavorRow, machine_type: MachineType, pod: Pod) -> dict[str, float]:
    """The size of a flavor of whole machines, joined by V-IPU."""
    if pod.ipus != pod.machines * machine_type.ipus:
        raise CatalogueError("flavors", row.name, "pod: its machines do not have that many IPUs")
    if machine_type.id not in pod.ai_pflops:
        raise CatalogueError("flavors", row.name, "pod: it has no AI compute for the machine type")
    return {
        "ipus": pod.ipus,
        "machines": pod.machines,
        "ai_pflops": pod.ai_pflops[machine_type.id],
        "in_processor_memory_gb": round(pod.machines * machine_type.in_processor_memory_gb, 1),
    }


def _server(row: FlavorRow, machine_type: MachineType) -> dict[str, float]:
    """The size of a flavor of one server, of which some or all IPUs are opened."""
    if machine_type.allocated_through is not AllocatedThrough.HOST_DEVICES:
        raise CatalogueError("flavors", row.name, "pod: machines under V-IPU are sold as pods")
    if row.ipus is None or row.ipus > machine_type.ipus:
        raise CatalogueError("flavors", row.name, f"ipus: the machine type has 1 to {machine_type.ipus}")
    share = row.ipus / machine_type.ipus
    return {
        "ipus": row.ipus,
        "machines": 1,
        "ai_pflops": round(share * machine_type.ai_pflops, 3),
        "in_processor_memory_gb": round(share * machine_type.in_processor_memory_gb, 1),
    }


def _check_references(catalogue: Catalogue) -> None:
    machine_types = {machine_type.id for machine_type in catalogue.machine_types}
    regions = {region.slug for region in catalogue.regions}
    _check("machine_types", catalogue.machine_types, "ipu", {ipu.id for ipu in catalogue.ipus})
    _check("pods", catalogue.pods, "ai_pflops", machine_types)
    _check("regions", catalogue.regions, "machine_types", machine_types)
    _check("flavors", catalogue.flavors, "regions", regions)
    _check("images", catalogue.images, "regions", regions)
    _check("prices", catalogue.prices, "region", regions)
    skus = {machine_type.sku for machine_type in catalogue.machine_types} | {flavor.sku for flavor in catalogue.flavors}
    skus |= {article.id for article in catalogue.articles}
    _check("prices", catalogue.prices, "sku", skus)


def _check_sales(catalogue: Catalogue) -> None:
    """What is sold somewhere stands there and has a price there; a region's number is its own."""
    numbers: set[int] = set()
    for region in catalogue.regions:
        if region.number in numbers:
            raise CatalogueError("regions", region.slug, "number: another region has it")
        numbers.add(region.number)
    priced = {(price.sku, price.region) for price in catalogue.prices}
    sold = {region.slug: region.machine_types for region in catalogue.regions}
    for flavor in catalogue.flavors:
        for slug in flavor.regions:
            if flavor.machine_type not in sold[slug]:
                raise CatalogueError("flavors", flavor.name, f"regions: {slug} does not sell its machine type")
            if (flavor.sku, slug) not in priced:
                raise CatalogueError("flavors", flavor.name, f"regions: it has no price in {slug}")


def _check(file: str, rows: Iterable[Model], field: str, known: Collection[str | None]) -> None:
    for row in rows:
        value = getattr(row, field)
        for name in (value,) if isinstance(value, str) else value:
            if name not in known:
                label = " ".join(str(getattr(row, key)) for key in row.KEY)
                raise CatalogueError(file, label, f"{field}: there is no {name}")
