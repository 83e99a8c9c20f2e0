"""The panel's own unit tests (vitest) and types, run by Node as its developers run them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable

from ipucloud.invariants.states import KINDS, STEPS
from tests.panel.conftest import ROOT
from tests.support.machine import TOOLS, Need, needs

MODULES = TOOLS / "node_modules"
pytestmark = needs(Need.NPM)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sources with the packages beside them, in a directory of the test's own."""
    folder = tmp_path_factory.mktemp("checkout")
    (folder / "docs").symlink_to(ROOT / "docs")
    panel = folder / "panel"
    shutil.copytree(ROOT / "panel", panel, ignore=shutil.ignore_patterns("node_modules"))
    (panel / "node_modules").symlink_to(MODULES)
    return panel


def run_node(checkout: Path, script: str, *arguments: str) -> None:
    node, _ = compute_driver_executable()
    command = [node, script, *arguments]
    done = subprocess.run(command, cwd=checkout, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_its_types_are_right(checkout: Path) -> None:
    run_node(checkout, "config/schema.mjs")
    run_node(checkout, "node_modules/typescript/bin/tsc", "--noEmit")


def test_its_own_tests_pass(checkout: Path) -> None:
    run_node(checkout, "node_modules/vitest/vitest.mjs", "run")


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_operation_stage_and_step_has_a_name_for_people(language: str) -> None:
    texts = (ROOT / "panel" / "src" / "i18n" / language / "cluster.ts").read_text()
    kinds = [kind for name, kind in KINDS.items() if name.startswith(("cluster.", "partition."))]
    names = {f'"{kind.name}"' for kind in kinds} | {
        step.stage.name for kind in kinds for step in (*kind.preceding, *kind.steps)
    }
    names |= {step for kind in kinds for step in STEPS[kind.name]}
    assert {name for name in names if f"{name}: " not in texts} == set()
