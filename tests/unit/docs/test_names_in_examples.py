"""Hardware, flavors and images that pages, help and the API name as examples are those of `ipucloud up`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ipucloud.catalogue.load import load
from ipucloud.laboratory.simulator.hardware import build_regions
from ipucloud.laboratory.simulator.settings import Settings
from ipucloud.laboratory.up.programs import MACHINES

PROJECT = Path(__file__).parents[3]
HARDWARE = re.compile(r"\b(?:lux?\d|ams\d|lab\d)-[a-z]*\d[\w-]*")
FLAVOR = re.compile(r"\b(?:m2000|bow)-pod\d+\b")
IMAGE = re.compile(r"\bubuntu-[\d.]+-x64-poplar-[\d.-]+\d")
NOT_THERE = {"lux2-x001", "m2000-pod5"}
"""A machine that is to be added, and the flavor of a request that is refused."""


def texts() -> Iterator[tuple[str, str]]:
    pages = [PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")]
    packages = (PROJECT / "src" / "ipucloud" / name for name in ("api", "cli", "client", "contract"))
    for file in (*pages, *(file for package in packages for file in package.rglob("*.py"))):
        yield str(file.relative_to(PROJECT)), file.read_text()


def hardware() -> set[str]:
    """The names of machines, hosts, pods and GW-Link groups."""
    names = set[str]()
    for region in build_regions(Settings(data=Path(), token="", machines=MACHINES)).values():
        names |= {*region.machines, *region.host_names}
        names |= {name for pod in region.pods for name in (pod.name, pod.gw_group)}
    return names


def test_what_an_example_names_exists() -> None:
    catalogue = load()
    known = {
        HARDWARE: hardware(),
        FLAVOR: {each.name for each in catalogue.flavors},
        IMAGE: {each.name for each in catalogue.images},
    }
    for pattern, names in known.items():
        named = {(name, place) for place, text in texts() for name in pattern.findall(text)}
        assert named, "examples name some"
        assert sorted(f"{place}: {name}" for name, place in named if name not in names | NOT_THERE) == []
