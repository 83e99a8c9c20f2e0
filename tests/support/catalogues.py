"""Catalogues of an operator's own: the shipped one, and a region or an image more."""

from __future__ import annotations

import dataclasses
import shutil
from importlib.resources import as_file
from pathlib import Path

from ipucloud.catalogue.load import SHIPPED
from ipucloud.catalogue.queries import Catalogue
from ipucloud.contract.estimates import BillingRule, BillingStart

REGION, MACHINE_TYPE, FLAVOR, SKU = "frankfurt-1", "rack-4", "rack-pod8", "ipu-rack-4"
"""What `with_frankfurt` adds."""

PRICE_PER_MINUTE = "0.11"

_ROWS = {
    "regions": f"""
slug = "{REGION}"
name = "Frankfurt-1"
number = 10
country = "DE"
machine_types = ["{MACHINE_TYPE}"]
billing = {{ starts = "requested" }}
""",
    "machine_types": f"""
id = "{MACHINE_TYPE}"
name = "Rack-4"
sku = "{SKU}"
ipu = "bow"
ipus = 4
cores = 5888
threads = 35328
ai_pflops = 1.4
in_processor_memory_gb = 3.6
fabric = "2.8 Tb/s IPU-Fabric"
allocated_through = "v-ipu"
""",
    "flavors": f"""
name = "{FLAVOR}"
machine_type = "{MACHINE_TYPE}"
pod = "pod8"
poplar_servers = 1
regions = ["{REGION}"]
""",
    "prices": f"""
sku = "{SKU}"
region = "{REGION}"
currency = "EUR"
unit_price = "{PRICE_PER_MINUTE}"
valid_from = 2020-01-01T00:00:00Z
synthetic = false
""",
}


OTHER_IMAGE = "ubuntu-18.04-x64-poplar-1.18.0-3.0.0"
"""An image that is not shipped for most regions."""


def billed_from_the_request(catalogue: Catalogue) -> Catalogue:
    """The catalogue with regions that bill new clusters from when they get their machines."""
    rule = BillingRule(starts=BillingStart.REQUESTED)
    regions = tuple(region.model_copy(update={"billing": rule}) for region in catalogue.regions)
    return dataclasses.replace(catalogue, regions=regions)


def with_other_image(catalogue: Catalogue, region: str) -> Catalogue:
    """The catalogue with `OTHER_IMAGE` in that region, too."""
    images = (
        image.model_copy(update={"regions": (*image.regions, region)}) if image.name == OTHER_IMAGE else image
        for image in catalogue.images
    )
    return dataclasses.replace(catalogue, images=tuple(images))


def export(folder: Path) -> Path:
    """The shipped files in a new folder."""
    with as_file(SHIPPED) as shipped:
        shutil.copytree(shipped, folder)
    return folder


def with_frankfurt(folder: Path) -> Path:
    """The shipped files in a new folder, with a region, its machine type, a flavor and a price more."""
    export(folder)
    for name, row in _ROWS.items():
        with (folder / f"{name}.toml").open("a", encoding="utf-8") as file:
            file.write(f'\n[[rows]]{row}source = "synthetic"\n')
    _swap(folder / "images.toml", '"lab-1"]', f'"lab-1", "{REGION}"]')
    _swap(folder / "pods.toml", "{ m2000 = 2, bow-2000 = 2.8 }", f"{{ m2000 = 2, bow-2000 = 2.8, {MACHINE_TYPE} = 3 }}")
    return folder


def _swap(path: Path, old: str, new: str) -> None:
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
