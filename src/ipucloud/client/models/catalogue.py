"""Regions, flavors, images, prices: what can be had, where, for how much."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from ipucloud.client.models.base import Answer, Money


class Region(Answer):
    """A place with hardware; `machine_types` are those sold there."""

    slug: str
    name: str
    number: int
    machine_types: Sequence[str] = ()


class WhyNot(Answer):
    """Why there is no room now, or not enough quota."""

    reason: str
    detail: str


class Capacity(Answer):
    """How many clusters of a flavor could be created in a region now, and if none, why not."""

    flavor: str
    machine_type: str
    machines: int
    ipus: int
    available: int
    why_not: WhyNot | None = None


class Flavor(Answer):
    """A size of cluster: `machines` IPU machines with `ipus` IPUs, driven by `poplar_servers` servers."""

    name: str
    regions: Sequence[str] = ()
    machine_type: str
    ipus: int
    machines: int
    poplar_servers: int
    price_per_minute: Money | None = None
    price_per_hour: Money | None = None


class Image(Answer):
    """A Poplar image that a cluster's servers start from."""

    name: str
    os: str = ""
    os_version: str = ""
    vipu_version: str = ""
    sdk_version: str = ""
    regions: Sequence[str] = ()

    @property
    def age(self) -> list[int]:
        """Orders images: the larger the newer, by Poplar SDK, V-IPU, then operating system."""
        return [int(n) for n in re.findall(r"\d+", f"{self.sdk_version}-{self.vipu_version}-{self.os_version}")]


class Price(Answer):
    """Price of a SKU in a region per unit, in [valid_from, valid_to); None: until changed."""

    sku: str
    region: str
    unit: str = "machine-minute"
    unit_price: Money
    valid_from: datetime
    valid_to: datetime | None = None
