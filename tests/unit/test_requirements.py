"""The committed requirement files: everything pinned and hashed, nothing about where it was fetched."""

import re
import tomllib
from pathlib import Path

import pytest

from ipucloud.parts import PARTS

PROJECT = Path(__file__).parents[2]
FILES = ("client", "service", "parts", "runtime", "dev", "build", "uv", "focus", "supply")


def text(name: str) -> str:
    return (PROJECT / "requirements" / f"{name}.txt").read_text()


def pins(name: str) -> dict[str, str]:
    """The pinned version of each package of a file."""
    return dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==(\S+)", text(name), re.MULTILINE))


def direct(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=~; ]", requirement)[0].lower() for requirement in requirements}


@pytest.mark.parametrize("name", FILES)
def test_every_requirement_is_pinned_and_hashed_and_no_registry_named(name: str) -> None:
    assert not re.search(r"://|--(extra-)?index|--find-links", text(name))
    entries = re.split(r"\n(?=[a-z0-9])", re.sub(r"^\s*#.*\n?", "", text(name), flags=re.MULTILINE).strip())
    assert entries
    for entry in entries:
        assert re.match(r"[a-z0-9][a-z0-9._-]*==[\w.!+]+( ; [^\\]+)? \\\n", entry), entry
        assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), entry


def test_the_files_hold_what_the_project_asks_for() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]
    client = direct(project["dependencies"])
    extras = {
        name: direct(requirements) - {"ipucloud"} for name, requirements in project["optional-dependencies"].items()
    }
    dev = extras.pop("dev")
    assert client <= pins("client").keys()
    service = client | extras["service"] | extras["vipu"]
    parts = set().union(*(extras[part.extra] for part in PARTS))
    assert service <= pins("service").keys()
    assert len(service - client) <= 32
    assert not pins("service").keys() & parts
    assert service | parts <= pins("parts").keys()
    assert extras["parts"] == set()
    assert not pins("service").keys() & extras["laboratory"]
    runtime = client.union(*extras.values())
    assert runtime <= pins("runtime").keys()
    assert runtime | dev <= pins("dev").keys()
    assert {"hatchling", "editables"} <= pins("build").keys()


def test_the_files_agree_with_each_other() -> None:
    assert (
        pins("client").items()
        <= pins("service").items()
        <= pins("parts").items()
        <= pins("runtime").items()
        <= pins("dev").items()
    )
    for package, version in pins("build").items():
        assert pins("dev").get(package, version) == version
