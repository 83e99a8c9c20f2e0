"""The directions of imports: the tree keeps every contract, and each contract notices when it is broken."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).parents[2]
SOURCE = CHECKOUT / "src" / "ipucloud"
SETTINGS = CHECKOUT / "pyproject.toml"
LINTER = "from importlinter.cli import lint_imports_command; lint_imports_command()"
CONTRACTS: list[dict[str, Any]] = tomllib.loads(SETTINGS.read_text())["tool"]["importlinter"]["contracts"]
BY_ID = {contract["id"]: contract for contract in CONTRACTS}


@dataclass(frozen=True)
class Breach:
    """One import that `contract` forbids, in `module` (a file below the package, made when it is not there)."""

    contract: str
    module: str
    statement: str


BREACHES = (
    Breach("layers", "db/base.py", "import ipucloud.events.log"),
    Breach("layers", "quotas/store.py", "import ipucloud.billing.metering.tables"),
    Breach("layers", "reconcile/wake.py", "import ipucloud.events.log"),
    Breach("layers", "worker/tasks.py", "import ipucloud.api.idempotency"),
    Breach("layers", "clusters/clean_up.py", "import ipucloud.invariants.rules"),
    Breach("layers", "new_package/__init__.py", ""),
    Breach("layers", "contract/clusters.py", "import ipucloud.catalogue.current"),
    Breach("http-only", "client/transport.py", "import sqlalchemy"),
    Breach("http-only", "cli/commands/clusters.py", "import ipucloud.db.engine"),
    Breach("http-only", "cli/output.py", "import ipucloud.kernel.money"),
    Breach("api-no-site", "api/new.py", "import ipucloud.site.connect"),
    Breach("api-no-site", "clusters/update.py", "import ipucloud.site.connect"),
    Breach("light-workers", "billing/exports/requests.py", "import pyarrow"),
    Breach("no-web-below", "quotas/store.py", "import fastapi"),
    Breach("no-web-below", "worker/tasks.py", "from fastapi import FastAPI"),
    Breach("billing-rooms", "billing/pricing/usage.py", "import ipucloud.billing.ledger.close"),
    Breach("billing-rooms", "billing/new.py", ""),
    Breach("pure", "billing/invoices/arithmetic.py", "import sqlalchemy"),
    Breach("pure", "clusters/states.py", "import httpx"),
    Breach("pure", "contract/webhooks.py", "import httpx"),
    Breach("pure", "inventory/allocator.py", "import ipucloud.db.engine"),
    Breach("simulator-alone", "laboratory/simulator/hardware.py", "import ipucloud.kernel.ids"),
    Breach("simulator-alone", "laboratory/simulator/store.py", "import ipucloud.laboratory.keeper.keeper"),
    Breach("laboratory-unknown", "worker/tasks.py", "import ipucloud.laboratory.simulator.settings"),
    Breach("laboratory-unknown", "cli/service/admin.py", "import ipucloud.laboratory.up.ports"),
    Breach("wire-bottom", "wire/new.py", "import ipucloud.config"),
    Breach("process-bottom", "process/new.py", "import ipucloud.wire.site"),
    Breach("vipu-cli-alone", "vipu_cli/new.py", "import ipucloud.kernel.ids"),
)


class Copy:
    """A copy of the sources that a test may break, and the verdict of import-linter on it."""

    def __init__(self, root: Path) -> None:
        self._root = root
        ignore = shutil.ignore_patterns("__pycache__")
        self._package = Path(shutil.copytree(SOURCE, root / "src" / "ipucloud", ignore=ignore))

    @contextmanager
    def with_line(self, module: str, statement: str) -> Iterator[None]:
        path = self._package / module
        before = path.read_text() if path.exists() else None
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"{before or ''}\n{statement}\n")
        try:
            yield
        finally:
            if before is not None:
                path.write_text(before)
            else:
                path.unlink()
                if not any(path.parent.iterdir()):
                    path.parent.rmdir()

    def broken(self) -> set[str]:
        """The ids of the contracts that the copy breaks."""
        command = [sys.executable, "-c", LINTER, "--config", str(SETTINGS), "--no-cache"]
        environment = {**os.environ, "PYTHONPATH": str(self._root / "src"), "COLUMNS": "500"}
        answer = subprocess.run(
            command, cwd=self._root, env=environment, capture_output=True, text=True, check=False, timeout=60
        )
        verdicts = dict(re.findall(r"^(.+) (KEPT|BROKEN)$", answer.stdout, re.MULTILINE))
        assert verdicts.keys() == {contract["name"] for contract in CONTRACTS}, answer.stdout + answer.stderr
        found = {contract["id"] for contract in CONTRACTS if verdicts[contract["name"]] == "BROKEN"}
        assert answer.returncode == (1 if found else 0)
        return found


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Copy:
    return Copy(tmp_path_factory.mktemp("imports"))


def test_the_tree_keeps_every_contract(copy: Copy) -> None:
    assert copy.broken() == set()


@pytest.mark.parametrize("breach", BREACHES, ids=lambda breach: f"{breach.contract}-{breach.module}")
def test_a_forbidden_import_breaks_its_contract_and_no_other(copy: Copy, breach: Breach) -> None:
    with copy.with_line(breach.module, breach.statement):
        assert copy.broken() == {breach.contract}


def test_every_contract_is_broken_on_purpose_here() -> None:
    assert {breach.contract for breach in BREACHES} == BY_ID.keys()


def parts(package: Path) -> set[str]:
    """What a package is made of, as dotted names."""
    children = {path.stem for path in package.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    dotted = ".".join(("ipucloud", *package.relative_to(SOURCE).parts))
    return {f"{dotted}.{name}" for name in children - {"__init__"}}


@pytest.mark.parametrize(
    ("contract", "listed", "left_out"),
    [
        # What a new part may do is decided when it is made, not when somebody remembers the lists.
        ("http-only", "forbidden_modules", {"ipucloud.cli", "ipucloud.client"}),
        ("laboratory-unknown", "source_modules", {"ipucloud.laboratory"}),
        ("wire-bottom", "forbidden_modules", {"ipucloud.wire"}),
        ("process-bottom", "forbidden_modules", {"ipucloud.process"}),
        ("vipu-cli-alone", "forbidden_modules", {"ipucloud.vipu_cli", "ipucloud.wire"}),
        (
            "no-web-below",
            "source_modules",
            # The settings of migrations know the API's table; the others are no features.
            {f"ipucloud.{name}" for name in ("api", "schema", "cli", "client", "laboratory", "vipu_cli", "wire")},
        ),
    ],
)
def test_a_contract_names_every_part_of_the_product(contract: str, listed: str, left_out: set[str]) -> None:
    named = {name for name in BY_ID[contract][listed] if name.startswith("ipucloud.")}
    assert named == parts(SOURCE) - left_out


def test_the_simulator_shares_nothing_with_any_part_but_what_a_real_site_would() -> None:
    named = {name for name in BY_ID["simulator-alone"]["forbidden_modules"] if name.startswith("ipucloud.")}
    shared = {f"ipucloud.{name}" for name in ("vipu_cli", "wire", "process")}
    product = parts(SOURCE) - shared - {"ipucloud.laboratory"}
    assert named == product | (parts(SOURCE / "laboratory") - {"ipucloud.laboratory.simulator"})


def test_every_part_of_the_command_line_but_the_service_and_vipu_commands_speaks_http_only() -> None:
    named = {name for name in BY_ID["http-only"]["source_modules"] if name.startswith("ipucloud.cli.")}
    assert named == parts(SOURCE / "cli") - {"ipucloud.cli.service", "ipucloud.cli.vipu"}
