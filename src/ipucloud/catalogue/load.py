"""A catalogue from its data files, as a whole or not at all."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from os.path import realpath
from pathlib import Path

from ipucloud.catalogue.checks import CatalogueError, Fault, contradictions
from ipucloud.catalogue.files import DataFiles
from ipucloud.catalogue.flavors import complete
from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.catalogue import (
    Article,
    FlavorRow,
    Image,
    IpuGeneration,
    ListPrice,
    MachineType,
    Pod,
    Region,
    Source,
    Tool,
)
from ipucloud.contract.recipes import Recipe

SHIPPED = files("ipucloud.catalogue") / "data"
"""The data files shipped with the product."""


def load(directory: Path | None = None) -> Catalogue:
    """The catalogue in the directory; the shipped one if None. Raises `CatalogueError`."""
    if directory is None:
        return _shipped()
    # A symbolic link is followed once, so that all files come from one directory while the link is switched.
    return read(Path(realpath(directory)), str(directory))


@cache
def _shipped() -> Catalogue:
    return read(SHIPPED, "the package")


def read(directory: Traversable, origin: str) -> Catalogue:
    """The catalogue in a directory that messages call `origin`.

    Raises `CatalogueError` with every fault of the files; if there are none, every fault of the flavors; if there are
    none, every inconsistency between the rows.
    """
    data = DataFiles(directory)
    sources = {source.id: source for source in data.rows("sources", Source)}
    machine_types = data.rows("machine_types", MachineType, sources)
    pods = data.rows("pods", Pod, sources)
    flavor_rows = data.rows("flavors", FlavorRow, sources)
    flavors, faults = complete(flavor_rows, machine_types, pods)
    catalogue = Catalogue(
        digest=data.digest,
        sources=tuple(sources.values()),
        ipus=data.rows("ipus", IpuGeneration, sources),
        machine_types=machine_types,
        pods=pods,
        regions=data.rows("regions", Region, sources),
        flavors=flavors,
        images=data.rows("images", Image, sources),
        tools=data.rows("tools", Tool, sources),
        recipes=data.rows("recipes", Recipe, sources),
        articles=data.rows("articles", Article, sources),
        prices=data.rows("prices", ListPrice, sources),
    )
    _refuse(origin, data.faults)
    _refuse(origin, faults)
    _refuse(origin, contradictions(catalogue))
    return catalogue


def _refuse(origin: str, faults: list[Fault]) -> None:
    if faults:
        raise CatalogueError(origin, faults)
