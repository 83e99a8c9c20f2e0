"""openstack-placement, the peer closest in kind: an inventory service with a database behind an HTTP API.

It is served by the same HTTP server with the same options, keeps its tables on the same PostgreSQL server, and is
asked without authentication.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench.servers import Server, serving
from tests.support.postgres import Database as Scratch

VERSION = "1.39"
"""The microversion asked for."""
HEADERS = {
    "X-Auth-Token": "admin",
    "OpenStack-API-Version": f"placement {VERSION}",
    "Accept": "application/json",
}

_HERE = Path(__file__).parent
_ROOT = _HERE.parents[1]
_REQUIREMENTS = _ROOT / "bench" / "requirements-placement.txt"
_HOME = _ROOT / ".tools" / "placement"
_STAMP = _HOME / "requirements.txt"
_CONFIGURATION = """\
[DEFAULT]
default_log_levels = placement=WARNING
[api]
auth_strategy = noauth2
[placement_database]
connection = {url}
"""


def installed() -> bool:
    """Whether the environment is there, with the versions asked for."""
    return _STAMP.exists() and _STAMP.read_bytes() == _REQUIREMENTS.read_bytes()


def install() -> None:
    """Make the environment from the hashed requirements. Raises subprocess.CalledProcessError."""
    shutil.rmtree(_HOME, ignore_errors=True)
    uv = shutil.which("uv") or shutil.which("uv", path=_ROOT / ".tools" / "bin")
    if uv:
        _run(uv, "venv", "--quiet", "--python", sys.executable, str(_HOME))
        installer = [uv, "pip", "install", "--quiet", "--python", _program("python"), "--no-build"]
    else:
        _run(sys.executable, "-m", "venv", str(_HOME))
        installer = [_program("python"), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    _run(*installer, "--require-hashes", "--requirement", str(_REQUIREMENTS))
    shutil.copyfile(_REQUIREMENTS, _STAMP)


@contextmanager
def serving_placement(folder: Path, urls: Scratch) -> Iterator[Server]:
    """Placement over an empty database."""
    home = folder / "placement"
    home.mkdir()
    configuration = home / "placement.conf"
    configuration.write_text(_CONFIGURATION.format(url=urls.owner_url.replace("postgresql:", "postgresql+psycopg2:")))
    environment = {"OS_PLACEMENT_CONFIG_DIR": str(home), "PYTHONPATH": str(_HERE / "openstack")}
    _run(_program("placement-manage"), "--config-file", str(configuration), "db", "sync")
    with serving("placement_app:app", folder, environment, python=_program("python")) as server:
        yield server


def _program(name: str) -> str:
    return str(_HOME / "bin" / name)


def _run(*command: str) -> None:
    subprocess.run(command, check=True, env=os.environ | {"PYTHONWARNINGS": "ignore"}, stdout=sys.stderr)
