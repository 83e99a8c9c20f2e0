"""The wheel as a customer gets it: client and commands work with the packages of requirements/client.txt alone."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from email import message_from_string
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

PROJECT = Path(__file__).parents[2]
PROGRAM = """
import importlib, json, pkgutil, sys

site, missing, commands = json.load(sys.stdin)

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in missing:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
sys.path.insert(0, site)
import ipucloud.cli.commands, ipucloud.client
from ipucloud.cli.main import cli

for package in (ipucloud.client, ipucloud.cli.commands):
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)
for command in commands:
    try:
        cli(command, prog_name="ipucloud")
    except SystemExit as ended:
        print(json.dumps([ipucloud.__file__, ended.code]), flush=True)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=PROJECT, check=True, capture_output=True, timeout=300)
    [built] = folder.glob("ipucloud-*.whl")
    zipfile.ZipFile(built).extractall(folder / "site")
    return folder / "site"


def modules_beyond(requirements: str) -> list[str]:
    """The modules installed here that an installation of the requirement file would not have."""
    pinned = set(re.findall(r"^([a-z0-9._-]+)==", (PROJECT / "requirements" / requirements).read_text(), re.MULTILINE))
    own = pinned | {"ipucloud"}
    distributions = packages_distributions().items()
    return [
        module for module, names in distributions if not own & {re.sub(r"[-_.]+", "-", name).lower() for name in names}
    ]


def run(wheel: Path, *commands: list[str], **environment: str) -> tuple[list[Any], str]:
    """Import all of the client in another process, then run the commands; what each ended with, and all messages."""
    arguments = json.dumps([str(wheel), modules_beyond("client.txt"), commands])
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=arguments, capture_output=True, text=True, check=False, timeout=300,
        env={"PATH": "/usr/bin:/bin", **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    ended = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert all(file.startswith(str(wheel)) for file, _ in ended)
    return [status for _, status in ended], done.stderr


def test_a_customer_needs_the_packages_of_the_client_alone(wheel: Path, tmp_path: Path) -> None:
    needing = {"up": "laboratory", "demo": "laboratory", "api": "service", "admin audit": "service"}
    needing |= {"vipu": "vipu", "mcp": "mcp"}
    commands = [["--help"], ["flavors", "list"], ["doctor", "--help"], *(name.split() for name in needing)]
    statuses, err = run(wheel, *commands, IPUCLOUD_CONFIG_DIR=str(tmp_path))
    assert statuses == [0, 2, 0] + [2] * len(needing)
    assert "No URL of a service is configured." in err
    for name, extra in needing.items():
        assert f"`ipucloud {name}` needs more packages. In a checkout of ipucloud: pip install '.[{extra}]'" in err


def test_the_wheel_asks_for_the_extras_only_where_they_are_wanted(wheel: Path) -> None:
    [metadata] = wheel.glob("ipucloud-*.dist-info/METADATA")
    described = message_from_string(metadata.read_text())
    always = [each for each in described.get_all("Requires-Dist", []) if "extra ==" not in each]
    assert sorted(re.split(r"[<>=]", each)[0] for each in always) == [
        "httpx", "platformdirs", "pydantic", "rich", "typer"
    ]  # fmt: skip
    assert {"vipu", "mcp", "service", "laboratory"} <= set(described.get_all("Provides-Extra", []))


def test_the_image_is_built_from_all_that_the_wheel_includes() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    copied = set(re.findall(r"^COPY (\S+) (?:\S+)$", (PROJECT / "Dockerfile").read_text(), re.MULTILINE))
    permitted = {line[1:] for line in (PROJECT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(included) <= copied & permitted
