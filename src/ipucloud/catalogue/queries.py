"""Lookups in the catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ipucloud.contract.catalogue import (
    Article,
    Flavor,
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

MACHINE_MINUTE = "machine-minute"
VOLUME_SKU = "volume-gib"
"""SKU of volumes, by the GiB-minute. Without a price in a region they are not offered there."""
SNAPSHOT_SKU = "snapshot-gib"
"""SKU of snapshots of volumes, by the GiB-minute. Without a price in a region they are not offered there."""
ADDRESS_SKU = "address"
"""SKU of addresses, by the address-minute. Without a price in a region they are not offered there."""
STORAGE_SKUS = frozenset({VOLUME_SKU, SNAPSHOT_SKU})
"""What is billed by the GiB."""


@dataclass(frozen=True)
class Catalogue:
    """All rows, in the order of their files, and lookups; `find_…` returns None for what does not exist.

    Catalogues with the same `digest` have the same files.
    """

    digest: str
    sources: tuple[Source, ...]
    ipus: tuple[IpuGeneration, ...]
    machine_types: tuple[MachineType, ...]
    pods: tuple[Pod, ...]
    regions: tuple[Region, ...]
    flavors: tuple[Flavor, ...]
    images: tuple[Image, ...]
    tools: tuple[Tool, ...]
    recipes: tuple[Recipe, ...]
    articles: tuple[Article, ...]
    prices: tuple[ListPrice, ...]

    def find_ipu(self, ipu_id: str) -> IpuGeneration | None:
        return next((ipu for ipu in self.ipus if ipu.id == ipu_id), None)

    def find_machine_type(self, machine_type_id: str) -> MachineType | None:
        return next((machine for machine in self.machine_types if machine.id == machine_type_id), None)

    def find_region(self, ref: str) -> Region | None:
        """By slug, or by number written in digits."""
        return next((region for region in self.regions if ref in {region.slug, str(region.number)}), None)

    def find_flavor(self, name: str) -> Flavor | None:
        return self._flavors.get(name)

    def find_image(self, name: str) -> Image | None:
        return self._images.get(name)

    def find_tool(self, tool_id: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.id == tool_id), None)

    def find_recipe(self, recipe_id: str) -> Recipe | None:
        return next((recipe for recipe in self.recipes if recipe.id == recipe_id), None)

    def unit_of(self, sku: str) -> str:
        """The unit of a SKU's price: `GiB-minute`; `machine-minute` for SKUs that are not listed as articles."""
        return next((article.unit for article in self.articles if article.id == sku), MACHINE_MINUTE)

    @property
    def region_names(self) -> dict[str, str]:
        """Region names, by slug."""
        return {region.slug: region.name for region in self.regions}

    def flavors_in(self, region: str) -> tuple[Flavor, ...]:
        """The flavors sold in the region with that slug."""
        return tuple(flavor for flavor in self.flavors if region in flavor.regions)

    def images_in(self, region: str) -> tuple[Image, ...]:
        """The images offered in the region with that slug."""
        return tuple(image for image in self.images if region in image.regions)

    @cached_property
    def _flavors(self) -> dict[str, Flavor]:
        return {flavor.name: flavor for flavor in self.flavors}

    @cached_property
    def _images(self) -> dict[str, Image]:
        return {image.name: image for image in self.images}
