"""The licences of what the product is made of: each is allowed, or has a reason."""

from __future__ import annotations

import json
import re
import runpy
from email.message import Message
from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path
from typing import Any, cast

import pytest

PROJECT = Path(__file__).parents[2]
SBOM = runpy.run_path(str(PROJECT / "deploy" / "supply" / "sbom.py"))
POLICY = SBOM["Policy"].read()


def component(name: str, *licences: str, version: str = "1") -> dict[str, Any]:
    return {"name": name, "version": version, "licenses": [{"license": {"name": each}} for each in licences]}


def installed() -> list[dict[str, Any]]:
    """The packages of requirements/runtime.txt that this system has, as a bill of materials says them."""
    components = []
    for name in re.findall(r"^([a-z0-9._-]+)==", (PROJECT / "requirements" / "runtime.txt").read_text(), re.MULTILINE):
        try:
            known = cast("Message", metadata(name))
        except PackageNotFoundError:  # for other systems
            continue
        classifiers = [each for each in known.get_all("Classifier") or () if each.startswith("License :: ")]
        expression = known.get("License-Expression") or (known.get("License") or "").partition("\n")[0]
        components.append(component(name, *filter(None, [expression]), *classifiers))
    return components


def test_every_package_of_the_service_has_a_licence_that_is_allowed() -> None:
    packages = installed()
    assert len(packages) > 50
    assert SBOM["refused"]({"components": packages}, POLICY) == []


def test_every_package_of_the_panel_has_a_licence_that_is_allowed() -> None:
    lock = json.loads((PROJECT / "panel" / "package-lock.json").read_text())["packages"]
    packages = [
        component(path.rpartition("node_modules/")[2], *filter(None, [package.get("license")]))
        for path, package in lock.items()
        if path and not package.get("dev") and not package.get("optional")
    ]
    assert packages
    assert SBOM["refused"]({"components": packages}, POLICY) == []


def test_every_exception_is_about_a_package_in_use() -> None:
    assert POLICY.exceptions.keys() <= {each["name"] for each in installed()}


@pytest.mark.parametrize(
    ("licences", "accepted"),
    [
        (["MIT"], True),
        (["GPL-3.0-only"], False),
        ([], False),
        (["GPL-3.0-only OR MIT"], True),
        (["MIT AND PSF-2.0"], True),
        (["MIT AND GPL-3.0-only"], False),
        (["MPL-2.0 AND (Apache-2.0 OR MIT)"], True),
        (["License :: OSI Approved :: BSD License"], True),
        (["Proprietary"], False),
    ],
)
def test_which_licences_are_allowed(licences: list[str], accepted: bool) -> None:
    assert POLICY.accepts("something", licences) is accepted


def test_what_is_refused_is_named() -> None:
    bill = {"components": [component("evil", "SSPL-1.0", version="6.6"), component("nameless")]}
    assert SBOM["refused"](bill, POLICY) == ["evil 6.6: SSPL-1.0", "nameless 1: no licence told"]
