"""What `pip install` makes of the sources: with the panel where it can be built, otherwise with the reason."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.machine import Need, needs

ROOT = Path(__file__).parents[2]
STATIC = Path("src", "ipucloud", "panel", "static")
PAGE, REASON = "ipucloud/panel/static/index.html", "ipucloud/panel/static/why.txt"
NOWHERE = "http://127.0.0.1:9/"
"""A registry that does not answer: nothing listens at the port of `discard`."""


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """A copy of what a package is built from, without a built panel."""
    copy = tmp_path / "sources"
    left_out = shutil.ignore_patterns("__pycache__", "static", "node_modules")
    for name in ("src", "alembic", "panel"):
        shutil.copytree(ROOT / name, copy / name, ignore=left_out)
    for name in ("pyproject.toml", "README.md", "LICENSE", "docs/errors.md"):
        (copy / name).parent.mkdir(exist_ok=True)
        shutil.copy2(ROOT / name, copy / name)
    return copy


def build(sources: Path, mode: str) -> subprocess.CompletedProcess[str]:
    """Build a wheel where Node is found, and no npm registry."""
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(sources.parent),
        "PYTHONPATH": str(ROOT / ".tools" / "node"),
        "IPUCLOUD_PANEL": mode,
        "npm_config_registry": NOWHERE,
        "npm_config_cache": str(sources.parent / "npm"),
    }
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(sources.parent / "dist")]
    return subprocess.run(
        command,
        cwd=sources,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )


def packed(sources: Path) -> ZipFile:
    [wheel] = (sources.parent / "dist").glob("*.whl")
    return ZipFile(wheel)


def test_a_package_without_a_registry_has_no_panel_and_says_why(sources: Path) -> None:
    done = build(sources, "auto")
    assert done.returncode == 0, done.stdout
    assert "Installing without the control panel: " in done.stdout
    with packed(sources) as wheel:
        names = set(wheel.namelist())
        assert PAGE not in names
        assert "ipucloud/api/app.py" in names
        assert "ipucloud/db/migrations/versions/0001_baseline/01_foundation.sql" in names
        reason = wheel.read(REASON).decode().strip()
    assert reason
    assert reason in done.stdout
    assert not (sources / STATIC).exists(), "the sources may be read-only"


def test_a_release_is_not_built_without_its_panel(sources: Path) -> None:
    done = build(sources, "require")
    assert done.returncode != 0
    assert "The control panel could not be built: " in done.stdout
    assert not (sources.parent / "dist").exists() or not list((sources.parent / "dist").iterdir())


@needs(Need.PANEL)
def test_a_package_has_the_panel_that_was_built_from_its_sources(sources: Path) -> None:
    shutil.copytree(ROOT / STATIC, sources / STATIC)
    done = build(sources, "require")
    assert done.returncode == 0, done.stdout
    with packed(sources) as wheel:
        assert wheel.read(PAGE) == (ROOT / STATIC / "index.html").read_bytes()
        assert REASON not in wheel.namelist()


def test_an_unknown_mode_is_refused(sources: Path) -> None:
    done = build(sources, "perhaps")
    assert done.returncode != 0
    assert "IPUCLOUD_PANEL is auto, require or skip, not 'perhaps'." in done.stdout
